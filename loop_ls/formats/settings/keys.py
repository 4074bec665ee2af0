"""The keys of the project settings, `.loop-ls.yaml` and the editor's section `loopLs` alike.

Names that authors choose (`providers.<name>`, `roles.<name>`, ...) are free; what stands below
them is not.
"""

from __future__ import annotations

from loop_ls.formats.common.case_advice import camel_advice
from loop_ls.formats.common.key_table import Key, Type, shape

#: What `rules.<CODE>` may say.
LEVELS = ("off", "hint", "info", "warning", "error")

AGENT_SPEECHES = ("claude-code", "codex", "opencode", "text")
PROVIDER_KINDS = ("openai", "anthropic", "local", "scripted", "agent-cli", "pydantic-ai")

_TARGET = (
    Key("provider", Type.TEXT, "The provider to ask.", offers="providers"),
    Key("model", Type.TEXT, "The model to ask.", offers="models"),
)

PRICE = shape(
    "price",
    "`price`",
    "What a provider charges, in US dollars for a million tokens. Both amounts are needed: a run with a cap in "
    "dollars is refused where nobody knows what a call costs.",
    Key("input", Type.NUMBER, "For a million tokens that are sent.", required=True, minimum=0),
    Key("output", Type.NUMBER, "For a million tokens of answers, reasoning included.", required=True, minimum=0),
)


_PROVIDER_KEYS = (
    Key("kind", Type.TEXT, "The dialect it speaks.", choices=PROVIDER_KINDS),
    Key("cli", Type.ANY, "The program of an `agent-cli`, as a list of words; never a shell line."),
    Key(
        "speaks",
        Type.TEXT,
        "Which agent the program of an `agent-cli` behaves like, where its name does not tell.",
        choices=AGENT_SPEECHES,
    ),
    Key("vendor", Type.TEXT, "The service that a `pydantic-ai` provider means, where its name does not tell."),
    Key("baseUrl", Type.TEXT, "Where it answers. Shown and confirmed before the first call."),
    Key("apiKeyEnv", Type.TEXT, "The environment variable that holds its key. The key itself never stands in a file."),
    Key("defaultModel", Type.TEXT, "The model to ask where a file names none."),
    Key("models", Type.TEXTS, "Its models, for completion."),
    Key("maxConcurrency", Type.INTEGER, "The most calls at one time.", minimum=1),
    Key("requestsPerMinute", Type.INTEGER, "The most calls in one minute.", minimum=1),
    Key("tokensPerMinute", Type.INTEGER, "The most tokens in one minute, sent and answered together.", minimum=1),
    Key("timeoutSeconds", Type.NUMBER, "How long one answer may take in all.", default="300", minimum=0),
    Key("firstTokenSeconds", Type.NUMBER, "How long it may take until an answer begins.", minimum=0),
    Key("idleSeconds", Type.NUMBER, "How long an answer may stop in the middle.", default="60", minimum=0),
    Key("embeddingModel", Type.TEXT, "The model for vectors where a step names none."),
    Key("fallback", Type.TEXTS, "Who is asked when it is out of order, in this order: `provider` or `provider/model`."),
    Key("price", Type.BLOCK, "US dollars for a million tokens, as `{input: 0.5, output: 1.5}`.", shape=PRICE),
    Key("script", Type.ANY, "The answers of a `scripted` provider, or the file that holds them."),
)

PROVIDER_SETTINGS = shape(
    "provider settings",
    "a provider of the settings",
    "One service, or one program, that answers questions.",
    *_PROVIDER_KEYS,
    wrong=camel_advice(_PROVIDER_KEYS, model="defaultModel", url="baseUrl", type="kind"),
)

JUDGE = shape(
    "judge",
    "`judge`",
    "Who judges `until`. Without it the provider and model of the calling workflow do.",
    *_TARGET,
    Key(
        "local",
        Type.BOOLEAN,
        "Conditions that name the text to look for (`The output says PASS`) are decided without asking a model. "
        "Others go to the model that `judge` names; without one a run that has such a condition is refused.",
        default="false",
    ),
    Key(
        "impossible",
        Type.BOOLEAN,
        "The judge may also answer IMPOSSIBLE, where no further iteration can meet the condition. Said twice in a row, "
        "each time with the condition quoted, it ends the loop as `the condition cannot be met`, never as a success.",
        default="false",
    ),
)

ASSIST = shape("assist", "`assist`", "The interactive assistant; what plans and repairs inherits from it.", *_TARGET)

FALLBACK = shape(
    "fallback",
    "an entry of `fallbackPool`",
    "A provider and a model that the planner may add as a fallback.",
    Key("provider", Type.TEXT, "The provider to ask.", required=True, offers="providers"),
    Key("model", Type.TEXT, "The model to ask.", required=True, offers="models"),
)

