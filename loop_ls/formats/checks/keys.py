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
        "equals": TypeOfCheck("the output is the value, blanks around it left out", "text"),
        "contains": TypeOfCheck("the value stands in the output", "text"),
        "icontains": TypeOfCheck("the value stands in the output, letter case ignored", "text"),
        "starts-with": TypeOfCheck("the output begins with the value", "text"),
        "contains-all": TypeOfCheck("each of the values stands in the output", "texts"),
        "contains-any": TypeOfCheck("one of the values stands in the output", "texts"),
        "regex": TypeOfCheck("the pattern is found in the output, within a limit of time", "text"),
        "is-json": TypeOfCheck("the whole output is JSON, and fits the JSON Schema if there is one", "schema", False),
        "contains-json": TypeOfCheck(
            "a part of the output is JSON, and fits the schema if there is one", "schema", False
        ),
        "number": TypeOfCheck(
            "the output, or the field of its JSON that `path` names, is a number in range",
            fields=("path", "min", "max", "equals"),
            one_of=("min", "max", "equals"),
        ),
        "llm-rubric": TypeOfCheck(
            "a model says that the output meets the rubric, with a score of at least `threshold`",
            "text",
            fields=("threshold", "provider", "model", "votes"),
        ),
        "command": TypeOfCheck(
            "the command ends with status 0; it gets the output as its input, and no shell runs it",
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
    "One thing that has to hold of the result, of a step, of a loop or of the run.",
    Key("name", Type.TEXT, "What the check is called in reports. Without it, its type."),
    Key(
        "type",
        Type.TEXT,
        "What is compared. `not-` in front turns it around.",
        required=True,
        choices=NAMES_OF_TYPES,
    ),
    Key(
        "value",
        Type.ANY,
        "What its type compares with: a text, a list of texts, the words of a command, a JSON Schema.",
        interpolated=True,
    ),
    Key(
        "on",
        Type.TEXT,
        "What it looks at: `result`, `step.NAME` (`stage.NAME` in a role loop), `loop.NAME` or `run`.",
        default="result",
        examples=("result", "step.draft", "stage.coder", "loop.develop", "run"),
    ),
    Key("every", Type.BOOLEAN, "Looks at each iteration of the loop, not only at its end.", default="false"),
    Key("path", Type.TEXT, "The field of the output's JSON in which the number stands: `score`, `scores.0.value`."),
    Key("min", Type.NUMBER, "The least number that passes."),
    Key("max", Type.NUMBER, "The greatest number that passes."),
    Key("equals", Type.NUMBER, "The number that passes."),
    Key(
        "threshold",
        Type.NUMBER,
        "The least score of a rubric (0 to 1), the most dollars of `cost`, the most milliseconds of `latency`.",
        minimum=0,
    ),
    Key("provider", Type.TEXT, "Who judges the rubric. Without it, who judges `until`.", offers="providers"),
    Key("model", Type.TEXT, "The model that judges the rubric.", offers="models"),
    Key(
        "votes",
        Type.INTEGER,
        "How often the rubric is judged, 1 or 3 times; most votes count.",
        default="1",
        minimum=1,
        maximum=3,
    ),
    Key("timeout", Type.DURATION, "How long the command may run.", default="60s", positive=True),
    Key("weight", Type.NUMBER, "How much it counts in the score.", default="1", minimum=0),
    Key(
        "severity",
        Type.TEXT,
        "`warn`: it is told when it fails, and fails nothing.",
        default="error",
        choices=("error", "warn"),
    ),
    Key("hint", Type.TEXT, "What the planner of an enhance loop is told when it fails."),
    Key("reveal", Type.BOOLEAN, "Shows the planner the value, too.", default="false"),
    Key(
        "optional",
        Type.BOOLEAN,
        "Passes over a step that was skipped. Without it the check fails there.",
        default="false",
    ),
)

CHECKS_FILE = shape(
    "checks file",
    "a checks file",
    "What has to hold of the loop file beside it.",
    Key(VERIFIERS, Type.TEXTS, "Steps or stages whose answer begins with PASS or FAIL.", offers="elements"),
    Key(ASSERT, Type.BLOCKS, "The checks.", shape=CHECK),
)

CASE = shape(
    "case",
    "a test case",
    "One input that the loop file is tested with.",
    Key("name", Type.TEXT, "What the case is called, in reports and for `-k`.", required=True),
    Key(
        "vars",
        Type.ARGUMENTS,
        "`input` is the text that the run is started with; the others are parameters. `file://PATH` reads a file.",
    ),
    Key(ASSERT, Type.BLOCKS, "Checks of this case alone. One with the name of another takes its place.", shape=CHECK),
    Key(WITHOUT, Type.TEXTS, "Names of checks of the file that do not hold for this case."),
    Key("holdout", Type.BOOLEAN, "Keeps the case from the planner of an enhance loop, and tests the result with it."),
    Key("skip", Type.TEXT, "Leaves the case out; the value is the reason."),
)

CASES_FILE = shape(
    "cases file",
    "a cases file",
    "The inputs that the loop file beside it is tested with.",
    Key(TESTS, Type.BLOCKS, "The test cases.", required=True, shape=CASE),
)
