"""What a loop asks of an agent, and what it gets: the port that every runner fills.

A runner does one piece of work from nothing: a fresh process or a fresh model call, a fresh session, no
memory of the last one. Loops decide what to ask and when; runners know how a program is spoken to.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Literal, Protocol

from loop_ls.engine.core.ports import Bill
from loop_ls.text.record import equal_record

#: What an agent may do without being asked: everything; read, and run commands that change nothing; read;
#: answer from its prompt alone.
Access = Literal["full", "readonly-shell", "readonly", "minimal"]

#: Seconds without a line of output after which an agent counts as stuck.
IDLE = 300.0

#: The MCP server of our tools, as agents know it. (Claude Code keeps `workspace` to itself.)
SERVER = "loop_ls"
#: Seconds that it may take to start, on a machine that is busy.
SERVER_STARTS = 60

Hear = Callable[[str], None]


def deaf(text: str) -> None:
    """For callers who want only the whole answer."""


@equal_record
class Served:
    """Tools of ours that an agent is offered over MCP by what `words` start: these `names`, found by a `key`, which is
    good for this work alone. Without names there is no server."""

    names: tuple[str, ...] = ()
    key: str = field(default="", repr=False)

    def words(self, by_file: Callable[[str], str]) -> tuple[str, ...]:
        """`-P`: nothing of the workspace is imported. The key stands in a file that only we can read."""
        return (sys.executable, "-P", "-m", "loop_ls", "mcp", "--stage", by_file(self.key))


NOTHING_SERVED = Served()


@equal_record
class Assignment:
    """One piece of work. `system` is the system prompt, `appended` what comes after the agent's own.

    `tools` in the words of the agent; None leaves it its own. `only`: those of its access that it may use, in the words
    of Claude Code; None: all of them. A program that cannot be held to it knows the access alone. `steps`: so many
    model calls it may take; then it is asked for an answer without tools. `served` are tools of ours. `idle` and
    `total` in seconds, None: no limit. `environment` is laid over the reduced one. `place` and `purpose` go to the
    record of calls. `alone`: it is offered nothing that works beside or after it (agents of its own, schedules, loops).
    `bill` hears of work that gave no answer and was paid all the same.
    """

    message: str
    system: str = ""
    appended: str = ""
    folder: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    access: Access = "full"
    only: tuple[str, ...] | None = None
    steps: int | None = None
    served: Served = NOTHING_SERVED
    budget_usd: float | None = None
    name: str = ""
    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    idle: float | None = IDLE
    total: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    purpose: str = "agent"
    alone: bool = False
    bill: Bill | None = field(default=None, compare=False, repr=False)


@equal_record
class Work:
    """What came out. `usd` is None where nobody knows the price; `duration` in seconds."""

    text: str
    runner: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    duration: float = 0.0
    session: str = ""
    response_id: str | None = None  # of the provider, for whoever asks it about a call


class Runner(Protocol):
    """`name` is that of the provider; `program` the words with which its process starts, () where it
    starts none (who starts a loop is asked to agree to programs)."""

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> tuple[str, ...]: ...

    async def run(self, work: Assignment, hear: Hear = deaf) -> Work:
        """Do it; `hear` gets text as it comes. Cancelling ends the whole process group or the call.
        Raises `Failure` or `ModelFailure`."""
        ...