ROLE = shape(
    "role",
    "a role",
    "One role of a role loop.",
    Key("instructions", Type.TEXT, "What the role is told."),
    Key(
        "access",
        Type.TEXT,
        "What the role may do.",
        choices=("full", "readonly-shell", "readonly", "minimal"),
    ),
    *_TARGET,
    Key("maxSteps", Type.INTEGER, "The most rounds of tool calls.", minimum=1),
)

SERVER = shape(
    "server",
    "an MCP server",
    "One MCP server whose tools steps may use.",
    Key("command", Type.ANY, "The program to start, as a text or a list of words."),
    Key("args", Type.TEXTS, "The words behind the program."),
    Key("env", Type.TEXT_MAP, "More environment variables for the program."),
    Key("cwd", Type.TEXT, "The folder it runs in."),
    Key("url", Type.TEXT, "Where a server that already runs answers."),
    Key("headers", Type.TEXT_MAP, "Headers for `url`; `${NAME}` takes a value from the environment."),
    Key("type", Type.TEXT, "How to talk to it.", choices=("stdio", "http", "sse")),
    Key("timeoutSeconds", Type.NUMBER, "How long its start may take.", default="30", minimum=0),
)

STRATEGY = shape(
    "strategy",
    "a strategy",
    "One way to look into a store: its vectors, and how much they count.",
    Key("column", Type.TEXT, "The column with the vectors."),
    Key("weight", Type.NUMBER, "How much its results count.", default="1", minimum=0),
    Key("threshold", Type.NUMBER, "Results less similar than this are left out.", default="0"),
)

STORE = shape(
    "store",
    "a store",
    "Documents with vectors: a PostgreSQL table, or what an MCP server searches.",
    Key("server", Type.TEXT, "The MCP server that searches it.", offers="servers"),
    Key("tool", Type.TEXT, "The tool of that server; without it the one whose name says that it searches."),
    Key("databaseUrlEnv", Type.TEXT, "The environment variable with the address of a PostgreSQL database."),
    Key("table", Type.TEXT, "The table, or the collection of the server."),
    Key("idColumn", Type.TEXT, "The column that tells documents apart.", default="id"),
    Key("textColumns", Type.TEXTS, "The columns that are shown."),
    Key("metadataColumns", Type.TEXTS, "Further columns that come along."),
    Key("provider", Type.TEXT, "Who makes the vector of a question.", offers="providers"),
    Key("model", Type.TEXT, "The model for it.", offers="models"),
    Key("dimensions", Type.INTEGER, "How many numbers a vector has.", default="the model's own", minimum=1),
    Key("strategies", Type.BLOCK_MAP, "Ways to look into it, by name.", shape=STRATEGY),
)

RAG = shape(
    "rag",
    "`rag`",
    "Where `rag` steps search.",
    Key("server", Type.TEXT, "The store, or the MCP server, of steps that name none."),
    Key("topK", Type.INTEGER, "How many results a step gets.", default="5", minimum=1),
    Key("fusion", Type.TEXT, "How the results of several strategies become one list.", default="rrf"),
    Key("synonyms", Type.TEXT, "A YAML file: a word, and what else it is called. For `expand_query`."),
    Key("acronyms", Type.TEXT, "A YAML file: an acronym, and what it stands for. For `expand_query`."),
    Key("maxExpansions", Type.INTEGER, "The most further questions from one.", default="5", minimum=1),
    Key("stores", Type.BLOCK_MAP, "Stores, by the name that steps call `server`.", shape=STORE),
)

SHARED_LIMITS = shape(
    "shared-limits",
    "a limit that runs share",
    "Bounds for all runs of this project together; what each call may cost is set aside before it is made.",
    Key("budgetUsd", Type.NUMBER, "The most US dollars that they may cost together.", minimum=0),
    Key("maxTokens", Type.INTEGER, "The most tokens that they may use together, sent and answered.", minimum=1),
)

LIMITS = shape(
    "limits",
    "`limits`",
    "Bounds for every run of this project.",
    Key("maxIterations", Type.INTEGER, "The most iterations of one loop.", minimum=1),
    Key(
        "budgetUsd",
        Type.NUMBER,
        "The most US dollars that one run may cost: it ends before the call that could pass it.",
        minimum=0,
    ),
    Key("maxTokens", Type.INTEGER, "The most tokens that one run may use, sent and answered together.", minimum=1),
    Key(
        "wallClock",
        Type.DURATION,
        "How long one run may work; waiting for a person and pauses do not count.",
        positive=True,
    ),
    Key(
        "perDay",
        Type.BLOCK,
        "Bounds for all runs of this project in one day, from midnight to midnight where the engine is, or of UTC for "
        "engines that share a database.",
        shape=SHARED_LIMITS,
    ),
    Key(
        "perProject",
        Type.BLOCK,
        "Bounds for all runs of this project, whenever they were. Runs that were deleted count, too.",
        shape=SHARED_LIMITS,
    ),
    Key(
        "unchanged",
        Type.INTEGER,
        "Ends a loop that gets nowhere: when so many outputs in a row are the same, or so often in a row a judge finds "
        "the same or the same tests fail. Without it there is only a warning.",
        minimum=2,
    ),
)

