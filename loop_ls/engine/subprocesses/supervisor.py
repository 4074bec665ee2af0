"""Programs that the engine starts: argv without a shell, their own session, and never alive without us.

Between the engine and the program stands `supervisor_child`: it ends the whole process group when it is
told to or when the engine is gone, killed with -9 included. A signal to the parent alone would leave
grandchildren; a death signal asked of the kernel would die with the thread that started them.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from loop_ls.engine.capabilities.guard import require_start

CHILD = Path(__file__).with_name("supervisor_child.py")
#: By this variable `supervisor_child` knows what the program started, whichever session that made for itself.
MARK = "LOOP_LS_LEASH"

#: After this the supervisor itself is killed; it never takes so long.
LAST_RESORT = 8.0
#: Of the stream readers, as asyncio has it: half of what is kept of output that nobody reads, in bytes.
LINE_LIMIT = 65_536

#: What a program may know of our environment. Keys of providers are never among it.
KEPT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "TEMP", "TMP", "LANG", "VIRTUAL_ENV"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
)


def reduced(environ: Mapping[str, str], **more: str) -> dict[str, str]:
    """The environment for a program: what every program needs, and `more`. Programs are looked for in folders that
    have one name from everywhere: `./node_modules/.bin` would be of the project, whatever a person agreed to."""
    kept = {name: value for name, value in environ.items() if name in KEPT or name.startswith("LC_")}
    if "PATH" in kept:
        kept["PATH"] = search_path(kept["PATH"])
    return kept | more


def search_path(written: str) -> str:
    """A `PATH` without the folders whose place depends on where a program is started."""
    return os.pathsep.join(each for each in written.split(os.pathsep) if Path(each).is_absolute())


class _Exit(SubprocessStreamProtocol):
    """Knows of the end of a program by itself. The `wait` of asyncio also waits for the ends of its pipes (before
    Python 3.13), which never come where more was printed than anybody reads."""

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit, loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class SupervisedProcess:
    """A running program. `process` has its pipes and the program's own exit status."""

    def __init__(
        self, process: Process, transport: asyncio.SubprocessTransport, exited: asyncio.Event, pipe: int | None
    ) -> None:
        self.process, self._transport, self._exited, self._pipe = process, transport, exited, pipe

    @property
    def running(self) -> bool:
        return self.process.returncode is None

    async def stop(self, *, gently: bool = False) -> int:
        """End the whole group: SIGTERM, then SIGKILL after 0.2 s (5 s when `gently`). Its exit status."""
        return await self._ended(b"l" if gently else b"t")

    async def interrupt(self) -> int:
        """End the whole group: SIGINT, on which agents still say what they have cost, then SIGKILL after 1 s."""
        return await self._ended(b"i")

    async def _ended(self, word: bytes) -> int:
        if self.running:
            self._say(word)
        try:
            async with asyncio.timeout(LAST_RESORT):
                return await self.wait()
        except TimeoutError:
            self.process.kill()
            return await self.wait()

    async def wait(self) -> int:
        """Its exit status. What it printed may still be in its pipes."""
        await self._exited.wait()
        self.release()
        code = self._transport.get_returncode()
        assert code is not None
        return code

    async def discard(self) -> None:
        """End it, whatever it has printed."""
        try:
            await self.stop()
        finally:
            self.release()
            self._transport.close()

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


#: Programs that were given up while they were being started, until they are gone.
_DISCARDING: set[asyncio.Task[None]] = set()


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
    `NotPermitted` where the run that asks may not start it. Whoever is cancelled while it starts leaves none behind."""
    require_start(argv)
    own = dict(env) if env is not None else reduced(os.environ)
    starting = asyncio.create_task(_started(argv, cwd, own, stdin, stdout, stderr))
    try:
        # Cancelled itself, asyncio would kill the supervisor alone and wait for the pipes of the program, which waits
        # for its input: for ever.
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        discarding = asyncio.create_task(_discard_once_started(starting))
        _DISCARDING.add(discarding)
        discarding.add_done_callback(_DISCARDING.discard)
        await asyncio.shield(discarding)
        raise


async def _discard_once_started(starting: asyncio.Task[SupervisedProcess]) -> None:
    await asyncio.wait({starting})
    if not starting.cancelled() and starting.exception() is None:
        await starting.result().discard()


async def _started(
    argv: Sequence[str], cwd: Path | str | None, env: dict[str, str], stdin: int, stdout: int, stderr: int
) -> SupervisedProcess:
    loop = asyncio.get_running_loop()
    listening = partial(_Exit, LINE_LIMIT, loop)
    if os.name == "nt":  # no process groups of this kind: the program alone is ended
        made = await loop.subprocess_exec(listening, *argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
        return _supervised(*made, None)
    env[MARK] = secrets.token_hex(8)
    told, tell = os.pipe()
    try:
        made = await loop.subprocess_exec(
            listening,
            *(sys.executable, "-I", "-S", str(CHILD), str(told)),
            *argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(told,),
            start_new_session=True,
        )
    except BaseException as error:
        os.close(tell)
        if isinstance(error, ValueError):  # a zero byte: no program can be told one
            raise OSError(errno.EINVAL, str(error)) from None
        raise
    finally:
        os.close(told)
    return _supervised(*made, tell)


def _supervised(transport: asyncio.SubprocessTransport, exit_: _Exit, pipe: int | None) -> SupervisedProcess:
    return SupervisedProcess(Process(transport, exit_, asyncio.get_running_loop()), transport, exit_.exited, pipe)
