"""The command line in this process: what a call prints, where it looks for its engine, and how it ends."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main
from loop_ls.client import launch
from loop_ls.client.engine_location import EngineUnavailable, Handover


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str
    looked_in: tuple[Path, ...] = ()

    @property
    def json(self) -> Any:
        """What was printed, where it is JSON; None elsewhere."""
        try:
            return json.loads(self.out)
        except ValueError:
            return None


@dataclass
class Commands:
    """`root` is the folder in which they are called."""

    root: Path
    looked_in: list[Path] = field(default_factory=list)

    def __call__(self, *words: str, folder: Path | None = None, stdin: str = "") -> Said:
        self.looked_in.clear()
        out, err, before, typed = _Terminal(), _Terminal(), Path.cwd(), sys.stdin
        os.chdir(folder or self.root)
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status = _ended(words)
        finally:
            os.chdir(before)
            sys.stdin = typed
        return Said(status, out.text, err.text, tuple(self.looked_in))

    @contextmanager
    def nobody_there(self) -> Iterator[None]:
        """No engine runs and none is started; where one was looked for is told."""

        async def living(folder: Path) -> Handover | None:
            self.looked_in.append(folder)
            raise EngineUnavailable("No engine is there.")

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(launch, "living", living)
            yield


class _Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "utf-8", newline="")

    @property
    def text(self) -> str:
        self.flush()
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode()


def _ended(words: tuple[str, ...]) -> int:
    try:
        return main(words)
    except SystemExit as end:  # wrong usage, help
        return int(end.code or 0)