_KNOBS = (
    Key("maxRounds", Type.INTEGER, "The most rounds of one enhance loop.", default="3", minimum=1, maximum=20),
    Key(
        "budgetCapUsd",
        Type.NUMBER,
        "What all rounds together may cost, planner included.",
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
    Key("pauseBetweenRounds", Type.BOOLEAN, "Asks a person before every further round.", default="false"),
    Key("plannerProvider", Type.TEXT, "Who plans the edits between rounds.", default="inherit", offers="providers"),
    Key("plannerModel", Type.TEXT, "The model that plans.", default="inherit", offers="models"),
    Key(
        "onFixation",
        Type.TEXT,
        "What happens when two rounds fail in the same way.",
        default="abort",
        choices=("abort", "warn"),
    ),
    Key("maxOpsPerRound", Type.INTEGER, "The most edits in one round.", default="8", minimum=1, maximum=50),
    Key(
        "maxEditedStepsPerRound",
        Type.INTEGER,
        "The most steps that one round may change.",
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
    Key("plannerTimeoutSeconds", Type.NUMBER, "How long the planner may take.", default="120", minimum=10, maximum=900),
    Key(
        "plannerAttempts",
        Type.INTEGER,
        "Answers that the planner may give in one round, repairs included.",
        default="2",
        minimum=1,
        maximum=3,
    ),
    Key("pauseTimeoutSeconds", Type.NUMBER, "How long a pause lasts; 0 waits for ever.", default="0", minimum=0),
    Key(
        "excerptChars",
        Type.INTEGER,
        "How much of an output the planner sees.",
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
        "How long to wait after a failure that may pass.",
        default="5",
        minimum=0,
        maximum=300,
    ),
    Key(
        "applyWhenHeadless", Type.BOOLEAN, "Lets the engine write the file when no editor has it open.", default="false"
    ),
    Key(
        "onGiveUp",
        Type.TEXT,
        "What happens to the edits of a loop that did not converge.",
        default="keep",
        choices=("keep", "revert", "best"),
    ),
    Key(
        "unknownPriceUsdPerCall",
        Type.NUMBER,
        "What a call without a known price counts for.",
        default="0.05",
        minimum=0,
    ),
    Key(
        "minPassRate",
        Type.NUMBER,
        "Where there are cases: the rate of passed trials that a text has to be better than to converge.",
        default="0.7",
        minimum=0.5,
        maximum=0.95,
    ),
    Key(
        "confidence",
        Type.NUMBER,
        "How sure the loop has to be of that rate.",
        default="0.9",
        minimum=0.5,
        maximum=0.99,
    ),
    Key(
        "confirmRuns",
        Type.INTEGER,
        "How often each case is tried at least.",
        default="1",
        minimum=1,
        maximum=10,
    ),
    Key(
        "minibatch",
        Type.INTEGER,
        "After so many trials a plan has to be better than what there is to be tried any further.",
        default="3",
        minimum=1,
        maximum=20,
    ),
    Key(
        "acceptProbability",
        Type.NUMBER,
        "How probable it has to be that a plan passes more often than what there is.",
        default="0.8",
        minimum=0.5,
        maximum=0.99,
    ),
    Key(
        "holdoutRuns",
        Type.INTEGER,
        "How often each held-out case is tried before a text has converged.",
        default="2",
        minimum=1,
        maximum=5,
    ),
    Key("maxTrialsPerText", Type.INTEGER, "The most trials of one text.", default="30", minimum=1, maximum=200),
    Key("maxTrials", Type.INTEGER, "The most trials of one enhance loop.", default="60", minimum=1, maximum=1000),
)

ENHANCED = shape(
    "enhanced workflow",
    "an entry of `enhance.workflows`",
    "One workflow that is improved between runs; its values win over those of `enhance`.",
    Key("enabled", Type.BOOLEAN, "Starts the enhance loop instead of a plain run.", default="false"),
    Key(
        "verifiers",
        Type.TEXTS,
        "Steps that check the work: their answer begins with PASS or FAIL. No plan changes them.",
        default="steps whose prompt asks for PASS or FAIL",
    ),
    *_KNOBS,
)

ENHANCE = shape(
    "enhance",
    "`enhance`",
    "How workflows are improved between runs.",
    *_KNOBS,
    Key("workflows", Type.BLOCK_MAP, "The workflows that are improved, by key.", shape=ENHANCED),
)

LOG_LEVELS = ("debug", "info", "warning", "error")

ENGINE = shape(
    "engine",
    "`engine`",
    "The process that runs loops.",
    Key(
        "dataDir",
        Type.TEXT,
        "Where runs are kept: a folder that loop-ls makes on this machine, never one that a project brings along.",
        default="the user's state folder",
    ),
    Key("databaseUrl", Type.TEXT, "A PostgreSQL database for several workers.", default="SQLite in the data folder"),
    Key("port", Type.INTEGER, "The port to listen on.", default="a free one", minimum=0, maximum=65535),
    Key("teardownOnDisconnect", Type.BOOLEAN, "Ends an editor's runs some time after it left.", default="true"),
    Key("keepRuns", Type.INTEGER, "How many ended runs are kept; older ones are forgotten.", minimum=0),
    Key("keepDays", Type.NUMBER, "How many days an ended run is kept.", minimum=0),
    Key("teardownGraceMs", Type.INTEGER, "How long it may stay away, in milliseconds.", default="60000", minimum=0),
    Key(
        "shutdownGraceMs",
        Type.INTEGER,
        "How long calls in flight may take to end when the engine stops, in milliseconds.",
        default="5000",
        minimum=0,
        maximum=60_000,
    ),
    Key("logFormat", Type.TEXT, "Lines for people, or JSON objects.", default="text", choices=("text", "json")),
    Key(
        "logLevel",
        Type.TEXT,
        "What is logged at least.",
        default="warning",
        choices=("warning", *(one for one in LOG_LEVELS if one != "warning")),
    ),
)

ASSISTANTS = shape(
    "assistants",
    "`assistants`",
    "Loops of assistants over their documented interfaces.",
    Key("revise", Type.BOOLEAN, "Lets an approval say `revise`, with feedback for the next round.", default="false"),
)

PROTECT = shape(
    "protect",
    "`protect`",
    "Files that an agent must not change unseen. After each turn of one that may write, a person is asked about those "
    "that it touched, before any check counts: manifests and lock files, agent instructions, dot folders, settings, "
    "the files of the run and what its checks start. Patterns are written as in a `.gitignore`.",
    Key("files", Type.TEXTS, "Patterns of further files that are protected."),
    Key("allow", Type.TEXTS, "Patterns of files that are not: an agent may change them without a question."),
)

SETTINGS = shape(
    "settings",
    "the settings",
    "The settings of a project.",
    Key(
        "workflowRoots",
        Type.TEXTS,
        "Folders in which workflows are looked up, relative to the workspace folder; `*` stands for any folder.",
        default="what config.yaml names, config/workflows, workflows or the folder itself",
    ),
    Key(
        "rules",
        Type.TEXT_MAP,
        "How serious the findings of a rule are, by its code: off, hint, info, warning or error.",
        choices=LEVELS,
    ),
    Key("providers", Type.BLOCK_MAP, "Services and programs that answer questions, by name.", shape=PROVIDER_SETTINGS),
    Key("judge", Type.BLOCK, JUDGE.text, shape=JUDGE),
    Key("roles", Type.BLOCK_MAP, "Roles of role loops, by name.", shape=ROLE),
    Key("servers", Type.BLOCK_MAP, "MCP servers, by name.", shape=SERVER),
    Key("rag", Type.BLOCK, RAG.text, shape=RAG),
    Key(
        "outputsDir",
        Type.TEXT,
        "The folder that `file:///outputs/...` means in `items`: one of its own, inside the workspace.",
        default="mcp-outputs in the folder for temporary files",
    ),
    Key("assist", Type.BLOCK, ASSIST.text, shape=ASSIST),
    Key("limits", Type.BLOCK, LIMITS.text, shape=LIMITS),
    Key("assistants", Type.BLOCK, ASSISTANTS.text, shape=ASSISTANTS),
    Key(
        "notify",
        Type.TEXTS,
        "A program, as a list of words, that is called when a run asks a person, is parked until a later time, or has "
        "ended. It gets one JSON object on its standard input: `event` (`question`, `parked` or `ended`), `root` and "
        "`run`, the state of the run. The start of a run shows it. No run waits for it.",
    ),
    Key("protect", Type.BLOCK, PROTECT.text, shape=PROTECT),
    Key("enhance", Type.BLOCK, ENHANCE.text, shape=ENHANCE),
    Key("engine", Type.BLOCK, ENGINE.text, shape=ENGINE),
)
