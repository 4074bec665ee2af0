"""The lens that opens a run, wherever one is shown: its transcript, or a client's own view of it.

It is the second of its line: in a split editor the last ones are cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.features.answers import Command, Lens, ShownRun
from loop_ls.text.position import Span


def with_look(found: Iterable[Lens], span: Span, run: ShownRun) -> Iterator[Lens]:
    """The lenses of one line, with the one that opens the run behind the first, or behind what a person may decide."""
    lenses = list(found)
    decisions = sum(one.command is not None and one.command.name == "loopLs.approve" for one in lenses)
    place = max(1, decisions)
    look = Lens(span, "Open run", Command("loopLs.history", {"runId": run.run_id, "show": True}))
    yield from (*lenses[:place], look, *lenses[place:])
