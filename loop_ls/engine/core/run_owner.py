"""Who owns runs while they go on, so that a crash of one process does not end them.

On one machine the journal alone tells which runs are unfinished, and the engine takes them up again at
once. An owner is told about each run too: with a shared database it hands them to the workers that live.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loop_ls.engine.journal import JournalRefused


@dataclass(frozen=True, slots=True)
class Taken:
    """A run from the common queue that is ours now. `again`: somebody had it before."""

    run_id: str
    again: bool


class Ears(Protocol):
    """What an engine hears of the others on its database; in a thread of theirs."""

    def taken(self, found: list[Taken]) -> None: ...

    def lost(self) -> None:
        """Our lease is over: what was ours is theirs."""
        ...

    def facts(self, position: int | None) -> None:
        """There are facts up to there."""
        ...

    def free(self, gate: str) -> None:
        """A place at a provider's gate is free."""
        ...

    def outdated(self, refused: JournalRefused) -> None:
        """A newer version has brought the journal to a format that this one cannot write."""
        ...

    def room(self) -> int:
        """How many more runs we can take."""
        ...

    def load(self) -> int:
        """How many we have."""
        ...


class Crew(Protocol):
    """The processes that share a database, as one of them sees it. `open` and `close` belong into a thread."""

    def open(self, ears: Ears) -> None:
        """Become one of them. Raises `JournalRefused`."""
        ...

    def freed(self, gate: str) -> None:
        """On the loop: somebody gave back a place at a provider's gate."""
        ...

    def close(self) -> None:
        """Give back what is unfinished, at once."""
        ...
