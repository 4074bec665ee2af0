"""The keys of the project settings, `.loop-ls.yaml` and the editor's section `loopLs` alike.

Names that authors choose (`providers.<name>`, `roles.<name>`, ...) are free; what stands below
them is not.
"""

from __future__ import annotations

from loop_ls.formats.common.case_advice import camel_advice
from loop_ls.formats.common.isolate import isolate_key
from loop_ls.formats.common.key_table import Key, Type, shape

#: What `rules.<CODE>` may say.
LEVELS = ("off", "hint", "info", "warning", "error")

AGENT_SPEECHES = ("claude-code", "codex", "opencode", "text")
PROVIDER_KINDS = ("openai", "anthropic", "local", "scripted", "agent-cli", "pydantic-ai")

_TARGET = (
    Key("provider", Type.TEXT, "Provider to use.", offers="providers"),
    Key("model", Type.TEXT, "Model to use.", offers="models"),
)

PRICE = shape(
    "price",
    "`price`",
    "Price of a provider in US dollars per million tokens. Both amounts are required: a run with a "
    "budget in dollars is refused if the price of a call is unknown.",
    Key("input", Type.NUMBER, "Per million input tokens.", required=True, minimum=0),
    Key("output", Type.NUMBER, "Per million output tokens, including reasoning.", required=True, minimum=0),
)


_PROVIDER_KEYS = (
    Key("kind", Type.TEXT, "API that the provider speaks.", choices=PROVIDER_KINDS),
    Key("cli", Type.ANY, "Program of an `agent-cli`, as a list of arguments; it runs without a shell."),
    Key(
        "speaks",
        Type.TEXT,
        "Which agent the program of an `agent-cli` behaves like, if its name does not show it.",
        choices=AGENT_SPEECHES,
    ),
    Key("vendor", Type.TEXT, "Service of a `pydantic-ai` provider, if its name does not show it."),
    Key("baseUrl", Type.TEXT, "Base URL of the API. Shown and confirmed before the first call."),
    Key(
        "apiKeyEnv", Type.TEXT, "Name of the environment variable with the API key. Never put the key itself in a file."
    ),
    Key("defaultModel", Type.TEXT, "Model to use if a file does not set one."),
    Key("models", Type.TEXTS, "Known models, for completion."),
    Key("maxConcurrency", Type.INTEGER, "Maximum concurrent calls.", minimum=1),
    Key("requestsPerMinute", Type.INTEGER, "Maximum calls per minute.", minimum=1),
    Key("tokensPerMinute", Type.INTEGER, "Maximum tokens per minute, input and output together.", minimum=1),
    Key(
        "usagePercent",
        Type.NUMBER,
        "Maximum percentage of a usage window that an agent program may use, if it reports its usage (Claude Code). "
        "Above it, runs wait for the reset before the next turn.",
        minimum=1,
        maximum=100,
    ),
    Key("timeoutSeconds", Type.NUMBER, "Timeout for a whole answer.", default="300", minimum=0),
    Key("firstTokenSeconds", Type.NUMBER, "Timeout until an answer starts.", minimum=0),
    Key("idleSeconds", Type.NUMBER, "Timeout for a pause within an answer.", default="60", minimum=0),
    Key("embeddingModel", Type.TEXT, "Embedding model if a step does not set one."),
    Key(
        "fallback", Type.TEXTS, "Providers to use if this one is unavailable, in order: `provider` or `provider/model`."
    ),
    Key("price", Type.BLOCK, "US dollars per million tokens, e.g. `{input: 0.5, output: 1.5}`.", shape=PRICE),
    Key("script", Type.ANY, "Answers of a `scripted` provider, or the file that contains them."),
    isolate_key("A run that starts this agent works"),
)

PROVIDER_SETTINGS = shape(
    "provider settings",
    "a provider of the settings",
    "A service or program that answers prompts.",
    *_PROVIDER_KEYS,
    wrong=camel_advice(_PROVIDER_KEYS, model="defaultModel", url="baseUrl", type="kind"),
)

