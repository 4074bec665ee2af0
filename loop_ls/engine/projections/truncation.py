"""Answers made smaller for readers that show lists: how many at most, and long texts cut to their beginning.

What was cut says how long it was, so that nobody takes the beginning for the whole.
"""

from __future__ import annotations

from typing import TypeVar, cast

from loop_ls.contract.run_state import RunStateView

#: No answer holds more rows than this.
LIMIT = 1000
#: These say what something is, not what it holds: half of one would mean something else.
WHOLE = frozenset(
    {
        *("runId", "at", "kind", "place", "outputRef", "loop", "step", "stage", "file", "workflow", "uri", "path"),
        *("id", "loop_id", "name", "status", "verdict", "started_at", "completed_at"),
    }
)


T = TypeVar("T")


def limited(given: int | None, usual: int) -> int:
    """How many rows are given to somebody who asked for `given`."""
    return usual if given is None else max(1, min(given, LIMIT))


def cut(value: T, most: int | None) -> T:
    """The same with every text cut to `most` characters. An object whose texts were cut says in `lengths` how
    long each of them is; its own `cut` says that an answer ended at its length limit."""
    return value if most is None else cast("T", _cut(value, most))


def _cut(value: object, most: int) -> object:
    if isinstance(value, list):
        return [_cut(each, most) for each in value]
    if not isinstance(value, dict):
        return value
    texts = {name: each for name, each in value.items() if isinstance(each, str) and name not in WHOLE}
    long = {name: len(each) for name, each in texts.items() if len(each) > most}
    shorter = {name: each[:most] if name in long else _cut(each, most) for name, each in value.items()}
    return {**shorter, "lengths": long} if long else shorter


def short(state: RunStateView, most: int = 2000) -> RunStateView:
    """A state for a list: its last output is a taste."""
    output = state.get("lastOutput")
    if isinstance(output, str) and len(output) > most:
        state["lastOutput"] = output[: most - 1] + "…"
    return state
