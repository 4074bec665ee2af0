"""What the first socket needs is not loaded at the start of the engine."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("socketio", "engineio", "wsproto", "aiohttp")


def test_an_engine_without_sockets_loads_nothing_of_theirs() -> None:
    code = (
        "import sys, loop_ls.app.engine, loop_ls.engine.process.engine_process\n"
        + f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
