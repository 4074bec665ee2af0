"""What the run that works here may do, asked by every effect: programs, connections, writes.

The set of a run goes with its tasks as a context variable. Outside of a run the set is empty, so an effect that
nobody thought of is refused rather than forgotten: there is no way around it but a change of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from loop_ls.engine.capabilities.values import (
    NOTHING,
    AnyCommand,
    Capabilities,
    Capability,
    EmbeddedModel,
    OwnWorktree,
    Program,
    ReadingCommands,
    ToolUse,
    Variable,
    literal,
    sentence,
)
from loop_ls.engine.core.ports import Failure, ModelFailure

CODE = "not_permitted"
HINT = "Start the run again to see what it may do now and to give permission."

_permitted: ContextVar[Callable[[], Capabilities]] = ContextVar("capabilities of the run")
_in_use: ContextVar[Capability | None] = ContextVar("capability in use", default=None)
#: Of whoever works outside of a run.
OUTSIDE = NOTHING


class NotPermitted(Failure):
    """An effect that is not among the capabilities of its run."""

    def __init__(self, what: str) -> None:
        super().__init__(CODE, f"not allowed in this run: it {what}, without permission", HINT)


@contextmanager
def permitting(capabilities: Callable[[], Capabilities]) -> Iterator[None]:
    """What is done inside, by tasks that are started there too, is limited to these. They are worked out when the
    first effect asks: most runs in tests and all mock runs have none."""
    before = _permitted.set(cache(capabilities))
    try:
        yield
    finally:
        _permitted.reset(before)


@contextmanager
def using(one: Capability) -> Iterator[None]:
    """Do something for which this capability stands. Raises `NotPermitted`."""
    if not permitted().has(one):
        raise NotPermitted(sentence(one))
    before = _in_use.set(one)
    try:
        yield
    finally:
        _in_use.reset(before)


def permitted() -> Capabilities:
    found = _permitted.get(None)
    return OUTSIDE if found is None else found()


@contextmanager
def using_program(words: Sequence[str], folder: str) -> Iterator[None]:
    """Start a program that is written with these words, there. Raises `NotPermitted`."""
    found = permitted().program(words, folder)
    if found is None:
        raise NotPermitted(sentence(Program(tuple(words), folder)))
    with using(found):
        yield


def require_start(argv: Sequence[str]) -> None:
    """A process may start, for the capability that is in use. Raises `NotPermitted`."""
    starting = Program | AnyCommand | ReadingCommands | ToolUse | EmbeddedModel | OwnWorktree
    for_programs = isinstance(_in_use.get(), starting)
    if not for_programs and permitted().program(argv, "") is None:
        raise NotPermitted(sentence(Program(tuple(argv))))


def require_endpoint(provider: str, written: str, shown: str) -> None:
    """Texts may go to an address; `written` is the address of the settings, `shown` the one for people.
    Raises `ModelFailure`."""
    if isinstance(_in_use.get(), EmbeddedModel) or permitted().endpoint(provider, written) is not None:
        return
    told = literal(f"This run may not send data to `{provider}` at {shown}: permission was not given.")
    raise ModelFailure(CODE, told, HINT, provider=provider, details={"final": True})


def require_server(name: str, written: str) -> None:
    """Texts may go to an MCP server or a database: `written` is its address as the settings write it.
    Raises `NotPermitted`."""
    if permitted().endpoint(name, written) is None:
        raise NotPermitted(literal(f"sends data to `{name}` at {written}"))


def require_page(url: str) -> None:
    """A page of the web may be read. Raises `NotPermitted`."""
    if not isinstance(_in_use.get(), AnyCommand | ToolUse) and not permitted().reads_pages:
        raise NotPermitted(literal(f"reads {url}"))


def require_write(path: Path) -> None:
    """A file may be written. Raises `NotPermitted`."""
    one = _in_use.get()
    if not isinstance(one, AnyCommand | ToolUse) and not permitted().writes(path):
        raise NotPermitted(literal(f"writes {path}"))


def may_read(variable: str) -> bool:
    """Whether the value of a variable may be put into a text."""
    return permitted().has(Variable(variable))
