"""The keys of what a step may do besides `run`: template, consensus, rag, embeddings."""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Type, shape
from loop_ls.formats.workflow import key_advice

TEMPLATE = shape(
    "template",
    "a template",
    "Calls another workflow once. The called workflow uses its own `execution`; nothing is inherited.",
    Key(
        "name",
        Type.TEXT,
        "The workflow to call: its name, with its folder as a prefix if it is in one. Never a file name.",
        required=True,
        offers="workflows",
        reference="mcp-cli looks in the root folder first; loop-ls looks in the caller's folder first.",
    ),
    Key(
        "with",
        Type.ARGUMENTS,
        "Arguments: each key becomes a variable in the called workflow.",
        interpolated=True,
        offers="parameters",
        reference="mcp-cli passes only `input` and silently drops all other keys.",
    ),
    wrong=key_advice.TEMPLATE,
    closed=True,
)

CONSENSUS_EXECUTION = shape(
    "consensus execution",
    "an entry of `executions`",
    "One model to ask. It has one vote; there is no failover.",
    Key("provider", Type.TEXT, "Provider to use.", required=True, offers="providers"),
    Key("model", Type.TEXT, "Model to use.", required=True, offers="models"),
    Key(
        "temperature",
        Type.NUMBER,
        "Sampling temperature: 0 is the most consistent, 2 the most varied.",
        default="0.7",
        minimum=0,
        maximum=2,
        inherits=("step", "execution"),
        reference="mcp-cli reads this but never sends it.",
    ),
    Key(
        "max_tokens",
        Type.INTEGER,
        "Maximum length of this model's answer, in tokens.",
        minimum=1,
        inherits=("step", "execution"),
        reference="mcp-cli reads this but never sends it.",
    ),
    Key(
        "timeout",
        Type.DURATION,
        "Timeout of this model. After that it counts as failed and has no vote.",
        positive=True,
        inherits=("consensus", "step", "execution"),
        reference="mcp-cli does not enforce it.",
    ),
    wrong=key_advice.CONSENSUS_EXECUTION,
    closed=True,
)

CONSENSUS = shape(
    "consensus",
    "a consensus",
    "Asks several models the same question at once and compares their whole answers, ignoring spaces and case.",
    Key("prompt", Type.TEXT, "Prompt for all models.", required=True, interpolated=True),
    Key(
        "executions",
        Type.BLOCKS,
        "Models to ask, at least two.",
        required=True,
        shape=CONSENSUS_EXECUTION,
    ),
    Key(
        "require",
        Type.TEXT,
        "How many of the answers must agree. Otherwise the step fails.",
        required=True,
        choices=("majority", "2/3", "unanimous"),
    ),
    Key(
        "allow_partial",
        Type.BOOLEAN,
        "Accepted, but has no effect: two answers are always enough to count votes.",
        default="false",
        idle=True,
    ),
    Key(
        "timeout",
        Type.DURATION,
        "Timeout for all models of this step.",
        positive=True,
        inherits=("step", "execution"),
        reference="mcp-cli does not enforce it.",
    ),
    wrong=key_advice.ANYWHERE,
    closed=True,
)

RAG = shape(
    "rag",
    "a rag step",
    "Searches a vector store and returns the hits to later steps.",
    Key(
        "query",
        Type.TEXT,
        "What to search for. An unknown variable fails the step.",
        required=True,
        interpolated=True,
        unknown="fails",
    ),
    Key(
        "server",
        Type.TEXT,
        "Server with the vectors.",
        default="the configured server",
        offers="servers",
        reference="mcp-cli rejects a rag step without it.",
    ),
    Key("servers", Type.TEXTS, "Accepted, but has no effect: one server is searched.", idle=True, offers="servers"),
    Key("strategies", Type.TEXTS, "The searches to combine.", default="[default]"),
    Key("top_k", Type.INTEGER, "Number of hits to keep; 0 uses the configured value.", default="5", minimum=0),
    Key(
        "fusion",
        Type.TEXT,
        "How the hits of several searches are ranked together.",
        default="rrf",
        choices=("rrf", "weighted", "max", "avg"),
        reference="mcp-cli treats any unknown value as `weighted`.",
    ),
    Key(
        "expand_query",
        Type.BOOLEAN,
        "Also searches for rewordings of the query.",
        default="false",
        reference="mcp-cli does so only if its configuration allows it.",
    ),
    Key("query_vector", Type.NUMBERS, "Accepted, but has no effect: the query is always text.", idle=True),
    Key("query_variants", Type.INTEGER, "Accepted, but has no effect.", idle=True, minimum=1),
    Key(
        "output_format",
        Type.TEXT,
        "Format of the result.",
        default="json",
        choices=("json", "compact", "text"),
    ),
    wrong=key_advice.ANYWHERE,
    closed=True,
)

EMBEDDINGS = shape(
    "embeddings",
    "an embeddings step",
    "Turns texts into vectors.",
    Key(
        "input",
        Type.TEXT_OR_TEXTS,
        "The text, or several texts, to turn into vectors.",
        interpolated=True,
    ),
    Key("input_file", Type.TEXT, "File to read the text from. Takes precedence over `input`.", interpolated=True),
    Key(
        "provider",
        Type.TEXT,
        "Provider to use.",
        inherits=("step", "execution"),
        offers="providers",
    ),
    Key("model", Type.TEXT, "The embedding model to use.", inherits=("step", "execution"), offers="models"),
    Key(
        "chunk_strategy",
        Type.TEXT,
        "Where long texts are split.",
        default="sentence",
        choices=("sentence", "paragraph", "fixed"),
    ),
    Key("max_chunk_size", Type.INTEGER, "Maximum size of a chunk.", default="512", minimum=1),
    Key("overlap", Type.INTEGER, "Overlap of consecutive chunks.", default="0", minimum=0),
    Key("dimensions", Type.INTEGER, "Number of dimensions.", default="that of the model", minimum=1),
    Key(
        "encoding_format",
        Type.TEXT,
        "Encoding of the vectors.",
        default="float",
        choices=("float", "base64"),
    ),
    Key("include_metadata", Type.BOOLEAN, "Adds the source of each chunk.", default="true"),
    Key(
        "output_format",
        Type.TEXT,
        "Accepted, but has no effect: the result is always JSON.",
        default="json",
        choices=("json", "csv", "compact"),
        idle=True,
    ),
    Key(
        "output_file",
        Type.TEXT,
        "File to write the vectors to; a file with other content is not replaced. The result of the step is then one "
        "line that confirms it.",
        interpolated=True,
    ),
    wrong=key_advice.EMBEDDINGS,
    closed=True,
)
