"""A command line on a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import time
from collections.abc import Callable

from tests.cli.conftest import SCRIPT, CliProject
from tests.processes.forked import Forked

LONG = 90


class Terminal:
    """A command on a pseudo-terminal. `seen` is all that it wrote, without escape sequences."""

    def __init__(self, project: CliProject, *words: str) -> None:
        ours, theirs = pty.openpty()
        env = {name: value for name, value in project.env().items() if name != "NO_COLOR"}
        self.process = Forked(
            [SCRIPT, *words],
            cwd=project.root,
            env=env | {"TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._ours, self.raw = ours, b""

    @property
    def seen(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode("utf-8", "replace"))

    def until(self, seen: Callable[[str], bool]) -> str:
        deadline = time.monotonic() + LONG
        while not seen(self.seen):
            assert time.monotonic() < deadline, self.seen
            if not self._read():
                break
        assert seen(self.seen), self.seen
        return self.seen

    def end(self) -> int:
        while self._read():
            continue
        return self.process.wait(LONG)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False
        self.raw += data
        return bool(data)