JUDGE = shape(
    "judge",
    "`judge`",
    "Judge of `until` conditions. Default: the provider and model of the calling workflow.",
    *_TARGET,
    Key(
        "local",
        Type.BOOLEAN,
        "Decides conditions that name the text to look for (`The output says PASS`) without a model. "
        "Other conditions go to the model set in `judge`; without one, a run with such a condition is refused.",
        default="false",
    ),
    Key(
        "impossible",
        Type.BOOLEAN,
        "Lets the judge answer IMPOSSIBLE if no further iteration can meet the condition. Two such "
        "answers in a row, each quoting the condition, end the loop as `the condition cannot be met`, "
        "never as a success.",
        default="false",
    ),
)

ASSIST = shape("assist", "`assist`", "The interactive assistant; the planner inherits from it.", *_TARGET)

FALLBACK = shape(
    "fallback",
    "an entry of `fallbackPool`",
    "A provider and a model that the planner may add as a fallback.",
    Key("provider", Type.TEXT, "Provider to use.", required=True, offers="providers"),
    Key("model", Type.TEXT, "Model to use.", required=True, offers="models"),
)

ROLE = shape(
    "role",
    "a role",
    "One role of a role loop.",
    Key("description", Type.TEXT, "What the role is for, in one line."),
    Key("instructions", Type.TEXT, "Instructions for the role."),
    Key(
        "access",
        Type.TEXT,
        "What the role may do.",
        choices=("full", "readonly-shell", "readonly", "minimal"),
    ),
    *_TARGET,
    Key("maxSteps", Type.INTEGER, "Maximum rounds of tool calls.", minimum=1),
    Key("tools", Type.TEXTS, "Tools that the role may use, of those that its access allows."),
    isolate_key("A loop with this role works"),
)

SERVER = shape(
    "server",
    "an MCP server",
    "One MCP server whose tools steps may use.",
    Key("command", Type.ANY, "Program to start, as a string or a list of arguments."),
    Key("args", Type.TEXTS, "Arguments of the program."),
    Key("env", Type.TEXT_MAP, "Additional environment variables for the program."),
    Key("cwd", Type.TEXT, "Working folder."),
    Key("url", Type.TEXT, "URL of a server that is already running."),
    Key("headers", Type.TEXT_MAP, "Headers for `url`; `${NAME}` takes a value from the environment."),
    Key("type", Type.TEXT, "Transport of the server.", choices=("stdio", "http", "sse")),
    Key("timeoutSeconds", Type.NUMBER, "Startup timeout.", default="30", minimum=0),
)

STRATEGY = shape(
    "strategy",
    "a strategy",
    "One search strategy of a store: its vectors, and their weight.",
    Key("column", Type.TEXT, "Column with the vectors."),
    Key("weight", Type.NUMBER, "Weight of the results.", default="1", minimum=0),
    Key("threshold", Type.NUMBER, "Minimum similarity of a result.", default="0"),
)

STORE = shape(
    "store",
    "a store",
    "Documents with vectors: a PostgreSQL table, or what an MCP server searches.",
    Key("server", Type.TEXT, "MCP server that searches it.", offers="servers"),
    Key("tool", Type.TEXT, "Tool of that server. Default: the one with a search-like name."),
    Key("databaseUrlEnv", Type.TEXT, "Environment variable with the URL of a PostgreSQL database."),
    Key("table", Type.TEXT, "Table, or collection of the server."),
    Key("idColumn", Type.TEXT, "Column that identifies a document.", default="id"),
    Key("textColumns", Type.TEXTS, "Columns to show."),
    Key("metadataColumns", Type.TEXTS, "Additional columns to return."),
    Key("provider", Type.TEXT, "Provider that embeds the query.", offers="providers"),
    Key("model", Type.TEXT, "Embedding model.", offers="models"),
    Key("dimensions", Type.INTEGER, "Number of dimensions.", default="the model's own", minimum=1),
    Key("strategies", Type.BLOCK_MAP, "Search strategies, by name.", shape=STRATEGY),
)

