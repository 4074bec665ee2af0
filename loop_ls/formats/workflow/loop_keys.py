"""The keys of a loop, at top level and inside a step."""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Type, shape
from loop_ls.formats.workflow import key_advice

_TEXT = "Runs another workflow repeatedly: `refine` until a condition is met, `iterate` once per item of a list."

_NAME = Key(
    "name",
    Type.TEXT,
    "The name of the loop. It becomes a variable with the final output.",
    required=True,
)

_KEYS = (
    Key(
        "workflow",
        Type.TEXT,
        "The workflow to repeat: its name, with its folder as a prefix if it is in one. Never a file name.",
        required=True,
        offers="workflows",
        reference="mcp-cli requires the full key here and never tries the folder of the caller.",
    ),
    Key(
        "mode",
        Type.TEXT,
        "`refine` repeats until the condition in `until` is met; `iterate` runs once per item in `items`.",
        default="refine",
        choices=("refine", "iterate"),
    ),
    Key(
        "items",
        Type.TEXT,
        "The list of items: a JSON array, one JSON value per line, plain lines, or `file://` and a path.",
        interpolated=True,
        unknown="fails",
        only_in="iterate",
        required_in="iterate",
    ),
    Key(
        "with",
        Type.ARGUMENTS,
        "Arguments: each key becomes a variable in the called workflow, evaluated again in every iteration.",
        interpolated=True,
        unknown="fails",
        offers="parameters",
        reference="mcp-cli passes all of them as lines of text in `{{input}}` instead.",
    ),
    Key(
        "max_iterations",
        Type.INTEGER,
        "Maximum iterations, even if the condition is not met. Typical limits are 3 for polishing, 5 for "
        "development, 10 for exploration. In `iterate`, the maximum number of items.",
        required=True,
        minimum=1,
    ),
    Key(
        "until",
        Type.TEXT,
        "The condition that ends the loop, in plain language. After every iteration a model sees it together with the "
        "output and answers YES or NO. Name a text, number or fact to look for, without variables.",
        interpolated=True,
        unknown="not met",
        only_in="refine",
        required_in="refine",
        reference="mcp-cli shows the judge only the first 2000 bytes of the output.",
    ),
    Key(
        "on_failure",
        Type.TEXT,
        "What happens when an iteration fails: `halt` fails the workflow, `continue` starts the next "
        "iteration, `retry` repeats the same one.",
        default="halt",
        choices=("halt", "continue", "retry"),
        reference="mcp-cli uses `continue` if the key is missing.",
    ),
    Key(
        "max_retries",
        Type.INTEGER,
        "Maximum retries of a failed iteration with `on_failure: retry` before the loop halts.",
        default="3 with `on_failure: retry`",
        minimum=0,
        reference="mcp-cli rejects `retry` without this number and, in refine mode, ignores it.",
    ),
    Key(
        "retry_delay",
        Type.DURATION,
        "Wait before a failed iteration is repeated.",
        default="none",
        positive=True,
        reference="mcp-cli waits in iterate mode only.",
    ),
    Key(
        "min_success_rate",
        Type.NUMBER,
        "Minimum fraction of items that must succeed, from 0 to 1. Otherwise the workflow fails.",
        default="0",
        minimum=0,
        maximum=1,
        only_in="iterate",
        reference="mcp-cli only logs it.",
    ),
    Key(
        "timeout_per_item",
        Type.DURATION,
        "Timeout of one iteration. After that it is stopped and counts as failed.",
        default="none",
        positive=True,
        reference="mcp-cli does not enforce it.",
    ),
    Key(
        "total_timeout",
        Type.DURATION,
        "Time limit of the whole loop. After that the loop ends and the workflow fails.",
        default="none",
        positive=True,
        reference="mcp-cli does not enforce it.",
    ),
    Key(
        "accumulate",
        Type.TEXT,
        "Name of a variable for the outputs of all iterations, joined by `---`.",
        reference="mcp-cli adds line breaks around `---`, and does not set it in parallel iterate loops.",
    ),
    Key(
        "parallel",
        Type.BOOLEAN,
        "Processes several items at the same time. Ignored in a refine loop, which has no items.",
        default="false",
        only_in="iterate",
        reference="In refine mode mcp-cli starts all iterations at once and never checks the condition.",
    ),
    Key(
        "max_workers",
        Type.INTEGER,
        "How many items are processed at the same time with `parallel: true`.",
        default="3",
        minimum=1,
        maximum=100,
        only_in="iterate",
        reference="mcp-cli requires it for a loop inside a step with `parallel: true`.",
    ),
)

#: An entry of `loops`.
LOOP = shape("loop", "a loop", _TEXT, _NAME, *_KEYS, wrong=key_advice.TOP_LOOP, closed=True)

#: The value of `loop` in a step: it takes name, `needs` and `if` of the step.
STEP_LOOP = shape("step loop", "a loop inside a step", _TEXT, *_KEYS, wrong=key_advice.STEP_LOOP, closed=True)
