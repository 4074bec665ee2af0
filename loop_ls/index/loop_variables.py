"""What is called `loop.*`: where it exists, what it means, and what it is in the first iteration."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Where a loop variable is used. `callee`: anywhere in a workflow that a loop calls, outside of its
#: own loops; `after`: in a step behind a loop of the same file.
Where = Literal["with", "items", "until", "callee", "after"]


class LoopVariable(NamedTuple):
    """`meanings` by place; a place that is missing there does not have the variable. `first` is the
    value in iteration 1 as people would write it; None where it is not known beforehand."""

    name: str
    mode: Literal["refine", "iterate"]
    meanings: dict[Where, str]
    first: str | None = None


_BEFORE = "the output of the previous iteration"
_JOINED = "the outputs of all previous iterations, joined by ---"

REFINE = (
    LoopVariable(
        "loop.iteration",
        "refine",
        {
            "with": "the number of this iteration, from 1",
            "until": "the number of the iteration that is judged, from 1",
            "callee": "the number of this iteration, from 1",
            "after": "number of iterations",
        },
        "1",
    ),
    LoopVariable(
        "loop.last.output",
        "refine",
        {
            "with": _BEFORE,
            "until": "the output of the iteration before the one that is judged",
            "callee": _BEFORE,
        },
        "",
    ),
    LoopVariable(
        "loop.history",
        "refine",
        {
            "with": _JOINED,
            "until": "the outputs of all iterations so far, the one that is judged included, joined by ---",
            "callee": _JOINED,
        },
        "",
    ),
    LoopVariable(
        "loop.output",
        "refine",
        {
            "with": "the output of the previous iteration (this one has no output yet)",
            "until": "the output that is judged",
            "callee": _BEFORE,
            "after": "the final output of the loop",
        },
        "",
    ),
)

_SAME = "the position of the item in the list, from 0"
_COUNT = "number of items"
_CURRENT = "the item: text as it is, anything else as compact JSON"
_SUCCEEDED = "items that succeeded so far"
_FAILED = "items that failed so far"


def _inside(name: str, meaning: str, first: str | None = None) -> LoopVariable:
    return LoopVariable(name, "iterate", {"with": meaning, "callee": meaning}, first)


ITERATE = (
    _inside("loop.current", _CURRENT),
    _inside("loop.index", _SAME, "0"),
    _inside("loop.count", _COUNT),
    _inside("loop.stats.succeeded", _SUCCEEDED, "0"),
    _inside("loop.stats.failed", _FAILED, "0"),
    LoopVariable("loop.output", "iterate", {"after": "the output of the last item that succeeded"}),
    LoopVariable("loop.iterations", "iterate", {"after": "items that ran"}),
    LoopVariable("loop.succeeded", "iterate", {"after": "items that succeeded"}),
    LoopVariable("loop.failed", "iterate", {"after": "items that failed"}),
)

#: Names that some documents use while a loop goes on, and the real ones (WF507). They are filled in
#: all the same; `loop.succeeded` and `loop.failed` are real after the loop.
ALIASES = {
    "loop.item": "loop.current",
    "loop.total": "loop.count",
    "loop.succeeded": "loop.stats.succeeded",
    "loop.failed": "loop.stats.failed",
}


def variables_of(mode: Literal["refine", "iterate"], where: Where) -> tuple[LoopVariable, ...]:
    """The loop variables that exist at a place of a loop of this mode."""
    listed = REFINE if mode == "refine" else ITERATE
    return tuple(variable for variable in listed if where in variable.meanings)


#: Every name that is a loop variable somewhere.
NAMES = frozenset((*(v.name for v in REFINE), *(v.name for v in ITERATE), *ALIASES))
