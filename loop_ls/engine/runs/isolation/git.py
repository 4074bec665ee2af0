"""Git as the engine starts it: no hook of the repository runs, nothing is signed, nobody is asked, and it never waits
longer than it may.

What the user has set for Git counts otherwise: filters, line endings, attributes and who commits.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from loop_ls.engine.capabilities.guard import permitting, using
from loop_ls.engine.capabilities.values import Capabilities, FileFilter, OwnWorktree
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.subprocesses.supervisor import reduced, start
from loop_ls.text.record import equal_record

#: Seconds that one command may take: a checkout of a large repository does.
LONGEST = 300.0
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false", "core.untrackedCache=false"),
    *("commit.gpgSign=false", "gc.auto=0", "maintenance.auto=false", "core.quotePath=false"),
    # A folder of a repository may be one itself, made of files that were committed as any others.
    "safe.bareRepository=explicit",
    *("submodule.recurse=false", "core.safecrlf=false", "core.logAllRefUpdates=false", "advice.addEmbeddedRepo=false"),
)
#: Nobody is asked, nothing of the user is locked, and nothing is fetched: settings of a repository say by what program.
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_WORDS = ("git", *(word for setting in _SETTINGS for word in ("-c", setting)))
#: Where the user says which settings are theirs.
_KEPT = ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
CODE = "git"


@equal_record
class Said:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def parts(self) -> list[str]:
        """Of output that is separated by zero bytes."""
        return [part for part in self.out.split("\0") if part]

    @property
    def why(self) -> str:
        """Its complaint, as the end of a sentence."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        found = (line for word in ("fatal: ", "error: ") for line in lines if line.startswith(word))
        told = next(found, lines[-1] if lines else "")
        return told.removeprefix("fatal: ").removeprefix("error: ").rstrip(".") or f"it exited with {self.status}"

    def require(self, command: str) -> None:
        """Raises `Failure` where it did not succeed."""
        if self.status == 127:
            raise Failure(CODE, "Git is not installed, or not on the PATH of the engine", "Install Git.")
        if self.status:
            raise Failure(CODE, f"`git {command}` failed: {self.why}")


@equal_record
class Git:
    """Git in one folder. `root` is the workspace of the run for which it works."""

    root: str
    folder: str
    more: Mapping[str, str]

    @staticmethod
    def of(root: str, folder: Path | str, **more: str) -> Git:
        return Git(root, str(folder), more)

    async def run(self, *words: str, text: str | None = None) -> Said:
        """Raises `Failure` where it cannot be started or takes too long."""
        with using(OwnWorktree(self.root)):
            try:
                return await self._ran(words, text)
            except TimeoutError:
                raise Failure(CODE, f"`git {words[0]}` took longer than {LONGEST:g} s in {self.folder}") from None
            except OSError as error:
                raise Failure(CODE, f"Git cannot be started in {self.folder}: {error.strerror or error}") from error

    async def asked(self, *words: str, text: str | None = None) -> Said:
        """The same, where it has to succeed. Raises `Failure`."""
        said = await self.run(*words, text=text)
        said.require(words[0])
        return said

    async def _ran(self, words: Sequence[str], text: str | None) -> Said:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        env = reduced(os.environ, **kept, **_ENVIRONMENT, **self.more)
        stdin = DEVNULL if text is None else PIPE
        running = await start((*_WORDS, *words), cwd=self.folder, env=env, stdin=stdin)
        try:
            async with asyncio.timeout(LONGEST):
                data = None if text is None else text.encode("utf-8", "surrogateescape")
                out, err = await running.process.communicate(data)
                status = await running.wait()
        except BaseException:
            await asyncio.shield(running.discard())
            raise
        return Said(status, *(each.decode("utf-8", "surrogateescape") for each in (out, err)))


def for_people(root: str, filters: Iterable[str] = ()) -> AbstractContextManager[None]:
    """What a person asked for after the run: Git, with the `filters` that were agreed to, and nothing else may be
    started inside."""
    return permitting(lambda: Capabilities.of([OwnWorktree(root), *(FileFilter(one, root) for one in filters)]))
