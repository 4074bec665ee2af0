"""Programs that the engine starts: argv without a shell, their own session, and never alive without us.

Between the engine and the program stands `supervisor_child`: it ends the whole process group when it is
told to or when the engine is gone, killed with -9 included. A signal to the parent alone would leave
grandchildren; a death signal asked of the kernel would die with the thread that started them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from loop_ls.engine.capabilities.guard import require_start

CHILD = Path(__file__).with_name("supervisor_child.py")
#: By this variable `supervisor_child` knows what the program started, whichever session that made for itself.
MARK = "LOOP_LS_LEASH"

#: After this the supervisor itself is killed; it never takes so long.
LAST_RESORT = 8.0

#: What a program may know of our environment. Keys of providers are never among it.
KEPT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "TEMP", "TMP", "LANG", "VIRTUAL_ENV"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
)


def reduced(environ: Mapping[str, str], **more: str) -> dict[str, str]:
    """The environment for a program: what every program needs, and `more`."""
    kept = {name: value for name, value in environ.items() if name in KEPT or name.startswith("LC_")}
    return kept | more


class SupervisedProcess:
    """A running program. `process` has its pipes and the program's own exit status."""

    def __init__(self, process: Process, pipe: int | None) -> None:
        self.process, self._pipe = process, pipe

    @property
    def running(self) -> bool:
        return self.process.returncode is None

    async def stop(self, *, gently: bool = False) -> int:
        """End the whole group: SIGTERM, then SIGKILL after 0.2 s (5 s when `gently`). Its exit status."""
        if self.running:
            self._say(b"l" if gently else b"t")
        try:
            async with asyncio.timeout(LAST_RESORT):
                return await self.wait()
        except TimeoutError:
            self.process.kill()
            return await self.wait()

    async def wait(self) -> int:
        code = await self.process.wait()
        self.release()
        return code

    def release(self) -> None:
        """Let go: what still runs is killed at once."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    def _say(self, word: bytes) -> None:
        if self._pipe is None:
            self.process.terminate()
            return
        with suppress(BrokenPipeError):
            os.write(self._pipe, word)


async def start(
    argv: Sequence[str],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int = DEVNULL,
    stdout: int = PIPE,
    stderr: int = PIPE,
) -> SupervisedProcess:
    """Start `argv`. A program that does not exist ends with 127 and one line on its standard error. Raises
    `NotPermitted` where the run that asks may not start it."""
    require_start(argv)
    own = dict(env) if env is not None else reduced(os.environ)
    if os.name == "nt":  # no process groups of this kind: the program alone is ended
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=cwd, env=own, stdin=stdin, stdout=stdout, stderr=stderr
        )
        return SupervisedProcess(process, None)
    own[MARK] = secrets.token_hex(8)
    told, tell = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(CHILD), str(told)),
            *argv,
            cwd=cwd,
            env=own,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(told,),
            start_new_session=True,
        )
    except BaseException:
        os.close(tell)
        raise
    finally:
        os.close(told)
    return SupervisedProcess(process, tell)
