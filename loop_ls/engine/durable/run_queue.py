"""The queue of runs that several processes share: DBOS on PostgreSQL, one workflow for each run.

DBOS takes runs off the queue, notes who owns each and puts those of a dead process back. What a run was answered
is in the journal, not here. This is the only module that imports dbos.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from loop_ls.engine.journal.postgres_connection import CONNECT
from loop_ls.engine.journal.schema import FORMAT

#: Seconds between two looks for what is not used here (delays, deadlines, schedules, the queue of DBOS itself).
RARELY = 3600.0
#: Seconds between two messages of DBOS to those who wait for its events. Nobody does; it ends after one at most.
TOLD = 1.0
#: DBOS gives a workflow up after so many claims; runs that wait see many restarts.
CLAIMS = 1_000_000
THREADS = 16
#: A worker that is stopped inside a transaction keeps its locks, and nobody could take over what it had: the server
#: ends such a transaction after this long.
LET_GO = "-c idle_in_transaction_session_timeout=5000"
NAME = "runs"


class RunQueue:
    """One per process, as DBOS is. `executor` names this process in `dbos.workflow_status`."""

    def __init__(self, url: str, executor: str) -> None:
        self._url = f"postgresql+psycopg://{url.partition('://')[2]}"
        self._executor = executor

    def migrate(self) -> None:
        """From a thread: bring the tables of DBOS up to date. One process at a time."""
        from dbos import DBOS

        DBOS.migrate(self._url)

    async def open(self, run: Callable[[str], Awaitable[None]]) -> None:
        """On the loop, where `run` then runs. It returns when the run has ended; `CancelledError` leaves the run
        as it is, for whoever owns it by then."""
        from dbos import DBOS, DBOSPortableJSONSerializer, _workflow_commands

        async def bring(run_id: str) -> None:
            await run(run_id)

        DBOS.workflow(name="run", max_recovery_attempts=CLAIMS)(bring)
        self._dbos = DBOS(
            config={
                "name": "loop-ls",
                "system_database_url": self._url,
                "application_version": str(FORMAT),
                "executor_id": self._executor,
                "serializer": DBOSPortableJSONSerializer(),
                "run_migrations": False,
                "sys_db_pool_size": THREADS,
                "max_executor_threads": THREADS,
                "db_engine_kwargs": {"connect_args": {**CONNECT, "application_name": "loop-ls", "options": LET_GO}},
                "scheduler_polling_interval_sec": RARELY,
                "notification_coalesce_sec": TOLD,
                "log_level": "ERROR",
            }
        )
        logging.getLogger("dbos").addFilter(_is_news)
        _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = RARELY
        self._dbos._registry.get_internal_queue()._polling_interval_sec = RARELY
        DBOS.launch()
        # One until the first heartbeat: `loop_ls.share` says how many runs a worker may have, and how often it looks.
        await DBOS.register_queue_async(NAME, worker_concurrency=1)

    def recover(self, executors: Sequence[str]) -> None:
        """From a thread: put what dead processes owned back into the queue. Asking twice is harmless."""
        from dbos import DBOS

        DBOS._recover_pending_workflows(list(executors))

    def drain(self) -> None:
        """What DBOS does first when it ends: its queues are not looked at any more."""
        for stop in self._dbos.background_thread_stop_events:
            stop.set()

    def close(self) -> None:
        """From a thread. What is unfinished stays so."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)


def _is_news(record: logging.LogRecord) -> bool:
    """A run that was let go of is no error."""
    error: Any = record.exc_info and record.exc_info[1]
    return not isinstance(error, asyncio.CancelledError) and "cancelled" not in record.getMessage().lower()
