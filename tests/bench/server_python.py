"""The Python that is measured: which build it is, its own compiled files, and nothing of the caller's habits.

An editable install under `PYTHONDONTWRITEBYTECODE` compiles everything at every start, which no user sees.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.server_process import TimedServer

#: Said by the interpreter itself, since it need not be the one that runs this bench.
_BUILD = """
import platform, time
def once():
    began, number = time.perf_counter(), 0
    for step in range(100_000):
        number += step
    return (time.perf_counter() - began) * 1000
speed = min(once() for _ in range(7))
print(platform.python_implementation(), platform.python_version(), platform.python_compiler() + ",", " ".join(
    platform.python_build()) + f"; 100,000 additions in {speed:.1f} ms")
"""


class MeasuredPython:
    """Commands of loop-ls in one interpreter, with byte code in a folder of this bench."""

    def __init__(self, program: str = sys.executable) -> None:
        self.program = program
        self._cache = tempfile.TemporaryDirectory(prefix="loop-ls-pyc-")

    def command(self, *words: str) -> list[str]:
        return [self.program, "-m", "loop_ls", *words]

    def environment(self, data: Path) -> dict[str, str]:
        own = {"LOOP_LS_DATA_DIR": str(data), "PYTHONPYCACHEPREFIX": self._cache.name}
        left = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        return {**left, **own}

    def build(self) -> str:
        done = subprocess.run([self.program, "-c", _BUILD], capture_output=True, text=True, check=True, timeout=60)
        return f"{self.program}: {done.stdout.strip()}"

    def compile(self) -> None:
        """Our package; what it imports is compiled by the first start, which is not measured."""
        where = [self.program, "-c", "import loop_ls, os; print(os.path.dirname(loop_ls.__file__))"]
        folder = subprocess.run(where, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
        command = [self.program, "-m", "compileall", "-q", folder]
        subprocess.run(command, env=self.environment(Path(self._cache.name)), check=False, timeout=300)

    def close(self) -> None:
        self._cache.cleanup()


@dataclass(frozen=True)
class Home:
    """A Python and a data folder: where the servers of one bench live."""

    python: MeasuredPython
    data: Path

    @property
    def environment(self) -> dict[str, str]:
        return self.python.environment(self.data)

    @contextmanager
    def server(self) -> Iterator[TimedServer]:
        one = TimedServer(self.python.command("serve"), self.environment)
        try:
            yield one
        finally:
            one.end()
