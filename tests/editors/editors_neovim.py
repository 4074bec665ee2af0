"""A running Neovim: keys are typed into it and its own state is read, by its `--server` options."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LIMIT = 40.0


class Neovim:
    def __init__(self, program: str, setup: Path, file: Path, home: Path, environment: Mapping[str, str]) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._program, self._socket = program, home / "rpc"
        own = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        self._process = subprocess.Popen(
            [program, "--headless", "--listen", str(self._socket), "-u", str(setup), "-n", "-i", "NONE", str(file)],
            env={**environment, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.until(self._socket.exists)

    def keys(self, keys: str) -> None:
        self._remote("--remote-send", keys)

    def lua(self, expression: str) -> Any:
        """The value of a Lua expression."""
        escaped = f"vim.json.encode({expression})".replace("'", "''")
        return json.loads(self._remote("--remote-expr", f"luaeval('{escaped}')"))

    def command(self, command: str) -> None:
        escaped = command.replace("'", "''")
        self._remote("--remote-expr", f"execute('{escaped}')")

    def until(self, check: Callable[[], Any], limit: float = LIMIT) -> Any:
        end = time.monotonic() + limit
        while not (found := check()):
            assert time.monotonic() < end, "Neovim did not come to it in time"
            time.sleep(0.05)
        return found

    def servers(self) -> list[int]:
        """The processes that it has started."""
        of = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return [int(pid) for pid in of.read_text().split()]

    def answer_by(self, *wanted: str) -> None:
        """From now on menus and questions are answered: with the first entry that holds the next of these."""
        listed = ", ".join(f'"{one}"' for one in wanted)
        self.command(f"lua answers = {{ {listed} }} dofile('{HERE / 'neovim_answers.lua'}')")

    def asked(self) -> list[str]:
        """What was asked since then."""
        return list(self.lua("asked"))

    def run_state(self) -> dict[str, str]:
        """Of each run that was told of, its status and reason."""
        found: dict[str, str] = self.lua("next(states) and states or vim.empty_dict()")
        return found

    def kill(self) -> None:
        """It is gone at once: nothing is saved, nobody is told."""
        self._process.kill()
        self._process.wait(10)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(10)

    def _remote(self, *words: str) -> str:
        done = subprocess.run(
            [self._program, "--headless", "--server", str(self._socket), *words],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout or done.stderr
