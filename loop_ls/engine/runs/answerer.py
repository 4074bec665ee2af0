"""Who says something to a run, and over which surface: it stands in the fact of what was said.

Set where a request comes in, and read where its fact is made, so that nothing in between has to pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypedDict

from loop_ls.contract.questions import Surface, surface_of
from loop_ls.engine.core.users import OWNER
from loop_ls.engine.enhance.speaker import Speaker


class SaidBy(TypedDict, total=False):
    """Fields of the facts that say it."""

    by: str
    via: Surface


_said_by: ContextVar[SaidBy] = ContextVar("who says it", default=SaidBy())  # noqa: B039 - nobody changes it


def said_by() -> SaidBy:
    """Empty where nobody said it but the engine itself."""
    return _said_by.get()


def set_said_by(user: str | None, via: str) -> None:
    """For the rest of this task. `via` is what the client calls itself."""
    _said_by.set({"by": OWNER if user is None else user, "via": surface_of(via)})


@contextmanager
def saying(user: str | None, via: str) -> Iterator[None]:
    """What is done inside is said by this user (None: the owner)."""
    before = _said_by.get()
    set_said_by(user, via)
    try:
        yield
    finally:
        _said_by.set(before)


def speaker() -> Speaker:
    """Who says it, as enhance loops are told."""
    who = _said_by.get()
    by = who.get("by")
    return Speaker(None if by == OWNER else by, who.get("via", "http"))
