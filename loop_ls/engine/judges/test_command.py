"""Judging by a command: whether it ends with status 0.

The command is a list of words and never sees a shell. It runs in the workspace with a reduced environment
and a limit of time; one that reached the limit has not passed, whatever it says then.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loop_ls.engine.capabilities.guard import using_program
from loop_ls.engine.subprocesses import supervisor

#: Of what it prints, the end is kept for whoever wants to know why it failed.
TAIL = 4_000
#: So much of a line is looked at for the name of a test.
_LINE = 300
_FAILED = re.compile(
    r"\s*(?:FAILED |FAIL: |--- FAIL: |not ok \d+ - |[✕✗×] )(?P<name>\S.*?)(?: - .*)?$"
    r"|test (?P<cargo>\S+) \.\.\. FAILED$"
)
_TIMES = re.compile(r"\s*\(?\d+(?:\.\d+)?\s*m?s\)?$")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """`decided`: the program came to its end by itself; of one that did not nobody knows what it would have said."""

    passed: bool
    told: str
    output: str = ""
    decided: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """`environ` is that of the engine; `limit` in seconds. `given` is what it can read on its standard input."""

    words: tuple[str, ...]
    folder: str
    limit: float
    environ: Mapping[str, str]
    given: str | None = None

    async def run(self) -> CommandResult:
        """Cancelling ends the whole process group."""
        if not self.words:
            return CommandResult(False, "no command", decided=False)
        env = supervisor.reduced(self.environ)
        if not self._is_there(env):
            return CommandResult(False, f"`{self.words[0]}` is not a program that can be started", decided=False)
        try:
            with using_program(self.words, self.folder):
                held = await supervisor.start(
                    self._argv(env),
                    cwd=self.folder,
                    env=env,
                    stdin=asyncio.subprocess.DEVNULL if self.given is None else asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                )
        except OSError as error:
            told = f"`{self.words[0]}` could not be started: {error.strerror or error}"
            return CommandResult(False, told, decided=False)
        heard = bytearray()
        reading = asyncio.create_task(_tail(held.process.stdout, heard))
        giving = asyncio.create_task(_give(held.process.stdin, self.given or ""))
        try:
            async with asyncio.timeout(self.limit):
                status = await held.wait()
            await asyncio.wait({reading}, timeout=1)
            return CommandResult(status == 0, _how(status), _text(heard), decided=not _by_signal(status))
        except TimeoutError:
            await held.stop(gently=True)
            await asyncio.wait({reading}, timeout=1)
            return CommandResult(False, f"it took longer than {self.limit:g} s", _text(heard), decided=False)
        finally:
            if held.running:
                await asyncio.shield(held.stop())
            held.release()
            giving.cancel()
            await asyncio.gather(giving, return_exceptions=True)
            await _read_out(reading)

    def _is_there(self, env: Mapping[str, str]) -> bool:
        return shutil.which(self._program, path=env.get("PATH")) is not None

    @property
    def _program(self) -> str:
        word = self.words[0]
        return word if not _is_relative(word) else str(Path(self.folder, word))

    def _argv(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """A batch file of Windows is found by its whole name only."""
        found = shutil.which(self._program, path=env.get("PATH"))
        return (found or self.words[0], *self.words[1:])


def words_of(value: str) -> tuple[str, ...]:
    """Split at blanks; quotes, stars and dollars are letters like any other."""
    return tuple(value.split())


def failing_tests(output: str) -> tuple[str, ...]:
    """The tests that an output of pytest, unittest, Jest, Go, Cargo or TAP calls failed, each once and in order."""
    found = (match for line in output.splitlines() if (match := _FAILED.match(line[:_LINE])))
    names = (" ".join((match["name"] or match["cargo"]).split()) for match in found)
    return tuple(sorted({_TIMES.sub("", name) for name in names}))


def _is_relative(word: str) -> bool:
    return "/" in word and not word.startswith("/")


def _by_signal(status: int) -> bool:
    """As a shell says it: 128 and the number of the signal, of which there are 64."""
    return 128 < status <= 192


def _how(status: int) -> str:
    if _by_signal(status):
        return f"it was ended by signal {status - 128}"
    return f"it ended with status {status}"


async def _read_out(reading: asyncio.Task[None]) -> None:
    """The program is gone, so its output has an end; whoever is cancelled meanwhile waits no longer."""
    with suppress(asyncio.CancelledError):
        await asyncio.wait({reading}, timeout=1)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def _give(stream: asyncio.StreamWriter | None, text: str) -> None:
    """A program need not read its input, nor all of it."""
    if stream is None:
        return
    with suppress(ConnectionError):
        stream.write(text.encode("utf-8", "replace"))
        await stream.drain()
    stream.close()


async def _tail(stream: asyncio.StreamReader | None, kept: bytearray) -> None:
    while stream is not None and (chunk := await stream.read(65_536)):
        kept += chunk
        del kept[:-TAIL]


def _text(kept: bytearray) -> str:
    return kept.decode("utf-8", "replace").strip()
