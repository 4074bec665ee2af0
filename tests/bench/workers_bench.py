"""Three processes on one PostgreSQL and many loops of five iterations of a second each: how soon all are done, and what
DBOS says of who had them.

    python -m tests.bench.workers_bench [LOOPS]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from loop_ls.testing.postgres import PostgresServer
from tests.engine.cluster import engine_processes
from tests.engine.cluster.engine_processes import EngineProcess, ForkServer, Workload

WORKERS, BUDGET = 3, 25.0


async def measured(loops: int, folder: Path, server: PostgresServer) -> None:
    engine_processes.BEAT, engine_processes.LEASE = 1.0, 3.0  # as in earnest
    fork_server, workload, url = ForkServer(), Workload(folder, iterations=5, seconds=0.5), server.database()
    workers = [await EngineProcess.open(fork_server, str(number), url, workload) for number in range(WORKERS)]
    began = time.perf_counter()
    await asyncio.gather(
        *(workers[n % WORKERS].ask("start", {"root": "/", "path": "/w.yaml"}) for n in range(loops)),
    )
    with psycopg.connect(url, autocommit=True) as db:
        left = "select count(*) from dbos.workflow_status where status in ('PENDING', 'ENQUEUED')"
        while db.execute(left).fetchone() != (0,):
            await asyncio.sleep(0.1)
        took = time.perf_counter() - began
        shares = db.execute("select executor_id, status, count(*) from dbos.workflow_status group by 1, 2").fetchall()
    print(f"{loops} loops, {WORKERS} workers: {took:.1f} s (budget {BUDGET:g}); load {os.getloadavg()[0]:.1f}")
    for executor, status, count in shares:
        print(f"  {executor}: {count} {status}")
    print(f"  calls {sum(workload.paid.values())}, made twice {sum(count > 1 for count in workload.paid.values())}")
    for worker in workers:
        await worker.close()
    fork_server.close()


def main() -> None:
    server = PostgresServer(careful=True).start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, Path(folder), server))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
