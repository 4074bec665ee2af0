"""Parts of a run view: rows, stages, loops, rounds.

The fold owns them and changes them in place, so that a fact costs the same in a run of any length; readers only look.
Moments are ISO 8601 as in the facts, money is US dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from loop_ls.contract.amounts import money
from loop_ls.text.json_value import Json, JsonObject, int_field, text_field

Event = JsonObject
Status = Literal["running", "waiting", "completed", "failed", "cancelled", "skipped"]


class Verdict(NamedTuple):
    """What the judge said of one iteration; `failed`: the iteration itself failed, and `answer` says how."""

    iteration: int
    verdict: str  # yes | no | unclear | error | failed
    output: str = ""  # what was judged
    answer: str = ""
    local: bool = False


class Retry(NamedTuple):
    """A call that is tried again after `delay` seconds."""

    attempt: int | None
    delay: float
    message: str

    def line(self) -> str:
        when = f", in {round(self.delay, 1):g} s" if self.delay > 0 else ""
        return f"try {'again' if self.attempt is None else self.attempt}{when}: {self.message}"


@dataclass(slots=True)
class Stage:
    """A step of a workflow or a stage of a role loop. `more`: what only some kinds have (file, task, session, ...)."""

    place: str
    name: str
    mode: str | None
    role: str | None
    status: Status
    started_at: str | None
    ended_at: str | None = None
    ended_seq: int | None = None  # the fact that has all of its output
    output: str | None = None
    length: int = 0
    error: Event | None = None
    reason: str | None = None
    total_iterations: int | None = None
    artifact: str | None = None
    verdict: str | None = None  # of a stage whose output approves or refuses the iteration
    usd: float | None = None
    tools: int = 0
    retry: Retry | None = None
    row: Row | None = None  # the row it is shown in
    more: dict[str, Json] = field(default_factory=dict)

    @property
    def note(self) -> str | None:
        """What it waits for, or what went wrong with it."""
        return self.retry.line() if self.retry else message_of(self.error) or None

    def wire(self) -> Event:
        found = {
            "place": self.place,
            "name": self.name,
            "mode": self.mode or "role",
            "status": self.status,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "verdict": self.verdict,
            "usd": self.usd,
            "cost": money(self.usd) or None,
            "tools": self.tools or None,
            "note": self.note,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class Tokens:
    input: int = 0
    output: int = 0

    def add(self, tokens: Event) -> None:
        self.input += int_field(tokens, "input") or 0
        self.output += int_field(tokens, "output") or 0


@dataclass(slots=True)
class Row:
    """A line of a run: the heading of a loop, one try of an iteration, or a step that lies in no iteration.

    `usd`, `calls` and `tokens` are its own, `total_usd` and `total_tokens` those of everything inside. `first` and
    `last` number the facts of it; `last` is also what makes it new for a reader who saw the run before."""

    id: str
    kind: Literal["loop", "iteration", "step"]
    name: str
    started_at: str | None
    first: int
    last: int
    depth: int = 0
    parent: Row | None = None
    number: int = 0
    attempt: int = 1
    max: int | None = None
    item: str | None = None
    status: Status = "running"
    ended_at: str | None = None
    output: str | None = None
    length: int = 0
    error: Event | None = None
    verdict: str | None = None
    answer: str | None = None
    local: bool | None = None
    criterion: str | None = None
    may_be_impossible: bool | None = None
    condition: str | None = None
    interpolated: str | None = None
    findings: list[str] = field(default_factory=list)
    reason: str | None = None
    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    usd: float | None = None
    total_tokens: int = 0
    total_usd: float | None = None
    retry: Retry | None = None
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    took: tuple[str | None, float] | None = None  # kept by who counts: the end, and the seconds until then
    more: dict[str, Json] = field(default_factory=dict)

    @property
    def note(self) -> str | None:
        return self.retry.line() if self.retry else message_of(self.error) or None

    def wire(self) -> Event:
        found = {
            "id": self.id,
            "kind": self.kind,
            "parent": None if self.parent is None else self.parent.id,
            "name": self.name,
            "depth": self.depth,
            "number": self.number,
            "max": self.max,
            "attempt": self.attempt,
            "item": self.item,
            "status": self.status,
            "verdict": self.verdict,
            "local": self.local,
            "findings": self.findings or None,
            "condition": self.condition if self.kind == "loop" else None,
            "reason": self.reason,
            "excerpt": excerpt(self.output, self.length),
            "length": self.length,
            "usd": self.total_usd,
            "cost": money(self.total_usd) or None,
            "tokens": self.total_tokens,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "note": self.note,
            "stages": [stage.wire() for stage in self.stages],
            "warnings": self.warnings,
            "first": self.first,
            "last": self.last,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class Loop:
    """A loop with how far it is and how it ended. `status` stays `running` where the run ended before it."""

    place: str
    name: str
    depth: int = 0
    status: Literal["running", "completed", "failed"] = "running"
    iteration: int = 0
    max: int | None = None
    reason: str | None = None
    error: Event | None = None
    heading: Row | None = None
    rows: list[Row] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def failed(self) -> list[int]:
        """Iterations whose last try failed."""
        last = {row.number: row for row in self.rows}
        return sorted(number for number, row in last.items() if row.status == "failed")


class Node(NamedTuple):
    """An element of the run's graph, by the names that lead to it."""

    status: Status
    note: str | None = None

    def wire(self) -> Event:
        return {"status": self.status} if self.note is None else {"status": self.status, "note": self.note}


def message_of(error: Json) -> str:
    if isinstance(error, dict):
        return text_field(error, "message")
    return error if isinstance(error, str) else ""


def excerpt(said: str | None, length: int = 0, most: int = 200) -> str:
    """The beginning, on one line, of a text that is `length` long and may be cut already."""
    known = said or ""
    line = " ".join(known[: most * 4].split())
    if len(line) <= most and len(known) <= most * 4 and length <= len(known):
        return line
    return f"{line[: most - 1]}…"


def part(event: Event, key: str) -> Event:
    """The object under a name; an empty one where there is none."""
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def moment(event: Event) -> str | None:
    return text_field(event, "at") or None
