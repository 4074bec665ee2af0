"""An editor in a terminal as a person sees it: keys go in, the screen is read."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Callable, Mapping

LIMIT = 60.0


class Terminal:
    """A tmux server of its own, so that ending it ends nothing else."""

    def __init__(self, command: str, environment: Mapping[str, str], columns: int = 140, rows: int = 40) -> None:
        self._name, self._environment = f"loop{uuid.uuid4().hex[:8]}", dict(environment)
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), command)

    def keys(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def typed(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def until(self, *wanted: str, limit: float = LIMIT) -> str:
        """The screen that shows all of these."""
        return self.until_it(lambda screen: all(one in screen for one in wanted), " and ".join(wanted), limit)

    def until_it(self, shows: Callable[[str], bool], what: str, limit: float = LIMIT) -> str:
        end = time.monotonic() + limit
        while not shows(screen := self.screen()):
            assert time.monotonic() < end, f"{what} did not come:\n{screen}"
            time.sleep(0.05)
        return screen

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, check=False)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            check=True,
            env=self._environment,
            timeout=LIMIT,
        )
        return done.stdout
