"""The keys of a loop, at top level and inside a step."""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Type, shape
from loop_ls.formats.workflow import key_advice

_TEXT = (
    "Runs another workflow again and again: `refine` until a condition holds, `iterate` once for every item of a list."
)

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
        "The key of the workflow to repeat: its name, with its folder in front when it lies in one. Never a file name.",
        required=True,
        offers="workflows",
        reference="mcp-cli wants the whole key here and never tries the folder of the caller.",
    ),
    Key(
        "mode",
        Type.TEXT,
        "`refine` repeats until the condition in `until` holds; `iterate` runs once for every item in `items`.",
        default="refine",
        choices=("refine", "iterate"),
    ),
    Key(
        "items",
        Type.TEXT,
        "The list to go through: a JSON array, one JSON value per line, plain lines, or `file://` and a path.",
        interpolated=True,
        unknown="fails",
        only_in="iterate",
        required_in="iterate",
    ),
    Key(
        "with",
        Type.ARGUMENTS,
        "Arguments: every key becomes a variable of that name in the called workflow, filled anew in every iteration.",
        interpolated=True,
        unknown="fails",
        offers="parameters",
        reference="mcp-cli puts all of them as lines of text into `{{input}}` instead.",
    ),
    Key(
        "max_iterations",
        Type.INTEGER,
        "The loop ends after this many iterations, whatever the condition says. 3 suits polishing, 5 development, "
        "10 exploration. In `iterate` it is the largest number of items.",
        required=True,
        minimum=1,
    ),
    Key(
        "until",
        Type.TEXT,
        "The condition that ends the loop, in plain language. After every iteration a model sees it together with the "
        "output and answers YES or NO. Name a text, number or fact to look for, and no variable.",
        interpolated=True,
        unknown="not met",
        only_in="refine",
        required_in="refine",
        reference="mcp-cli shows the judge only the first 2000 bytes of the output.",
    ),
    Key(
        "on_failure",
        Type.TEXT,
        "What happens when an iteration fails: `halt` fails the workflow, `continue` goes on with the next iteration, "
        "`retry` repeats the same one.",
        default="halt",
        choices=("halt", "continue", "retry"),
        reference="mcp-cli acts as `continue` when the key is absent.",
    ),
    Key(
        "max_retries",
        Type.INTEGER,
        "How often a failed iteration is repeated under `on_failure: retry` before the loop halts.",
        default="3 with `on_failure: retry`",
        minimum=0,
        reference="mcp-cli refuses `retry` without this number and, in refine mode, then ignores it.",
    ),
    Key(
        "retry_delay",
        Type.DURATION,
        "How long to wait before a failed iteration is repeated.",
        default="none",
        positive=True,
        reference="mcp-cli waits in iterate mode only.",
    ),
    Key(
        "min_success_rate",
        Type.NUMBER,
        "The share of items that has to succeed, from 0 to 1. Below it the workflow fails.",
        default="0",
        minimum=0,
        maximum=1,
        only_in="iterate",
        reference="mcp-cli only writes a line into its log.",
    ),
    Key(
        "timeout_per_item",
        Type.DURATION,
        "How long one iteration may take. After that it is ended and counts as failed.",
        default="none",
        positive=True,
        reference="mcp-cli does not enforce it.",
    ),
    Key(
        "total_timeout",
        Type.DURATION,
        "How long the whole loop may take. After that the loop ends and the workflow fails.",
        default="none",
        positive=True,
        reference="mcp-cli does not enforce it.",
    ),
    Key(
        "accumulate",
        Type.TEXT,
        "The name of a variable that receives the outputs of all iterations, joined by `---`.",
        reference="mcp-cli joins with line breaks around `---` and forgets it in parallel iterate loops.",
    ),
    Key(
        "parallel",
        Type.BOOLEAN,
        "Works on several items at the same time. A refine loop has no items and ignores it.",
        default="false",
        only_in="iterate",
        reference="In refine mode mcp-cli starts every iteration at once and never asks the condition.",
    ),
    Key(
        "max_workers",
        Type.INTEGER,
        "How many items are worked on at the same time with `parallel: true`.",
        default="3",
        minimum=1,
        maximum=100,
        only_in="iterate",
        reference="mcp-cli demands it for a loop inside a step with `parallel: true`.",
    ),
)

#: An entry of `loops`.
LOOP = shape("loop", "a loop", _TEXT, _NAME, *_KEYS, wrong=key_advice.TOP_LOOP, closed=True)

#: The value of `loop` in a step: it takes name, `needs` and `if` of the step.
STEP_LOOP = shape("step loop", "a loop inside a step", _TEXT, *_KEYS, wrong=key_advice.STEP_LOOP, closed=True)