RAG = shape(
    "rag",
    "`rag`",
    "Where `rag` steps search.",
    Key("server", Type.TEXT, "Store or MCP server for steps that do not set one."),
    Key("topK", Type.INTEGER, "Number of results per step.", default="5", minimum=1),
    Key("fusion", Type.TEXT, "How the results of several strategies are merged.", default="rrf"),
    Key("synonyms", Type.TEXT, "YAML file that maps words to synonyms, for `expand_query`."),
    Key("acronyms", Type.TEXT, "YAML file that maps acronyms to their meaning, for `expand_query`."),
    Key("maxExpansions", Type.INTEGER, "Maximum additional queries per query.", default="5", minimum=1),
    Key("stores", Type.BLOCK_MAP, "Stores, by the name that steps use in `server`.", shape=STORE),
)

SHARED_LIMITS = shape(
    "shared-limits",
    "a limit that runs share",
    "Limits for all runs of this project together; the possible cost of each call is reserved before it is made.",
    Key("budgetUsd", Type.NUMBER, "Maximum total cost in US dollars.", minimum=0),
    Key("maxTokens", Type.INTEGER, "Maximum total tokens, input and output.", minimum=1),
)

LIMITS = shape(
    "limits",
    "`limits`",
    "Limits for every run of this project.",
    Key("maxIterations", Type.INTEGER, "Maximum iterations per loop.", minimum=1),
    Key(
        "budgetUsd",
        Type.NUMBER,
        "Maximum cost of one run in US dollars; the run ends before a call that could exceed it.",
        minimum=0,
    ),
    Key("maxTokens", Type.INTEGER, "Maximum tokens of one run, input and output together.", minimum=1),
    Key(
        "wallClock",
        Type.DURATION,
        "Maximum working time of one run; pauses and waiting for a person do not count.",
        positive=True,
    ),
    Key(
        "perDay",
        Type.BLOCK,
        "Limits for all runs of this project in one day, from midnight to midnight in the engine's time "
        "zone, or in UTC for engines that share a database.",
        shape=SHARED_LIMITS,
    ),
    Key(
        "perProject",
        Type.BLOCK,
        "Limits for all runs of this project together. Deleted runs count, too.",
        shape=SHARED_LIMITS,
    ),
    Key(
        "unchanged",
        Type.INTEGER,
        "Ends a loop without progress: after this many identical outputs, judge findings or test "
        "failures in a row. If not set, there is only a warning.",
        minimum=2,
    ),
)

