"""Cache of run views: only facts that are new since the last question are read for the next one.

Of texts the beginnings are kept, so that the views of long runs stay small.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable

from loop_ls.contract.answers import EventPage, Refusal
from loop_ls.contract.run_view.fold import RunView
from loop_ls.text.json_value import int_field

#: Runs whose views are kept, characters of a text, and facts that are read at once: others are answered in between.
RUNS, KEEP, FACTS = 16, 200, 200
Events = Callable[[str, int, int], Awaitable[EventPage | Refusal]]


class KeptViews:
    """`events(run_id, after, limit)` -> `{ok, events}` reads facts in order."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._views: OrderedDict[str, RunView] = OrderedDict()

    async def of(self, run_id: str) -> RunView:
        """The view of a run as it is now; `run_id` is its whole id."""
        view = self._views.pop(run_id, None) or RunView(KEEP)
        while True:
            after = view.seq
            page = await self._events(run_id, after, FACTS)
            for event in page["events"] if page["ok"] else ():
                if (int_field(event, "seq") or 0) > view.seq:  # somebody else may have asked for the same meanwhile
                    view.take(event)
            if view.seq == after:
                break
        self._views[run_id] = view
        while len(self._views) > RUNS:
            self._views.popitem(last=False)
        return view

    def forget(self, run_id: str) -> None:
        """A run that is deleted may come back with other facts."""
        self._views.pop(run_id, None)
