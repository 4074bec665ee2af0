"""Metrics of runs, kept between two questions: only facts that are new are read for the next one.

What a run was asked and answered is not kept: of each iteration and stage there is its status and its time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from loop_ls.engine.projections.history import IterationRows
from loop_ls.engine.projections.run_metrics import measured

Row = dict[str, Any]
#: Runs of which the metrics are kept, and facts that are read at once: others are answered in between.
RUNS, FACTS = 16, 200
#: What a fact says that is counted nowhere, and can be long.
_TEXTS = frozenset({"output", "answer", "condition", "interpolated", "files", "settings", "input", "message"})
Events = Callable[[str, int, int], Awaitable[Row]]


class KeptMetrics:
    """`events(run_id, after, limit)` -> `{ok, events}` reads facts in order."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._books: OrderedDict[str, IterationRows] = OrderedDict()

    async def of(self, state: Row, now: datetime) -> Row:
        """See `run_metrics.measured`."""
        run_id = str(state["runId"])
        rows_read = self._books.pop(run_id, None) or IterationRows(run_id)
        while True:
            after = rows_read.last_seq
            page = await self._events(run_id, after, FACTS)
            for event in page.get("events") or []:
                if event["seq"] > rows_read.last_seq:  # somebody else may have asked for the same meanwhile
                    rows_read.read({name: value for name, value in event.items() if name not in _TEXTS})
            if rows_read.last_seq == after:
                break
        self._books[run_id] = rows_read
        while len(self._books) > RUNS:
            self._books.popitem(last=False)
        return measured(state, rows_read, now)