_KNOBS = (
    Key("maxRounds", Type.INTEGER, "Maximum rounds per loop.", default="3", minimum=1, maximum=20),
    Key(
        "budgetCapUsd",
        Type.NUMBER,
        "Maximum cost of all rounds, including the planner.",
        default="5.00",
        positive=True,
        maximum=1000,
    ),
    Key(
        "convergenceMode",
        Type.TEXT,
        "`lenient` accepts intended skips and fallback outputs as success.",
        default="strict",
        choices=("strict", "lenient"),
    ),
    Key("pauseBetweenRounds", Type.BOOLEAN, "Asks a person before each further round.", default="false"),
    Key(
        "plannerProvider",
        Type.TEXT,
        "Provider that plans the edits between rounds.",
        default="inherit",
        offers="providers",
    ),
    Key("plannerModel", Type.TEXT, "Model that plans the edits.", default="inherit", offers="models"),
    Key(
        "onFixation",
        Type.TEXT,
        "What happens if two rounds fail in the same way.",
        default="abort",
        choices=("abort", "warn"),
    ),
    Key("maxOpsPerRound", Type.INTEGER, "Maximum edits per round.", default="8", minimum=1, maximum=50),
    Key(
        "maxEditedStepsPerRound",
        Type.INTEGER,
        "Maximum steps changed per round.",
        default="5",
        minimum=1,
        maximum=50,
    ),
    Key(
        "ackTimeoutSeconds",
        Type.NUMBER,
        "How long to wait for the editor to apply edits.",
        default="30",
        minimum=5,
        maximum=600,
    ),
    Key("plannerTimeoutSeconds", Type.NUMBER, "Timeout of the planner.", default="120", minimum=10, maximum=900),
    Key(
        "plannerAttempts",
        Type.INTEGER,
        "Maximum planner answers per round, including corrections.",
        default="2",
        minimum=1,
        maximum=3,
    ),
    Key("pauseTimeoutSeconds", Type.NUMBER, "How long a pause lasts; 0 waits forever.", default="0", minimum=0),
    Key(
        "excerptChars",
        Type.INTEGER,
        "How many characters of an output the planner sees.",
        default="2000",
        minimum=200,
        maximum=20000,
    ),
    Key(
        "files",
        Type.TEXTS,
        "Files of called workflows that plans may edit, too, by their paths below the workspace. Each plan is one edit "
        "of all of them.",
        default="[]",
        examples=("parts/draft.yaml",),
    ),
    Key(
        "fallbackPool",
        Type.BLOCKS,
        "Provider and model pairs that the planner may add as fallbacks.",
        default="[]",
        shape=FALLBACK,
    ),
    Key(
        "transientBackoffSeconds",
        Type.NUMBER,
        "How long to wait after a temporary failure.",
        default="5",
        minimum=0,
        maximum=300,
    ),
    Key(
        "applyWhenHeadless",
        Type.BOOLEAN,
        "Lets the engine write the file if it is not open in an editor.",
        default="false",
    ),
    Key(
        "onGiveUp",
        Type.TEXT,
        "What happens to the edits if the loop does not converge.",
        default="keep",
        choices=("keep", "revert", "best"),
    ),
    Key(
        "unknownPriceUsdPerCall",
        Type.NUMBER,
        "Assumed cost of a call with an unknown price.",
        default="0.05",
        minimum=0,
    ),
    Key(
        "minPassRate",
        Type.NUMBER,
        "With test cases: the pass rate that a version must exceed to converge.",
        default="0.7",
        minimum=0.5,
        maximum=0.95,
    ),
    Key(
        "confidence",
        Type.NUMBER,
        "Confidence required for that rate.",
        default="0.9",
        minimum=0.5,
        maximum=0.99,
    ),
    Key(
        "confirmRuns",
        Type.INTEGER,
        "Minimum trials per test case.",
        default="1",
        minimum=1,
        maximum=10,
    ),
    Key(
        "minibatch",
        Type.INTEGER,
        "After this many trials a plan must be better than the current version to be tried further.",
        default="3",
        minimum=1,
        maximum=20,
    ),
    Key(
        "acceptProbability",
        Type.NUMBER,
        "Required probability that a plan passes more often than the current version.",
        default="0.8",
        minimum=0.5,
        maximum=0.99,
    ),
    Key(
        "holdoutRuns",
        Type.INTEGER,
        "Trials per held-out test case before a version has converged.",
        default="2",
        minimum=1,
        maximum=5,
    ),
    Key("maxTrialsPerText", Type.INTEGER, "Maximum trials per version.", default="30", minimum=1, maximum=200),
    Key("maxTrials", Type.INTEGER, "Maximum trials per enhance loop.", default="60", minimum=1, maximum=1000),
)

ENHANCED = shape(
    "enhanced workflow",
    "an entry of `enhance.workflows`",
    "One workflow that is improved between runs; its values override those of `enhance`.",
    Key("enabled", Type.BOOLEAN, "Starts the enhance loop instead of a plain run.", default="false"),
    Key(
        "verifiers",
        Type.TEXTS,
        "Steps that check the work: their answer starts with PASS or FAIL. Plans never change them.",
        default="steps whose prompt asks for PASS or FAIL",
    ),
    *_KNOBS,
)

ENHANCE = shape(
    "enhance",
    "`enhance`",
    "How workflows are improved between runs.",
    *_KNOBS,
    Key("workflows", Type.BLOCK_MAP, "Workflows to improve, by key.", shape=ENHANCED),
)

LOG_LEVELS = ("debug", "info", "warning", "error")

