"""Shows runs in the editor: notifications, progress, lenses, run diagnostics. Decides nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from loop_ls.server.runs.approvals import Approvals
from loop_ls.server.runs.enhance_session import Rounds
from loop_ls.server.runs.labels import worded
from loop_ls.server.runs.progress import RunProgress
from loop_ls.server.runs.text_throttle import TextFeed
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from pathlib import Path

    from loop_ls.server.runs.context import RunAccess, RunContext
    from loop_ls.server.runs.run_record import RunRecord

logger = logging.getLogger(__name__)

EVENT = "loopLs/event"
RUN = "loopLs/run"
ENGINE = "loopLs/engine"
VIEW = "loopLs/view"


class RunNotifier:
    """Everything that an editor is told of runs."""

    def __init__(self, context: RunContext, runs: RunAccess) -> None:
        self._session, self._client = context.session, context.client
        self._tasks, self._publisher, self._refresh = context.tasks, context.publisher, context.refresh
        self._texts = TextFeed(lambda event: context.client.notify(EVENT, event))
        self._progress: dict[str, RunProgress] = {}
        self._approvals = Approvals(context, runs)
        self._rounds = Rounds(context, runs)
        self._engines: dict[Path, bool] = {}

    def text(self, record: RunRecord, event: JsonObject) -> None:
        self._texts.add(event)

    def fact(self, record: RunRecord, fact: JsonObject) -> None:
        self._texts.push(record.run_id)
        if fact.get("kind") == "round_started" and (opened := self._session.open.get(record.key)):
            record.place(opened)  # what a round says is about the text that it runs
        self._client.notify(EVENT, fact)

    def view(self, record: RunRecord) -> None:
        """What is new in a view that the client looks at."""
        shown = record.shown
        if shown is not None and record.last_seq > shown:
            record.shown = record.last_seq
            patch = record.folded.patch(shown)
            self._client.notify(VIEW, {"runId": record.run_id, "after": shown, **patch})

    def state(self, record: RunRecord) -> None:
        """The folded state is as new as the facts."""
        self._client.notify(RUN, worded(record.state, record.view()))
        self._show_progress(record)
        self._approvals.look(record)
        self._rounds.look(record)
        opened = self._session.open.get(record.key)
        if opened is not None:
            self._publisher.publish_runs(opened)
            self._refresh.runs(begun_or_ended=record.ended or record.last_seq <= 1)

    def other(self, state: JsonObject) -> None:
        """The state of a run that concerns no document here: for lists."""
        self._client.notify(RUN, worded(state))

    def deleted(self, run_id: str, record: RunRecord | None) -> None:
        """A run was removed from the record; `record` is what was shown of it."""
        if record is not None or self._session.lists_runs:
            self._client.notify(EVENT, {"runId": run_id, "kind": "deleted"})
        if record is None:
            return
        if (opened := self._session.open.get(record.key)) is not None:
            self._publisher.publish_runs(opened)
        self._refresh.runs(begun_or_ended=True)

    def engine(self, root: Path, running: bool) -> None:
        """The engine is there, or has been away for a while; only for clients that list runs."""
        if self._session.lists_runs and self._engines.get(root) is not running:
            self._engines[root] = running
            self._client.notify(ENGINE, {"root": str(root), "running": running})

    def lost(self, records: Iterable[RunRecord]) -> None:
        """The engine is gone and did not come back at once."""
        for record in records:
            record.state = {**record.state, "status": "interrupted", "reason": "engine_restart"}
            self._client.notify(RUN, worded(record.state, record.view()))
            if progress := self._progress.pop(record.run_id, None):
                progress.end("interrupted: lost the connection to the engine")
        self._refresh.runs()

    def close(self) -> None:
        self._texts.close()
        self._approvals.close()
        self._rounds.close()

    def _show_progress(self, record: RunRecord) -> None:
        progress = self._progress.get(record.run_id)
        if progress is not None:
            progress.update()
            if record.ended:
                del self._progress[record.run_id]
        elif self._client.facts.progress and not record.ended:
            self._progress[record.run_id] = RunProgress(self._client, self._tasks, record)
