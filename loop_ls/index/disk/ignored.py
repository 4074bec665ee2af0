"""Folders that the ignore files of a project name: nobody walks through what it builds or downloads.

Only folders are passed over: a file beside others costs nothing to know. Where workflows are looked up is entered
whatever an ignore file says, and so is what a person names. Reads `.gitignore` files and nothing else.
"""

from __future__ import annotations

import itertools
import re
import stat
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.text.decode import MAX_BYTES, decode

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"
#: An ignore file with more lines than this is not followed.
MOST_LINES = 5_000
#: Lines with two wildcards that are followed. How long one takes grows with each wildcard by the length of a path, so
#: those with more are not: whoever wrote a repository could keep everybody busy who opens it.
MOST_WILD = 100
_WILD = re.compile(r"\*+")
#: Seconds of the processor after which an answer was slow, and how many slow ones are waited for.
SLOW, MOST_SLOW = 0.05, 10


class Ignored:
    """Of one workspace folder. `kept` are folders to enter with everything in them and on the way to them."""

    def __init__(self, folder: str, kept: Iterable[str] = ()) -> None:
        self._folder = folder.rstrip("/")
        self._kept = tuple(one.rstrip("/") for one in kept if one.startswith(f"{self._folder}/"))
        self._specs: dict[str, GitIgnoreSpec] = {}
        self._slow = 0
        #: Whether any folder was passed over: what is not known need not be missing.
        self.any = False
        above = _above(self._folder)
        for base in above:
            self.learn(base)
        if self._specs and self._decides(self._folder, above):
            self._specs.clear()  # a project that lies in an ignored folder of another is not ignored by itself

    def learn(self, base: str) -> None:
        """Follow the ignore file in this folder, which is that of the project, above it or inside."""
        spec = _read(f"{base.rstrip('/')}/{NAME}") if self._slow <= MOST_SLOW else None
        if spec is not None:
            self._specs[base.rstrip("/")] = spec

    def passes_over(self, path: str) -> bool:
        """Whether a folder is not entered. Its parents are."""
        if not self._specs or any(_on_the_way(path, kept) for kept in self._kept):
            return False
        began = time.thread_time()
        passed = self._decides(path, self._specs)
        self._slow += time.thread_time() - began > SLOW
        if self._slow > MOST_SLOW:
            self._specs.clear()
        self.any = self.any or passed
        return passed

    def holds(self, path: str) -> bool:
        """Whether a file or folder lies in a folder that is not entered."""
        parts = path.removeprefix(f"{self._folder}/").split("/")[:-1]
        inside = ("/".join((self._folder, *parts[: at + 1])) for at in range(len(parts)))
        return any(self.passes_over(folder) for folder in inside)

    def _decides(self, path: str, bases: Iterable[str]) -> bool:
        """The innermost ignore file that speaks of a folder is right."""
        ignored = False
        for base in sorted(bases, key=len):
            spec = self._specs.get(base)
            if spec is None or not path.startswith(f"{base}/"):
                continue
            said = spec.check_file(f"{path.removeprefix(f'{base}/')}/").include
            ignored = ignored if said is None else said
        return ignored


def _on_the_way(path: str, kept: str) -> bool:
    return path == kept or path.startswith(f"{kept}/") or kept.startswith(f"{path}/")


def _above(folder: str) -> tuple[str, ...]:
    """The folders between the repository and this one, without it; none where there is no repository."""
    found: list[str] = []
    for outer in Path(folder).parents:
        if Path(folder, ".git").exists():
            return ()
        found.append(outer.as_posix().rstrip("/"))
        if (outer / ".git").exists():
            return tuple(found)
    return ()


def _read(path: str) -> GitIgnoreSpec | None:
    """None where there is none. A repository may have a link to a device or to the kernel in its place: reading that
    need not end, and it has no size."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= MAX_BYTES:
            return None
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES)
    except OSError:
        return None
    text, _ = decode(data)
    return None if text is None else _parsed(str(text))


@cache
def _parsed(text: str) -> GitIgnoreSpec:
    """The same file is read at every walk of its folder."""
    from pathspec import GitIgnoreSpec  # takes longer to import than most folders take to walk

    # `a/**` is what lies in `a` and not `a` itself, which the library takes for it, too; `a/*` is the same to us.
    lines = [line[:-1] if line.endswith("/**") else line for line in map(str.rstrip, text.splitlines())]
    return GitIgnoreSpec.from_lines(_in_time(lines))


def _in_time(lines: list[str]) -> list[str]:
    """Those that are followed: all but some that nobody writes. None where a line that takes something back is among
    those: more would be ignored than the project says."""
    wild = [len(_WILD.findall(line.removeprefix("**/"))) for line in lines]
    twice = itertools.accumulate(count == 2 for count in wild)
    left_out = [count > 2 or (count == 2 and so_far > MOST_WILD) for count, so_far in zip(wild, twice, strict=True)]
    if len(lines) > MOST_LINES or any(line.startswith("!") and out for line, out in zip(lines, left_out, strict=True)):
        return []
    return [line for line, out in zip(lines, left_out, strict=True) if not out]
