"""The one table of keys and types of checks and test cases: names as promptfoo has them, where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from loop_ls.formats.checks.model import CheckType
from loop_ls.formats.common.key_table import Key, Type, shape
from loop_ls.text.record import equal_record

NEGATION: Final = "not-"
VERIFIERS, ASSERT, TESTS, WITHOUT = "verifiers", "assert", "tests", "without"

#: What the value of a type has to be; `""`: it has none.
ValueKind = Literal["text", "texts", "schema", "words", ""]


@equal_record
class TypeOfCheck:
    """One type of check. `text` is when it passes. `fields` are the keys that it alone looks at, and that not every
    check has; `needed` is one of them that has to be there, `one_of` those of which at least one has to."""

    text: str
    value: ValueKind = ""
    value_needed: bool = True
    fields: tuple[str, ...] = ()
    needed: str = ""
    one_of: tuple[str, ...] = ()
    of_run: bool = False


TYPES: Final[Mapping[CheckType, TypeOfCheck]] = MappingProxyType(
    {
        "equals": TypeOfCheck("the output equals the value, ignoring surrounding whitespace", "text"),
        "contains": TypeOfCheck("the output contains the value", "text"),
        "icontains": TypeOfCheck("the output contains the value, ignoring case", "text"),
        "starts-with": TypeOfCheck("the output starts with the value", "text"),
        "contains-all": TypeOfCheck("the output contains all of the values", "texts"),
        "contains-any": TypeOfCheck("the output contains at least one of the values", "texts"),
        "regex": TypeOfCheck("the pattern matches the output, within a time limit", "text"),
        "is-json": TypeOfCheck(
            "the whole output is JSON, and matches the JSON Schema if there is one", "schema", False
        ),
        "contains-json": TypeOfCheck(
            "part of the output is JSON, and matches the schema if there is one", "schema", False
        ),
        "number": TypeOfCheck(
            "the output, or the field of its JSON that `path` names, is a number in range",
            fields=("path", "min", "max", "equals"),
            one_of=("min", "max", "equals"),
        ),
        "llm-rubric": TypeOfCheck(
            "a model judges that the output meets the rubric, with a score of at least `threshold`",
            "text",
            fields=("threshold", "provider", "model", "votes"),
        ),
        "command": TypeOfCheck(
            "the command exits with status 0; it gets the output on standard input and runs without a shell",
            "words",
            fields=("timeout",),
        ),
        "cost": TypeOfCheck(
            "the run costs at most `threshold` dollars", fields=("threshold",), needed="threshold", of_run=True
        ),
        "latency": TypeOfCheck(
            "the run takes at most `threshold` milliseconds", fields=("threshold",), needed="threshold", of_run=True
        ),
    }
)
#: Types of promptfoo that are not there, with what to use.
REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("javascript", "python", "similar", "webhook", "ruby"), "command"),
        **dict.fromkeys(("contains-all-of", "icontains-all"), "contains-all"),
        **dict.fromkeys(("icontains-any",), "contains-any"),
        **dict.fromkeys(("model-graded-closedqa", "g-eval", "factuality"), "llm-rubric"),
    }
)
NAMES_OF_TYPES: Final = (*TYPES, *(f"{NEGATION}{one}" for one in TYPES))
#: Keys that only some types look at.
SPECIAL: Final = frozenset(name for one in TYPES.values() for name in one.fields) | {"value"}


def taken_apart(written: str) -> tuple[CheckType, bool] | None:
    """A type as it is written, and whether it is negated; None: there is no such type."""
    bare = written.removeprefix(NEGATION)
    known = next((one for one in TYPES if one == bare), None)
    return None if known is None else (known, bare != written)


CHECK = shape(
    "check",
    "a check",
    "One condition that the result, a step, a loop or the run must meet.",
    Key("name", Type.TEXT, "Name of the check in reports. Default: its type."),
    Key(
        "type",
        Type.TEXT,
        "Type of check. The prefix `not-` inverts it.",
        required=True,
        choices=NAMES_OF_TYPES,
    ),
    Key(
        "value",
        Type.ANY,
        "What to compare with, depending on the type: a string, a list of strings, the arguments of a "
        "command, a JSON Schema.",
        interpolated=True,
    ),
    Key(
        "on",
        Type.TEXT,
        "What it looks at: `result`, `step.NAME` (`stage.NAME` in a role loop), `loop.NAME` or `run`.",
        default="result",
        examples=("result", "step.draft", "stage.coder", "loop.develop", "run"),
    ),
    Key("every", Type.BOOLEAN, "Checks each iteration of the loop, not only the last output.", default="false"),
    Key("path", Type.TEXT, "Field of the JSON output that holds the number: `score`, `scores.0.value`."),
    Key("min", Type.NUMBER, "Minimum that passes."),
    Key("max", Type.NUMBER, "Maximum that passes."),
    Key("equals", Type.NUMBER, "Exact number that passes."),
    Key(
        "threshold",
        Type.NUMBER,
        "Minimum score of a rubric (0 to 1), maximum dollars of `cost`, maximum milliseconds of `latency`.",
        minimum=0,
    ),
    Key("provider", Type.TEXT, "Provider that judges the rubric. Default: the judge of `until`.", offers="providers"),
    Key("model", Type.TEXT, "The model that judges the rubric.", offers="models"),
    Key(
        "votes",
        Type.INTEGER,
        "How often the rubric is judged, 1 or 3 times; the majority counts.",
        default="1",
        minimum=1,
        maximum=3,
    ),
    Key("timeout", Type.DURATION, "Timeout of the command.", default="60s", positive=True),
    Key("weight", Type.NUMBER, "Weight of the check in the score.", default="1", minimum=0),
    Key(
        "severity",
        Type.TEXT,
        "`warn`: a failure is reported, but does not fail the run.",
        default="error",
        choices=("error", "warn"),
    ),
    Key("hint", Type.TEXT, "What the planner of an enhance loop sees if the check fails."),
    Key("reveal", Type.BOOLEAN, "Also shows the value to the planner.", default="false"),
    Key(
        "optional",
        Type.BOOLEAN,
        "Ignores a step that was skipped. Otherwise the check fails there.",
        default="false",
    ),
)

CHECKS_FILE = shape(
    "checks file",
    "a checks file",
    "Checks for the loop file next to it.",
    Key(VERIFIERS, Type.TEXTS, "Steps or stages whose answer begins with PASS or FAIL.", offers="elements"),
    Key(ASSERT, Type.BLOCKS, "The checks.", shape=CHECK),
)

CASE = shape(
    "case",
    "a test case",
    "One input to test the loop file with.",
    Key("name", Type.TEXT, "Name of the test case, in reports and for `-k`.", required=True),
    Key(
        "vars",
        Type.ARGUMENTS,
        "`input` is the text that the run is started with; the others are parameters. `file://PATH` reads a file.",
    ),
    Key(
        ASSERT,
        Type.BLOCKS,
        "Checks of this test case only. A check with the name of a general one replaces it.",
        shape=CHECK,
    ),
    Key(WITHOUT, Type.TEXTS, "Names of checks that do not apply to this test case."),
    Key(
        "holdout",
        Type.BOOLEAN,
        "Hides the test case from the planner of an enhance loop, and tests the result with it.",
    ),
    Key("skip", Type.TEXT, "Skips the test case; the value is the reason."),
)

CASES_FILE = shape(
    "cases file",
    "a cases file",
    "Test inputs for the loop file next to it.",
    Key(TESTS, Type.BLOCKS, "The test cases.", required=True, shape=CASE),
)
