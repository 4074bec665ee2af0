"""The one table of keys of an assistant file: names as on the wire."""

from __future__ import annotations

from loop_ls.formats.common.case_advice import camel_advice
from loop_ls.formats.common.isolate import isolate_key
from loop_ls.formats.common.key_table import Key, Shape, Type, shape

CAP_ONLY, REGEX, TEST_PASS, MANUAL = CRITERIA_TYPES = ("max_iterations", "regex", "test_pass", "manual")

PURPOSES = ("coding", "writing", "analysis", "chat", "review", "research", "creative", "data", "general")
PROVIDERS = ("claude-code", "openai", "perplexity")
PERMISSIONS = ("default", "plan", "edit", "full")
#: Names of models that stand for whatever is the current one of their kind.
TIERS = ("sonnet", "opus", "haiku")
#: Tools of an assistant that names none.
TOOLS = ("Read", "Write", "Edit", "Bash", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite", "TodoRead")

#: What the original program takes at most (AL026).
LONGEST = {REGEX: 500}
LONGEST_OTHER = 200
LONGEST_NAME = 100
DEFAULT_ITERATIONS = 10
MOST_ITERATIONS = 100
#: Characters of what a memory file keeps.
MOST_MEMORY = 4_000

_EXTENSION = "loop-ls extension."


_CRITERIA_KEYS = (
    Key(
        "type",
        Type.TEXT,
        "What ends the loop early: a pattern in the output, a command that succeeds, a person, or nothing.",
        required=True,
        choices=(REGEX, TEST_PASS, MANUAL, CAP_ONLY),
    ),
    Key(
        "value",
        Type.TEXT,
        "For `regex`, the pattern to find anywhere in the output, ignoring case. For `test_pass`, the "
        "command, split at spaces and run without a shell; exit status 0 ends the loop. Other types take no value.",
        examples=("DONE|COMPLETE", "npm test"),
    ),
    Key(
        "argv", Type.TEXTS, "The exact arguments of the `test_pass` command, instead of `value`.", reference=_EXTENSION
    ),
    Key(
        "timeoutSeconds",
        Type.NUMBER,
        "Timeout of the command; a command that takes longer counts as failed.",
        default="60",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key("cwd", Type.TEXT, "Working folder of the command.", default="the workspace", reference=_EXTENSION),
    Key(
        "includeOutput",
        Type.BOOLEAN,
        "Passes the end of the command's output to the next iteration.",
        default="false",
        reference=_EXTENSION,
    ),
    Key(
        "lastLine",
        Type.BOOLEAN,
        "Looks for the `regex` pattern only on the last line of the output, where an agent puts its conclusion.",
        default="false",
        reference=_EXTENSION,
    ),
    Key(
        "inARow",
        Type.INTEGER,
        "How many iterations in a row must match the pattern or pass the command before the loop ends.",
        default="1",
        minimum=1,
        reference=_EXTENSION,
    ),
)

CRITERIA = shape(
    "loop criteria",
    "`loopCriteria`",
    "What ends the loop before its last iteration.",
    *_CRITERIA_KEYS,
    wrong=camel_advice(_CRITERIA_KEYS, pattern="value", command="value", regex="value", timeout="timeoutSeconds"),
)

_RETRY_KEYS = (
    Key("attempts", Type.INTEGER, "Maximum retries per iteration.", default="0", minimum=0),
    Key("backoffSeconds", Type.NUMBER, "Wait before the next retry.", default="0", minimum=0),
)
RETRY = shape(
    "retry",
    "`retry`",
    "Retries an iteration after a temporary failure. Retries do not count as iterations.",
    *_RETRY_KEYS,
    wrong=camel_advice(_RETRY_KEYS),
)

_KEYS = (
    Key("name", Type.TEXT, "Name of the assistant, at most 100 characters.", required=True),
    Key("persona", Type.TEXT, "The system prompt: who the assistant is and how it works.", required=True),
    Key("description", Type.TEXT, "What the assistant is for, in one line."),
    Key(
        "purpose",
        Type.TEXT,
        "Kind of work; selects the model if `model` is not set.",
        choices=PURPOSES,
    ),
    Key(
        "model",
        Type.TEXT,
        "`opus`, `sonnet` or `haiku`, or the full id of a model.",
        examples=TIERS,
        inherits=("purpose",),
    ),
    Key("provider", Type.TEXT, "Provider that runs the assistant.", default="claude-code", choices=PROVIDERS),
    Key(
        "permissionMode",
        Type.TEXT,
        "What the assistant may do without asking. A loop never asks, whatever this is set to.",
        default="default",
        choices=PERMISSIONS,
    ),
    Key("allowedTools", Type.TEXTS, "Tools it may use. `Read`, `WebSearch` and `WebFetch` are always included."),
    Key(
        "skills",
        Type.TEXTS,
        "Skills of the assistant: it gets `skills/NAME/SKILL.md` of each after its persona.",
        offers="skills",
        reference=_EXTENSION,
    ),
    Key(
        "servers",
        Type.TEXTS,
        "MCP servers of the settings whose tools the assistant may use.",
        offers="servers",
        reference=_EXTENSION,
    ),
    Key(
        "memory",
        Type.TEXT,
        "Markdown file in the workspace that keeps what the assistant has learned. Every iteration gets it; after "
        f"each one a model call rewrites it, with at most {MOST_MEMORY:,} characters.",
        examples=("memory/fixer.md",),
        reference=_EXTENSION,
    ),
    Key(
        "memoryEnabled",
        Type.BOOLEAN,
        "Used by RondoFlow, which keeps memories in its database; has no effect in loop-ls, where `memory` names "
        "a file.",
        default="false",
    ),
    Key("maxBudgetUsd", Type.NUMBER, "Maximum cost of one iteration, in US dollars.", minimum=0),
    Key(
        "id",
        Type.TEXT,
        "Id of the loop for commands and other programs.",
        default="derived from the name",
        reference=_EXTENSION,
    ),
    Key("loopEnabled", Type.BOOLEAN, "Whether the assistant may be started as a loop.", default="false"),
    Key("loopCriteria", Type.BLOCK, CRITERIA.text, shape=CRITERIA),
    Key(
        "maxIterations",
        Type.INTEGER,
        "Maximum iterations.",
        default=str(DEFAULT_ITERATIONS),
        minimum=1,
        maximum=MOST_ITERATIONS,
    ),
    Key(
        "approvalTimeoutSeconds",
        Type.NUMBER,
        "How long to wait for an approval; after that it counts as rejected.",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key(
        "maxTotalBudgetUsd",
        Type.NUMBER,
        "Maximum cost of the whole loop, in US dollars.",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key("maxDurationSeconds", Type.NUMBER, "Time limit of the whole loop.", minimum=0, reference=_EXTENSION),
    Key(
        "stallAfter",
        Type.INTEGER,
        "Pauses the loop after this many iterations with the same learnings.",
        minimum=1,
        reference=_EXTENSION,
    ),
    Key("retry", Type.BLOCK, RETRY.text, shape=RETRY, reference=_EXTENSION),
    isolate_key("The loop works", _EXTENSION),
)

_WORDS = {
    **dict.fromkeys(("prompt", "system", "systemPrompt", "system_prompt", "instructions"), "persona"),
    **dict.fromkeys(("criteria", "criterion", "until"), "loopCriteria"),
    **dict.fromkeys(("enabled", "loop"), "loopEnabled"),
    **dict.fromkeys(("iterations", "maxRounds"), "maxIterations"),
    **dict.fromkeys(("budget", "maxBudget", "budgetUsd"), "maxBudgetUsd"),
    **dict.fromkeys(("memoryFile", "memory_file", "memories"), "memory"),
    **dict.fromkeys(("mcpServers", "mcp_servers", "mcp"), "servers"),
    "tools": "allowedTools",
}

ASSISTANT = shape(
    "assistant",
    "an assistant",
    "One assistant: its persona, and how it is repeated until its work is done.",
    *_KEYS,
    wrong=camel_advice(_KEYS, **_WORDS),
)

#: A file is one assistant, or a list of them under this key and nothing else.
LIST = "assistants"

ASSISTANT_FILE = shape(
    "assistant file",
    "an assistant",
    ASSISTANT.text,
    *_KEYS,
    Key(
        LIST, Type.BLOCKS, "Several assistants in one file; no other top-level keys are allowed then.", shape=ASSISTANT
    ),
    wrong=camel_advice(_KEYS, agents=LIST, **_WORDS),
)

#: Every shape by name, for completion, hover and the schema.
ASSISTANT_SHAPES: dict[str, Shape] = {one.name: one for one in (ASSISTANT_FILE, ASSISTANT, CRITERIA, RETRY)}
