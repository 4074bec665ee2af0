"""Reading the outputs of an earlier run from its facts."""

from __future__ import annotations

from functools import reduce

from loop_ls.engine.core.start_request import EarlierOutputs
from loop_ls.engine.journal import Journal
from loop_ls.text.json_value import as_object, text_field

PAGE = 1000


async def earlier_outputs(journal: Journal, run_id: str) -> EarlierOutputs:
    """Also those that the run, if it was one of a part, could have taken from the run before it."""
    runs, seen, wanted = list[EarlierOutputs](), set[str](), run_id
    while wanted and wanted not in seen:
        seen.add(wanted)
        found, wanted = await _own_outputs(journal, wanted)
        runs.append(found)
    return reduce(lambda before, later: later.over(before), reversed(runs))


async def _own_outputs(journal: Journal, run_id: str) -> tuple[EarlierOutputs, str]:
    """With the run whose outputs this one used, if any."""
    found, after, before = EarlierOutputs(run_id), 0, ""
    while True:
        page = await journal.facts(run_id, after, PAGE)
        for event in page.events:
            after = event.seq
            found.take(event.kind, dict(event.body))
            if event.kind == "run_started":
                before = text_field(as_object(as_object(event.body.get("plan")).get("part")), "outputsOf")
        if not page.more:
            return found, before
