"""The one table of keys of an assistant file: names as on the wire."""

from __future__ import annotations

from loop_ls.formats.common.case_advice import camel_advice
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

_EXTENSION = "An extension of loop-ls."


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
        "With `regex` the pattern, looked for anywhere in the output, letter case ignored. With `test_pass` the "
        "command, split at blanks and started without a shell; exit status 0 ends the loop. The others take none.",
        examples=("DONE|COMPLETE", "npm test"),
    ),
    Key(
        "argv", Type.TEXTS, "The exact words of the command of `test_pass`, in place of `value`.", reference=_EXTENSION
    ),
    Key(
        "timeoutSeconds",
        Type.NUMBER,
        "How long the command may run; one that takes longer did not succeed.",
        default="60",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key("cwd", Type.TEXT, "The folder in which the command runs.", default="the workspace", reference=_EXTENSION),
    Key(
        "includeOutput",
        Type.BOOLEAN,
        "Hands the end of the command's output to the next iteration.",
        default="false",
        reference=_EXTENSION,
    ),
    Key(
        "lastLine",
        Type.BOOLEAN,
        "Looks for the pattern of `regex` on the last line of the output only, where an agent says its last word.",
        default="false",
        reference=_EXTENSION,
    ),
    Key(
        "inARow",
        Type.INTEGER,
        "How many iterations in a row have to meet the pattern or pass the command before the loop ends.",
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
    Key("attempts", Type.INTEGER, "How often an iteration is tried again.", default="0", minimum=0),
    Key("backoffSeconds", Type.NUMBER, "How long to wait before the next try.", default="0", minimum=0),
)
RETRY = shape(
    "retry",
    "`retry`",
    "Tries an iteration again after a failure that may pass. It does not use up an iteration.",
    *_RETRY_KEYS,
    wrong=camel_advice(_RETRY_KEYS),
)

_KEYS = (
    Key("name", Type.TEXT, "What the assistant is called, in at most 100 characters.", required=True),
    Key("persona", Type.TEXT, "The system prompt: who the assistant is and how it works.", required=True),
    Key("description", Type.TEXT, "What the assistant is for, in a line."),
    Key(
        "purpose",
        Type.TEXT,
        "What kind of work it does. Settles the model where `model` does not.",
        choices=PURPOSES,
    ),
    Key(
        "model",
        Type.TEXT,
        "`opus`, `sonnet` or `haiku`, or the full id of a model.",
        examples=TIERS,
        inherits=("purpose",),
    ),
    Key("provider", Type.TEXT, "Who runs the assistant.", default="claude-code", choices=PROVIDERS),
    Key(
        "permissionMode",
        Type.TEXT,
        "What the assistant may do without asking. A loop asks nobody, whatever stands here.",
        default="default",
        choices=PERMISSIONS,
    ),
    Key("allowedTools", Type.TEXTS, "The tools it may use. `Read`, `WebSearch` and `WebFetch` are always among them."),
    Key(
        "memoryEnabled",
        Type.BOOLEAN,
        "Kept for RondoFlow, which keeps memories in its database; a file has none, so here it adds nothing.",
        default="false",
    ),
    Key("maxBudgetUsd", Type.NUMBER, "The most that one iteration may cost, in US dollars.", minimum=0),
    Key(
        "id",
        Type.TEXT,
        "How the loop is found by commands and other programs.",
        default="made from the name",
        reference=_EXTENSION,
    ),
    Key("loopEnabled", Type.BOOLEAN, "Whether the assistant may be started as a loop.", default="false"),
    Key("loopCriteria", Type.BLOCK, CRITERIA.text, shape=CRITERIA),
    Key(
        "maxIterations",
        Type.INTEGER,
        "The loop ends after this many iterations in any case.",
        default=str(DEFAULT_ITERATIONS),
        minimum=1,
        maximum=MOST_ITERATIONS,
    ),
    Key(
        "approvalTimeoutSeconds",
        Type.NUMBER,
        "How long an approval is waited for; then it counts as a no.",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key(
        "maxTotalBudgetUsd",
        Type.NUMBER,
        "The most that the whole loop may cost, in US dollars.",
        minimum=0,
        reference=_EXTENSION,
    ),
    Key("maxDurationSeconds", Type.NUMBER, "How long the whole loop may take.", minimum=0, reference=_EXTENSION),
    Key(
        "stallAfter",
        Type.INTEGER,
        "Pauses the loop after this many iterations that learned the same.",
        minimum=1,
        reference=_EXTENSION,
    ),
    Key("retry", Type.BLOCK, RETRY.text, shape=RETRY, reference=_EXTENSION),
)

_WORDS = {
    **dict.fromkeys(("prompt", "system", "systemPrompt", "system_prompt", "instructions"), "persona"),
    **dict.fromkeys(("criteria", "criterion", "until"), "loopCriteria"),
    **dict.fromkeys(("enabled", "loop"), "loopEnabled"),
    **dict.fromkeys(("iterations", "maxRounds"), "maxIterations"),
    **dict.fromkeys(("budget", "maxBudget", "budgetUsd"), "maxBudgetUsd"),
    "tools": "allowedTools",
}

ASSISTANT = shape(
    "assistant",
    "an assistant",
    "One assistant: who it is, and how it is repeated until its work is done.",
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
    Key(LIST, Type.BLOCKS, "Several assistants in one file; then nothing else stands beside it.", shape=ASSISTANT),
    wrong=camel_advice(_KEYS, agents=LIST, **_WORDS),
)

#: Every shape by name, for completion, hover and the schema.
ASSISTANT_SHAPES: dict[str, Shape] = {one.name: one for one in (ASSISTANT_FILE, ASSISTANT, CRITERIA, RETRY)}
