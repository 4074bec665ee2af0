"""Listens to one engine for the editor: which runs concern it, their facts without gap or double.

A run concerns this client if it started it, or if it touches a file that is open here (UP-63: never
another's). Facts are numbered; whatever the connection does, the numbers decide what is new.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from loop_ls.server.documents import uris
from loop_ls.server.runs.engine_connection import EngineLink
from loop_ls.server.runs.foreign_runs import ForeignRuns
from loop_ls.server.runs.run_record import RunRecord
from loop_ls.text.json_value import JsonObject, int_field, plain_object

if TYPE_CHECKING:
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.runs.context import RunContext
    from loop_ls.server.runs.notifier import RunNotifier

logger = logging.getLogger(__name__)

#: Runs of the past that are looked at for an opened file.
_LAST_RUNS = 5
#: Seconds that an engine may be away before its runs are shown as interrupted.
_GONE_AFTER = 2.0


class RunWatch:
    """The runs of one root."""

    def __init__(self, context: RunContext, show: RunNotifier) -> None:
        self._session, self._tasks, self._show = context.session, context.tasks, show
        self.records: dict[str, RunRecord] = {}
        self._foreign: set[str] = set()
        self._others = ForeignRuns(context.session, context.tasks, show.other)
        self._refreshing: set[str] = set()
        self._gone: asyncio.TimerHandle | None = None

    async def listen(self, link: EngineLink) -> None:
        """Hear everything from here on; what was before is asked for (task of the link)."""
        client = link.client
        assert client is not None
        status = await client.engine_status()
        position = status["engine"]["position"] if status["ok"] else None
        await self.look_around(link)
        async for event in client.follow(after=position, on_connection=lambda there: self._connection(link, there)):
            try:
                await self._heard(link, event)
            except Exception:
                logger.exception(
                    "An event could not be handled: %s", {k: event.get(k) for k in ("runId", "seq", "kind")}
                )

    async def look_around(self, link: EngineLink, uri: str | None = None) -> None:
        """Find runs that go on, and the last ones of the open files (or of one that was opened now)."""
        client = link.client
        if client is None:
            return
        answer = await client.runs(uri=uri, limit=_LAST_RUNS if uri else 50)
        for state in map(plain_object, reversed(answer["runs"] if answer["ok"] else [])):
            run_id = str(state["runId"])
            if run_id not in self.records and self._opened(state) is not None:
                await self.track(link, run_id, state=state)

    async def track(
        self,
        link: EngineLink,
        run_id: str,
        state: JsonObject | None = None,
        opened: OpenDocument | None = None,
        shown: int | None = None,
    ) -> RunRecord:
        """Follow a run from its first fact on; `opened` is the document that we started it from, `shown` the fact up
        to which its view is shown already."""
        record = self.records.get(run_id)
        if record is None:
            record = self.records[run_id] = self._new(run_id)
        record.shown = record.shown if shown is None else shown
        self._foreign.discard(run_id)
        self._others.drop(run_id)
        if opened is not None:
            record.place(opened)
        elif state is not None:
            self._place(record, state)
        await self._catch_up(link, record)
        return record

    def look_at(self, link: EngineLink, run_id: str, shown: int | None) -> None:
        """Somebody looks at a run: tell all that comes, and what is new in its view after fact `shown`."""
        record = self.records.get(run_id)
        if record is None:
            self._tasks.start(self.track(link, run_id, shown=shown), "an open run")
        elif shown is not None:
            record.shown = shown
            self._show.view(record)

    def runs_of(self, key: str) -> list[RunRecord]:
        """The runs that touch a file."""
        return [record for record in self.records.values() if record.key == key]

    # -- events -------------------------------------------------------------------------------

    async def _heard(self, link: EngineLink, event: JsonObject) -> None:
        run_id = event.get("runId")
        if not isinstance(run_id, str):
            return
        if event.get("kind") == "deleted":
            self._deleted(run_id)
            return
        if run_id in self._foreign:
            if event.get("seq"):
                self._others.heard(link, run_id)
            return
        record = self.records.get(run_id)
        if record is None:
            record = await self._admit(link, run_id, event)
            if record is None:
                return
        seq = int_field(event, "seq")
        if not seq:
            self._show.text(record, event)
        elif seq > record.last_seq + 1:
            await self._catch_up(link, record)
        elif record.take(event):
            self._took(link, record, event)
            self._show.view(record)

    async def _admit(self, link: EngineLink, run_id: str, event: JsonObject) -> RunRecord | None:
        """A run that was not known yet: does it concern us?"""
        about = event
        if event.get("kind") != "run_started":
            assert link.client is not None
            answer = await link.client.status(run_id)
            about = plain_object(answer["state"]) if answer["ok"] else {}
        if run_id in self.records:  # started by ourselves in the meantime
            return self.records[run_id]
        if self._opened(about) is None:
            self._foreign.add(run_id)
            self._others.heard(link, run_id)
            return None
        record = self.records[run_id] = self._new(run_id)
        self._place(record, about)
        return record

    def _new(self, run_id: str) -> RunRecord:
        """A client that lists runs shows the views of those that it follows."""
        return RunRecord(run_id, shown=0 if self._session.lists_runs else None)

    def _deleted(self, run_id: str) -> None:
        """Nothing is shown any more of a run that somebody removed from the record."""
        self._others.drop(run_id)
        self._foreign.discard(run_id)
        self._show.deleted(run_id, self.records.pop(run_id, None))

    async def _catch_up(self, link: EngineLink, record: RunRecord) -> None:
        """Ask for the facts after the last one that is known."""
        while (client := link.client) is not None:
            before = record.last_seq
            answer = await client.events(record.run_id, after=before)
            if not answer["ok"]:
                logger.warning("The events of run %s cannot be read: %s", record.run_id, answer["message"])
                return
            for fact in answer["events"]:
                if record.take(fact):
                    self._took(link, record, fact)
            self._show.view(record)
            if record.last_seq == before or len(answer["events"]) == 0:
                break
        self._refresh(link, record)

    def _took(self, link: EngineLink, record: RunRecord, fact: JsonObject) -> None:
        if fact.get("kind") == "run_started":
            self._place(record, fact)
        self._show.fact(record, fact)
        self._refresh(link, record)

    # -- state --------------------------------------------------------------------------------

    def _refresh(self, link: EngineLink, record: RunRecord) -> None:
        """Have the engine fold the state; once at a time, until it is as new as the facts."""
        if record.run_id not in self._refreshing:
            self._refreshing.add(record.run_id)
            self._tasks.start(self._read_state(link, record), f"state of {record.run_id}")

    async def _read_state(self, link: EngineLink, record: RunRecord) -> None:
        try:
            while (client := link.client) is not None:
                wanted = record.last_seq
                answer = await client.status(record.run_id)
                if not answer["ok"]:
                    return
                record.state = plain_object(answer["state"])
                self._show.state(record)
                if record.last_seq <= max(wanted, int_field(record.state, "lastSeq") or 0):
                    return
        finally:
            self._refreshing.discard(record.run_id)

    def _connection(self, link: EngineLink, there: bool) -> None:
        """The engine went away or came back. A run is interrupted only if it stays away (UP-80)."""
        if self._gone is not None:
            self._gone.cancel()
            self._gone = None
        live = [record for record in self.records.values() if not record.ended]
        if there:
            self._show.engine(link.root, running=True)
            self._others.all_again(link)
            for record in live:
                self._refresh(link, record)
        else:
            self._gone = asyncio.get_running_loop().call_later(_GONE_AFTER, self._lost, link, live)

    def _lost(self, link: EngineLink, live: list[RunRecord]) -> None:
        self._show.engine(link.root, running=False)
        self._show.lost(live)
        for state in self._others.live.values():
            self._show.other({**state, "status": "interrupted", "reason": "engine_restart"})

    def close(self) -> None:
        self._others.close()
        if self._gone is not None:
            self._gone.cancel()

    # -- files --------------------------------------------------------------------------------

    def _opened(self, about: JsonObject) -> OpenDocument | None:
        """The open document that a run is about. The engine has followed the links on the way to it."""
        uri = about.get("uri")
        if not isinstance(uri, str):
            return None
        key, session = uris.key(uri), self._session
        if key in session.open:
            return session.open[key]
        return next((one for one in session.open.values() if uris.key(uris.real(one.uri)) == key), None)

    def _place(self, record: RunRecord, about: JsonObject) -> None:
        """Tie the run to its file and to the text of its loops as it is now."""
        opened = None if record.key else self._opened(about)
        if opened is not None:
            record.place(opened)