ENGINE = shape(
    "engine",
    "`engine`",
    "The engine: the process that runs loops.",
    Key(
        "dataDir",
        Type.TEXT,
        "Where runs are stored: a folder that loop-ls creates on this machine, never one that is part of a project.",
        default="the user's state folder",
    ),
    Key("databaseUrl", Type.TEXT, "A PostgreSQL database for several workers.", default="SQLite in the data folder"),
    Key("port", Type.INTEGER, "Port to listen on.", default="a free one", minimum=0, maximum=65535),
    Key(
        "teardownOnDisconnect",
        Type.BOOLEAN,
        "Ends an editor's runs some time after the editor is closed.",
        default="true",
    ),
    Key("keepRuns", Type.INTEGER, "How many ended runs to keep; older ones are deleted.", minimum=0),
    Key("keepDays", Type.NUMBER, "How many days to keep an ended run.", minimum=0),
    Key(
        "teardownGraceMs",
        Type.INTEGER,
        "How long the editor may stay disconnected, in milliseconds.",
        default="60000",
        minimum=0,
    ),
    Key(
        "shutdownGraceMs",
        Type.INTEGER,
        "How long to wait for calls in progress when the engine stops, in milliseconds.",
        default="5000",
        minimum=0,
        maximum=60_000,
    ),
    Key("logFormat", Type.TEXT, "Plain text lines or JSON objects.", default="text", choices=("text", "json")),
    Key(
        "logLevel",
        Type.TEXT,
        "Minimum level that is logged.",
        default="warning",
        choices=("warning", *(one for one in LOG_LEVELS if one != "warning")),
    ),
)

ASSISTANTS = shape(
    "assistants",
    "`assistants`",
    "Assistant loops controlled over their documented interfaces.",
    Key(
        "revise",
        Type.BOOLEAN,
        "Allows `revise` as an answer to an approval, with feedback for the next round.",
        default="false",
    ),
)

PROTECT = shape(
    "protect",
    "`protect`",
    "Files that an agent must not change without a review: manifests and lock files, agent instructions, dot "
    "folders, settings, the files of the run and the programs of its checks. If an agent changes one, the run asks "
    "you after that turn, before any check counts. Patterns are written as in a `.gitignore`.",
    Key("files", Type.TEXTS, "Patterns of additional files to protect."),
    Key("allow", Type.TEXTS, "Patterns of files that are not protected: an agent may change them without asking."),
)

SETTINGS = shape(
    "settings",
    "the settings",
    "The settings of a project.",
    Key(
        "workflowRoots",
        Type.TEXTS,
        "Folders to look up workflows in, relative to the workspace folder; `*` matches any folder.",
        default="the folder set in config.yaml, config/workflows, workflows or the folder itself",
    ),
    Key(
        "rules",
        Type.TEXT_MAP,
        "Severity of a rule's findings, by rule code: off, hint, info, warning or error.",
        choices=LEVELS,
    ),
    Key("providers", Type.BLOCK_MAP, "Services and programs that answer prompts, by name.", shape=PROVIDER_SETTINGS),
    Key("judge", Type.BLOCK, JUDGE.text, shape=JUDGE),
    Key("roles", Type.BLOCK_MAP, "Roles of role loops, by name.", shape=ROLE),
    Key("servers", Type.BLOCK_MAP, "MCP servers, by name.", shape=SERVER),
    Key("rag", Type.BLOCK, RAG.text, shape=RAG),
    Key(
        "outputsDir",
        Type.TEXT,
        "Folder for `file:///outputs/...` in `items`: a separate folder inside the workspace.",
        default="mcp-outputs in the folder for temporary files",
    ),
    Key("assist", Type.BLOCK, ASSIST.text, shape=ASSIST),
    Key("limits", Type.BLOCK, LIMITS.text, shape=LIMITS),
    Key("assistants", Type.BLOCK, ASSISTANTS.text, shape=ASSISTANTS),
    Key(
        "notify",
        Type.TEXTS,
        "A program, as a list of arguments, that is called when a run asks a question, is parked until a later time,"
        " or has ended. It gets one JSON object on its standard input: `event` (`question`, `parked` or `ended`), "
        "`root` and "
        "`run`, the state of the run. It is shown at the start of a run. Runs do not wait for it.",
    ),
    Key("protect", Type.BLOCK, PROTECT.text, shape=PROTECT),
    isolate_key("Every run whose agents may change files works"),
    Key("enhance", Type.BLOCK, ENHANCE.text, shape=ENHANCE),
    Key("engine", Type.BLOCK, ENGINE.text, shape=ENGINE),
)
