"""The keys of what a step may do besides `run`: template, consensus, rag, embeddings (spec 2.6-2.9)."""

from __future__ import annotations

from loop_ls.formats import wrong_keys
from loop_ls.formats.keys import Key, Type, shape

TEMPLATE = shape(
    "template",
    "a template",
    "Calls another workflow once. The called workflow uses its own `execution`; nothing is inherited.",
    Key(
        "name",
        Type.TEXT,
        "The key of the workflow to call: its name, with its folder in front when it lies in one. Never a file name.",
        required=True,
        offers="workflows",
        reference="mcp-cli looks in the root folder first; here a neighbour in the caller's folder wins.",
    ),
    Key(
        "with",
        Type.ARGUMENTS,
        "Arguments: every key becomes a variable of that name in the called workflow.",
        interpolated=True,
        offers="parameters",
        reference="mcp-cli hands over `input` only and drops every other key without a word.",
    ),
    wrong=wrong_keys.TEMPLATE,
)

CONSENSUS_EXECUTION = shape(
    "consensus execution",
    "an entry of `executions`",
    "One model that is asked. It has one vote; no other provider stands in for it.",
    Key("provider", Type.TEXT, "The provider to ask.", required=True, offers="providers"),
    Key("model", Type.TEXT, "The model to ask.", required=True, offers="models"),
    Key(
        "temperature",
        Type.NUMBER,
        "How freely this model words its answer: 0 is the most even, 2 the most varied.",
        default="0.7",
        minimum=0,
        maximum=2,
        inherits=("step", "execution"),
        reference="mcp-cli reads this and never sends it.",
    ),
    Key(
        "max_tokens",
        Type.INTEGER,
        "The longest answer this model may give, in tokens.",
        minimum=1,
        inherits=("step", "execution"),
        reference="mcp-cli reads this and never sends it.",
    ),
    Key(
        "timeout",
        Type.DURATION,
        "How long to wait for this model. After that it counts as failed and has no vote.",
        positive=True,
        inherits=("consensus", "step", "execution"),
        reference="mcp-cli does not enforce it.",
    ),
    wrong=wrong_keys.CONSENSUS_EXECUTION,
)

CONSENSUS = shape(
    "consensus",
    "a consensus",
    "Asks several models the same question at once and compares their whole answers; blanks and case do not count.",
    Key("prompt", Type.TEXT, "The question that every model gets.", required=True, interpolated=True),
    Key(
        "executions",
        Type.BLOCKS,
        "The models to ask, at least two.",
        required=True,
        shape=CONSENSUS_EXECUTION,
    ),
    Key(
        "require",
        Type.TEXT,
        "How many of the answers have to agree. When they do not, the step fails.",
        required=True,
        choices=("majority", "2/3", "unanimous"),
    ),
    Key(
        "allow_partial",
        Type.BOOLEAN,
        "Accepted and without effect: two answers are always enough to count votes.",
        default="false",
        idle=True,
    ),
    Key(
        "timeout",
        Type.DURATION,
        "How long to wait for every model of this step.",
        positive=True,
        inherits=("step", "execution"),
        reference="mcp-cli does not enforce it.",
    ),
    wrong=wrong_keys.ANYWHERE,
)

RAG = shape(
    "rag",
    "a rag step",
    "Searches a vector store and gives the hits to later steps.",
    Key(
        "query",
        Type.TEXT,
        "What to search for. A variable that does not exist fails the step.",
        required=True,
        interpolated=True,
        strict=True,
    ),
    Key(
        "server",
        Type.TEXT,
        "The server that holds the vectors.",
        default="the configured server",
        offers="servers",
        reference="mcp-cli refuses a rag step without it.",
    ),
    Key("servers", Type.TEXTS, "Accepted and without effect: one server is searched.", idle=True, offers="servers"),
    Key("strategies", Type.TEXTS, "The searches to combine.", default="[default]"),
    Key("top_k", Type.INTEGER, "How many hits to keep; 0 means as configured.", default="5", minimum=0),
    Key(
        "fusion",
        Type.TEXT,
        "How the hits of several searches are put into one order.",
        default="rrf",
        choices=("rrf", "weighted", "max", "avg"),
        reference="mcp-cli takes every unknown word for `weighted`.",
    ),
    Key(
        "expand_query",
        Type.BOOLEAN,
        "Searches for rewordings of the query as well.",
        default="false",
        reference="mcp-cli does so only where its configuration allows it.",
    ),
    Key("query_vector", Type.NUMBERS, "Accepted and without effect: the query is always text.", idle=True),
    Key("query_variants", Type.INTEGER, "Accepted and without effect.", idle=True, minimum=1),
    Key(
        "output_format",
        Type.TEXT,
        "The form of the result.",
        default="json",
        choices=("json", "compact", "text"),
    ),
    wrong=wrong_keys.ANYWHERE,
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
    Key("input_file", Type.TEXT, "A file to read the text from. It wins over `input`.", interpolated=True),
    Key(
        "provider",
        Type.TEXT,
        "The provider to ask.",
        inherits=("step", "execution"),
        offers="providers",
    ),
    Key("model", Type.TEXT, "The embedding model to use.", inherits=("step", "execution"), offers="models"),
    Key(
        "chunk_strategy",
        Type.TEXT,
        "Where long texts are cut.",
        default="sentence",
        choices=("sentence", "paragraph", "fixed"),
    ),
    Key("max_chunk_size", Type.INTEGER, "The longest piece of text for one vector.", default="512", minimum=1),
    Key("overlap", Type.INTEGER, "How much of a piece the next one repeats.", default="0", minimum=0),
    Key("dimensions", Type.INTEGER, "The length of a vector.", default="that of the model", minimum=1),
    Key(
        "encoding_format",
        Type.TEXT,
        "How the numbers of a vector are written.",
        default="float",
        choices=("float", "base64"),
    ),
    Key("include_metadata", Type.BOOLEAN, "Adds where each piece came from.", default="true"),
    Key(
        "output_format",
        Type.TEXT,
        "Accepted and without effect: the result is always JSON.",
        default="json",
        choices=("json", "csv", "compact"),
        idle=True,
    ),
    Key(
        "output_file",
        Type.TEXT,
        "A file to write the vectors to. The result of the step is then one line that says so.",
        interpolated=True,
    ),
    wrong=wrong_keys.EMBEDDINGS,
)
