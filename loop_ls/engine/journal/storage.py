"""The storage port of the journal: what a database must do for it. SQLite is one; others may follow.

One writer calls `write`; reads may come from other threads. Bodies and values are packed JSON
(`journal.serialization`); nothing here knows what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from loop_ls.engine.journal.refusal import JournalRefused

#: The key whose answer is the end of a run.
END = ":end"


@dataclass(slots=True)
class Entry:
    """What one logical key adds to a run, in one transaction with its facts.

    `key` None: facts of control, always added. `value` None: the call of `key` begins; otherwise its
    answer. A key that begins twice, or is answered twice, adds nothing the second time. `snapshot` is
    the folded state of a run that ended: a cache, no fact.

    `durable` False: must survive the end of this process at once, and a power failure only as soon as
    a durable entry follows. Whatever was paid for is durable. `owned`, where several processes share a journal: the
    claim on the run without which it is refused. `queued`: the run begins, and whoever has room takes it.
    `ongoing`: what people say of a run that goes on; it adds nothing once the run has its `END`.
    """

    run: str
    key: str | None = None
    value: str | None = None
    facts: Sequence[tuple[str, str]] = ()
    texts: dict[str, str] = field(default_factory=dict)
    at: float = 0.0
    snapshot: str | None = None
    forget: bool = False  # remove the run, with all of it that no other run shares
    durable: bool = True
    owned: str = ""
    queued: bool = False
    ongoing: bool = False


class Row(NamedTuple):
    """A stored fact."""

    position: int
    run: str
    seq: int
    kind: str
    at: float
    body: str


class RunRow(NamedTuple):
    """A run: `number` rises with every new run; `snapshot` is None while it may go on. `damaged`: the row is not what
    was written."""

    number: int
    run: str
    snapshot: str | None
    damaged: bool = False


class Storage(Protocol):
    """Raises `JournalRefused`, nothing else. After a refusal nothing of that batch is stored.

    `rebooted`: the machine was started anew since the journal was last open, so the last entries that
    were not durable may be missing. `shared`: other processes write too, so listeners hear of facts only
    after all that lie before them.
    """

    @property
    def rebooted(self) -> bool: ...

    @property
    def shared(self) -> bool: ...

    def refusing(self) -> JournalRefused | None:
        """Why what people ask for cannot be written now, known without trying."""
        ...

    def leave(self) -> None:
        """From now on nothing waits for a database that is away."""
        ...

    @property
    def prompt(self) -> bool:
        """`write` returns within microseconds: it may be called on the loop. Otherwise it waits for a
        disk or a network, and belongs into a thread."""
        ...

    def sync(self) -> None:
        """Wait until all that was written survives a power failure. Beside `write`, from a thread."""
        ...

    @property
    def untidy(self) -> bool:
        """Whether there is something for `tidy` to do."""
        ...

    def tidy(self) -> None:
        """Clean up, beside everything else: from a thread of its own, so that nobody waits for the disk longer."""
        ...

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        """Store all entries as one transaction: the facts that each one added. It survives the end of
        this process, and with the next `sync` a power failure. Calls never overlap."""
        ...

    def facts(self, run: str, after: int, limit: int) -> list[Row]:
        """Facts of a run with `seq` above `after`."""
        ...

    def iterations(self, run: str, number: int | None, before: int | None, limit: int) -> list[int]:
        """`seq` of the facts with which iterations of a run begin, those with `number`, the newest first, below
        `before`."""
        ...

    def since(self, position: int, limit: int) -> list[Row]:
        """Facts of all runs above `position`."""
        ...

    def newest(self, kinds: Sequence[str], position: int, limit: int) -> list[Row]:
        """Facts of these kinds of all runs above `position`, the newest first."""
        ...

    def position(self) -> int:
        """The position of the last fact; 0 where there is none."""
        ...

    def keys(self, run: str) -> tuple[set[str], list[str]]:
        """Keys of a run that have an answer, and keys that only began."""
        ...

    def answers(self, run: str) -> dict[str, str | None]:
        """All keys of a run with their answers; None where a call only began."""
        ...

    def value(self, run: str, key: str) -> str | None: ...

    def text(self, name: str) -> str:
        """A long text by its hash; empty where it is not there."""
        ...

    def runs(self, before: int | None, limit: int) -> list[RunRow]:
        """Runs, newest first, from below number `before`."""
        ...

    def unfinished(self) -> list[str]:
        """Runs without a snapshot, oldest first."""
        ...

    def matching(self, prefix: str, limit: int) -> list[str]:
        """Runs whose id begins so."""
        ...

    def snapshot(self, run: str) -> str | None: ...

    def close(self) -> None: ...
