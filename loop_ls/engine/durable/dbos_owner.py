"""DBOS as the owner of runs: one workflow for each, which waits for the engine to bring the run to its end.

The record of calls is the journal, not DBOS; its database can be thrown away and is made again. This is
the only place that imports dbos.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from loop_ls.engine.journal.schema import FORMAT
from loop_ls.engine.owner import RunToEnd

#: DBOS gives a workflow up after this many restarts; waiting runs see many.
RESTARTS = 1_000_000
THREADS = 8
#: Seconds between two looks of DBOS into its database. Nothing here waits for what it would find.
POLL = 5.0
UNFINISHED = ["PENDING", "ENQUEUED", "DELAYED"]


class DbosOwner:
    """One per process: DBOS itself is. `folder` is the locked data folder."""

    def __init__(self, folder: Path, patience: float | None = None) -> None:
        """`patience` bounds the closing, for a process that ends anyway: DBOS waits for its sleeping
        threads, up to ten seconds, and nothing that it would lose counts."""
        self.path, self._patience = folder / "dbos.db", patience
        self._run: RunToEnd | None = None
        self._workflow: Any = None
        # DBOS makes its own threads the loop's default ones; opening and closing must not need them.
        self._thread = ThreadPoolExecutor(1, "durable")

    async def open(self, run: RunToEnd) -> None:
        self._run = run
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._prepare)
        except Exception:
            # Damaged or foreign: it holds nothing that the journal does not know better.
            await loop.run_in_executor(self._thread, self._set_aside)
            await loop.run_in_executor(self._thread, self._prepare)
        self._launch()

    def _prepare(self) -> None:
        """Everything slow, off the loop: the import (0.3 s) and the tables."""
        from dbos import DBOS

        self.path.touch(0o600, exist_ok=True)
        with closing(sqlite3.connect(self.path)) as db:
            db.execute("pragma journal_mode = wal")  # DBOS does not; it is stored in the file
        DBOS.migrate(self._url)

    def _launch(self) -> None:
        """On the loop itself: workflows, recovered ones too, then live in this loop."""
        from dbos import DBOS, DBOSPortableJSONSerializer

        async def run(run_id: str) -> None:
            if self._run is None:
                raise asyncio.CancelledError  # we leave: it stays unfinished
            await self._run(run_id)

        self._workflow = DBOS.workflow(name="run", max_recovery_attempts=RESTARTS)(run)
        made = DBOS(
            config={
                "name": "loop-ls",
                "system_database_url": self._url,
                "application_version": str(FORMAT),
                "executor_id": "local",
                "serializer": DBOSPortableJSONSerializer(),
                "max_executor_threads": THREADS,
                "notification_listener_polling_interval_sec": POLL,
                "scheduler_polling_interval_sec": 3600.0,
                "log_level": "ERROR",
            }
        )
        _quiet()
        _calm(made)
        DBOS.launch()

    @property
    def _url(self) -> str:
        return f"sqlite:///{self.path}"

    def _set_aside(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            found = self.path.with_name(self.path.name + suffix)
            if found.exists():
                found.replace(found.with_name(f"{found.name}.damaged"))

    async def own(self, runs: Iterable[str]) -> None:
        from dbos import DBOS, SetWorkflowID

        wanted = list(runs)
        known = await self._known() if len(wanted) > 1 else set()
        for run_id in wanted:
            if run_id not in known:
                with SetWorkflowID(run_id):
                    await DBOS.start_workflow_async(self._workflow, run_id)

    async def _known(self) -> set[str]:
        from dbos import DBOS

        found = await DBOS.list_workflows_async(status=UNFINISHED, load_input=False, load_output=False)
        return {workflow.workflow_id for workflow in found}

    async def close(self) -> None:
        self._run = None
        closing = asyncio.get_running_loop().run_in_executor(self._thread, self._destroy)
        await asyncio.wait({closing}, timeout=self._patience)
        self._thread.shutdown(wait=False)

    def _destroy(self) -> None:
        from dbos import DBOS

        DBOS.destroy()


def _calm(made: Any) -> None:
    """Fewer looks into the database than once a second, where no setting exists for it: we use neither
    delayed workflows nor its time limits, and recover by ourselves. Where this fails it looks more often."""
    with suppress(ImportError, AttributeError):
        from dbos import _workflow_commands

        made._registry.get_internal_queue()._polling_interval_sec = POLL
        _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = 12 * POLL


def _quiet() -> None:
    """Errors of DBOS go to stderr, without the tracebacks of workflows that were merely cancelled."""
    logger = logging.getLogger("dbos")
    logger.handlers.clear()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("loop-ls engine: %(levelname)s %(message)s"))
    handler.addFilter(_worth_saying)
    logger.addHandler(handler)
    logger.propagate = False


def _worth_saying(record: logging.LogRecord) -> bool:
    cancelled = record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cancelled and "cancelled" not in record.getMessage().lower()
