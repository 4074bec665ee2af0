"""Which variable an argument wants, judged by its name alone: `previous_draft` is the output before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loop_ls.index.scope import Variable

#: Words of an argument's name, and the loop variable that they ask for.
_WORDS = (
    (("history", "attempts", "far", "versions", "drafts"), ("loop.history",)),
    (("previous", "last", "prior", "before", "feedback", "critique", "current"), ("loop.last.output", "loop.current")),
    (("iteration", "round", "attempt", "turn"), ("loop.iteration", "loop.index")),
    (("item", "row", "record", "element", "entry", "line"), ("loop.current",)),
    (("index", "position", "number"), ("loop.index", "loop.iteration")),
    (("count", "total"), ("loop.count",)),
)
_LIKE_INPUT = frozenset(("input", "task", "request", "topic", "question", "subject", "goal", "prompt", "problem"))


def best_fit(name: str, variables: Sequence[Variable]) -> Variable | None:
    """The same name, else the meaning of its words, else a result that shares a word with it."""
    by_name = {variable.name: variable for variable in variables}
    for same in (name, f"env.{name}", f"env.{name.upper()}"):
        if same in by_name and by_name[same].kind != "argument":
            return by_name[same]
    if name in by_name:
        return by_name[name]
    words = _words(name)
    for asked, wanted in _WORDS:
        if any(word in asked for word in words):
            found = next((by_name[one] for one in wanted if one in by_name), None)
            if found is not None:
                return found
    shared = [one for one in variables if one.kind in ("result", "accumulate", "env") and words & _words(one.name)]
    if shared:
        return shared[0]
    return by_name.get("input") if words & _LIKE_INPUT else None


def _words(name: str) -> set[str]:
    """The words of a name, each with and without its plural."""
    words = {word for word in re.split(r"[\W_]+", name.lower()) if word}
    return words | {word.removesuffix("s") for word in words if len(word) > 3}
