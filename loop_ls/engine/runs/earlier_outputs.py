"""Reading the outputs of an earlier run from its facts."""

from __future__ import annotations

from loop_ls.engine.core.start_request import EarlierOutputs
from loop_ls.engine.journal import Journal

PAGE = 1000


async def earlier_outputs(journal: Journal, run_id: str) -> EarlierOutputs:
    found, after = EarlierOutputs(run_id), 0
    while True:
        page = await journal.facts(run_id, after, PAGE)
        for event in page.events:
            after = event.seq
            found.take(event.kind, dict(event.body))
        if not page.more:
            return found
