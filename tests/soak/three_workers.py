"""Three workers on PostgreSQL, 200 loops, one worker killed, one cut off from the database for 20 s.

    python -m tests.soak.three_workers [--loops 200] [--cut 20] [--seconds 0.5]

Prints what went wrong (nothing may) and how long the loops of the killed worker were nobody's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from loop_ls.testing.postgres import PostgresServer
from tests.soak.fleet import Fleet
from tests.soak.model import ModelServer

ITERATIONS = 8


async def scene(folder: Path, server: PostgresServer, loops: int, cut_seconds: float, seconds: float) -> dict[str, Any]:
    model = ModelServer(ITERATIONS, seconds)
    await model.start()
    fleet = Fleet(folder, server.url, server.port, model, at_once=48)
    await fleet.open()
    try:
        killed, cut, _ = [await fleet.worker(cuttable=number == 1) for number in range(3)]
        began = time.monotonic()
        await fleet.start(loops)
        while sum(model.asked.values()) < loops * ITERATIONS // 4:
            await asyncio.sleep(0.05)
        lost, silent = await fleet.owned_by(killed), await fleet.owned_by(cut)
        at = asyncio.get_running_loop().time()
        killed.kill()
        assert cut.proxy is not None
        cut.proxy.cut()
        await asyncio.sleep(cut_seconds)
        cut.proxy.heal()
        await fleet.all_ended(900)
        found = await fleet.verdict()
        found["seconds in all"] = round(time.monotonic() - began, 1)
        for name, runs in (("killed", lost), ("cut off", silent)):
            waits = sorted(when - at for when, run_id in fleet.recovered if run_id in runs)
            found[f"loops of the one {name}"] = len(runs)
            found[f"went on elsewhere after (s, median and last), {name}"] = (
                [round(waits[len(waits) // 2], 1), round(waits[-1], 1)] if waits else []
            )
        found["most calls at once (limit 48)"] = model.most
        return found
    finally:
        await fleet.close()
        model.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--cut", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    server = PostgresServer(careful=True).start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(scene(Path(folder), server, args.loops, args.cut, args.seconds))
    finally:
        server.stop()
    print(json.dumps(found, indent=2))
    wrong = found["finished calls repeated"] or found["gaps"] or found["facts doubled"]
    return int(bool(wrong) or found["ended"] != found["loops"])


if __name__ == "__main__":
    raise SystemExit(main())
