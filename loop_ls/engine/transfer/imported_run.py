"""Reading what a record says of its start: one that came from elsewhere may say anything, and breaks nothing.

A run that came in is shown whatever it says; what has to understand its settings and its plan refuses in
words where they make no sense.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ModelAccess, Plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.preparer import Agreeing, Preparer
from loop_ls.index.disk.discovery import load_settings
from loop_ls.index.disk.projects import home_of

_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Failure)


@contextmanager
def readable_record() -> Iterator[None]:
    """Raises `Refused` instead of whatever nonsense leads to."""
    try:
        yield
    except _FAULTS as fault:
        told = "The start in the record cannot be read by this version of loop-ls"
        raise Refused("bad_argument", f"{told}: {_said(fault)}.", "Start it from its file.") from fault


async def agreed(
    started: RunStarted,
    texts: Mapping[str, str],
    consent: str | None,
    preparer: Preparer,
    home: Path | None,
    models: Callable[[Plan], ModelAccess],
) -> RunStarted:
    """A fork of a run that came in, or of a replay, which was started without asking: what it starts and where
    it sends texts is asked like for a start. What came in works in `home`, not where it was recorded.
    Raises `Refused`."""
    if not isinstance(preparer, Agreeing):
        told = "An imported run or a replay of this kind can be shown and replayed, not forked."
        raise Refused("forbidden", told, "Start it from its file.")
    if not _is_below(started.path or ""):
        raise Refused("bad_argument", "The record refers to a file outside its folder.", "Start it from its file.")
    started = await asyncio.to_thread(_placed, started, home)
    agreed_to = await preparer.agree(started, texts, consent, models)
    return agreed_to.model_copy(update={"imported": None})


def root_here(root: str, imported: bool, home: Path | None) -> str:
    """Where a fork of a recorded run works: what came in, in `home`."""
    return home.resolve().as_posix() if imported and home is not None else root


def _placed(started: RunStarted, home: Path | None) -> RunStarted:
    """It works under the limits that its project has now, which the run that it comes from may not have had; those of
    that run itself stay."""
    root = root_here(started.root, bool(started.imported), home)
    limits = load_settings(home_of(root, started.path or ""))[0].raw.get("limits")
    settings = {**started.settings, **({"limits": limits} if limits else {})}
    return started.model_copy(update={"root": root, "settings": settings})


def _is_below(path: str) -> bool:
    """Whether a recorded path can lie in a folder of ours."""
    found = PurePath(path)
    return bool(path) and not found.is_absolute() and ".." not in found.parts


def _said(fault: Exception) -> str:
    """Its first line, as the end of a sentence."""
    said = fault.message if isinstance(fault, Failure) else f"{type(fault).__name__}: {fault}"
    return said.splitlines()[0][:200].rstrip(".") if said else type(fault).__name__
