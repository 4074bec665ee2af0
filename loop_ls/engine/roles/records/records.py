"""The light records around role loops: sessions, projects, sprints, artifacts, todos, memory.

What happened in a run is in the journal; these are what stages and people write beside it, in a file of
the data folder or in the database that several engines share. Used from threads of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from loop_ls.engine.events import utc
from loop_ls.engine.roles.records.ids import fresh
from loop_ls.engine.roles.records.stores import PATIENCE, FileStore, SharedStore, Store, Unavailable
from loop_ls.engine.roles.records.tables import Row, Table
from loop_ls.text.json_value import JsonObject

T = TypeVar("T")
#: Seconds that a person waits for a database that is away.
SOON = 5.0


class Records:
    """Each operation is one transaction. Raises `Unavailable` where the records cannot be used."""

    def __init__(self, folder: Path, clock: Callable[[], float], database: str | None = None) -> None:
        self._clock = clock
        self._store: Store = FileStore(folder) if database is None else SharedStore(database)
        self._threads = ThreadPoolExecutor(self._store.threads, "records")

    async def do(self, work: Callable[[Table], T]) -> T:
        """`work` for a run: in a thread, and as long as it takes."""
        return await asyncio.wrap_future(self._begun(work, PATIENCE))

    async def soon(self, work: Callable[[Table], T]) -> T:
        """The same where a person waits."""
        return await asyncio.wrap_future(self._begun(work, SOON))

    def do_now(self, work: Callable[[Table], T]) -> T:
        """The same for callers that are in a thread themselves."""
        return self._begun(work, SOON).result()

    async def project(self, id_: str) -> Row | None:
        """Raises `Unavailable`."""
        return await self.do(lambda table: table.get("projects", id_))

    async def beside(self, project: str | None, sprints: Sequence[str]) -> JsonObject:
        """The project of a run and those sprints of it; empty where the records cannot be used."""

        def work(table: Table) -> JsonObject:
            found = {name: row for name in sprints if (row := table.get("sprints", name)) is not None}
            return {"project": table.get("projects", project) if project else None, "sprints": found}

        try:
            return await self.soon(work)
        except Unavailable:
            return {}

    def forget(self, run_id: str) -> None:
        """The run was deleted: so is what its stages said. Its project stays, and what they made on purpose."""
        with suppress(Unavailable):
            self._begun(lambda table: _forgotten(table, run_id), PATIENCE)

    def close(self) -> None:
        """Nothing waits for a database any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    def _begun(self, work: Callable[[Table], T], patience: float) -> Future[T]:
        seed = fresh()

        def within() -> T:
            now = utc(self._clock())
            return self._store.within(lambda db: work(Table(db, self._store.dialect, now, seed)), patience)

        try:
            return self._threads.submit(within)
        except RuntimeError:
            raise Unavailable("the engine is shutting down") from None


def _forgotten(table: Table, run_id: str) -> None:
    table.remove("sprints", loop_id=run_id)
    table.remove("artifacts", loop_id=run_id, type="loop_output")
