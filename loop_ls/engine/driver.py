"""The one loop machine: run a body, ask a judge, remember, respect limits, obey control, report facts.

Pure: no database, network, clock or process. Every loop system is a set of parts for `drive`; what they
call goes through the recorder, so a replay after a crash takes the same way without paying again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from loop_ls.engine.place import Place
from loop_ls.engine.ports import Failure, Recorder

OnFailure = Literal["halt", "continue", "retry"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One try of one iteration. `place.key` is its logical key (`develop/3`)."""

    place: Place
    number: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge found. `exit` is the reason to leave the loop; None: go on."""

    verdict: Literal["yes", "no", "unclear", "error"]
    exit: str | None = None
    answer: str = ""


class Body(Protocol):
    """Does one iteration: its output, or `Failure`/`ModelFailure`. Paid calls go through the recorder."""

    async def run(self, turn: Turn) -> str: ...


class Judge(Protocol):
    """Asked after each success. Journals `judged` itself, in one transaction with the answer."""

    async def judge(self, turn: Turn, output: str) -> Verdict: ...


class Memory(Protocol):
    """Hears of each success before the judge is asked; body and judge of one system share theirs."""

    def remember(self, turn: Turn, output: str) -> None: ...


class History:
    """The memory of workflow loops: all outputs so far, in order."""

    def __init__(self) -> None:
        self.outputs: list[str] = []

    def remember(self, turn: Turn, output: str) -> None:
        self.outputs.append(output)


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in seconds. `max_retries` counts further tries of the same iteration."""

    max_iterations: int | None = None
    on_failure: OnFailure = "halt"
    max_retries: int = 3
    retry_delay: float = 0.0
    per_iteration: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What makes one loop: `place` is the element's own (`develop`), `judge` None only counts."""

    name: str
    place: Place
    body: Body
    memory: Memory
    limits: Limits
    judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a loop or a whole run ended. `output` is the final one; `failure` is set where it failed."""

    reason: str
    output: str = ""
    iterations: int = 0
    failure: Failure | None = None


async def drive(loop: LoopParts, recorder: Recorder) -> Outcome:
    """Run the loop to its end. Raises `Stopped` (from the recorder) when a person stops the run."""
    raise NotImplementedError
