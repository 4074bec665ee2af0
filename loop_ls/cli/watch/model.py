"""What is known of a run while it goes on: a fold over its events, made for showing. Pure.

Parts are the elements of the started workflow in the order in which they begin; a loop has rounds.
Loops inside of rounds are seen in the line of the round they belong to.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loop_ls.cli.watch.words import noted
from loop_ls.report.terminal_text import shown

Event = dict[str, Any]

#: Streamed text is shown by its end; more than this is not kept.
KEPT = 600
ENDS = frozenset({"completed", "failed", "cancelled"})


@dataclass(slots=True)
class Round:
    """One try of one iteration. `mark` is empty until it is judged."""

    number: int
    attempt: int = 1
    mark: str = ""
    text: str = ""
    usd: float | None = None
    began: float = 0.0
    seconds: float | None = None
    answer: str = ""


@dataclass(slots=True)
class Part:
    """A step or a loop of the started workflow. `state`: running, done, failed, skipped."""

    name: str
    is_loop: bool = False
    limit: int | None = None
    state: str = "running"
    text: str = ""
    reason: str | None = None
    rounds: list[Round] = field(default_factory=list)


class Watched:
    """Feed it the events of one run in order."""

    def __init__(self, name: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self._clock = name, clock
        self.parts: dict[str, Part] = {}
        self.began = clock()
        self.usd: float | None = None
        self.tokens = 0
        self.calls = 0
        self.paused = False
        self.stopping = False
        self.waiting = ""
        self.notes: list[str] = []
        self.end: Event | None = None
        self.last_seq = 0
        self.doing = ""
        self._streams: dict[str, str] = {}

    @property
    def elapsed(self) -> float:
        return self._clock() - self.began

    @property
    def streaming(self) -> tuple[str, str] | None:
        """Where text comes in right now, and its end."""
        if not self._streams:
            return None
        place = next(reversed(self._streams))
        return place, self._streams[place]

    def apply(self, event: Event) -> None:
        self.last_seq = max(self.last_seq, int(event.get("seq") or 0))
        place = str(event.get("place", ""))
        match event["kind"]:
            case "run_started":
                self.name = shown(str(event.get("name") or self.name))
            case "text":
                self._hear(place, str(event.get("text", "")))
            case "step_started" | "step_skipped" if "/" not in place:
                self._begin(place, event)
            case "step_started":
                self.doing = shown(str(event.get("step") or ""))
            case "step_completed" | "step_failed":
                self._streams.pop(place, None)
                self.doing = ""
                if "/" not in place and place in self.parts:
                    self._finish(self.parts[place], event)
            case "iteration_started" | "iteration" | "iteration_failed" | "judged":
                self._round(place, event)
            case "call":
                self._pay(place, event)
            case "retrying":
                self.waiting = _because(event)
            case "warning":
                self.notes.append(shown(str(event.get("message", ""))))
            case "budget_warning" | "unchanged_output_warning" | "manual_approval_required":
                self.notes.append(shown(noted(event)))
            case "recovered":
                twice = "; one call may have been paid twice" if event.get("mayHavePaidTwice") else ""
                self.notes.append(f"recovered after a restart{twice}")
            case "paused" | "resumed" | "stopping":
                self.paused = event["kind"] == "paused"
                self.stopping = event["kind"] == "stopping"
            case kind if kind in ENDS:
                self.end, self.paused, self.stopping = event, False, False
                self._streams.clear()

    # -- parts -----------------------------------------------------------------------------------

    def _begin(self, place: str, event: Event) -> None:
        name = shown(str(event.get("step") or place))
        part = Part(name, event.get("mode") == "loop", event.get("maxIterations"))
        if event["kind"] == "step_skipped":
            part.state = "skipped"
        self.parts[place] = part

    def _finish(self, part: Part, event: Event) -> None:
        failed = event["kind"] == "step_failed"
        part.state = "failed" if failed else "done"
        part.reason = event.get("reason")
        part.text = str((event.get("error") or {}).get("message", "")) if failed else str(event.get("output", ""))

    def _round(self, place: str, event: Event) -> None:
        """Rounds of the loops of the started workflow: `develop/3`, `develop/3.2`."""
        home, _, turn = place.partition(":")[0].partition("/")
        if "/" in turn or not turn:
            return
        part = self.parts.setdefault(home, Part(shown(str(event.get("loop") or home)), True))
        part.is_loop = True
        part.limit = event.get("maxIterations") or part.limit
        if event["kind"] == "iteration_started":
            part.rounds.append(Round(int(event["iteration"]), int(event.get("attempt") or 1), began=self._clock()))
            return
        if not part.rounds:
            return
        now = part.rounds[-1]
        now.seconds = self._clock() - now.began
        match event["kind"]:
            case "iteration":
                now.text = str(event.get("output", ""))
            case "iteration_failed":
                now.mark, now.text = "failed", str((event.get("error") or {}).get("message", ""))
            case _:
                now.mark = {"yes": "YES", "no": "NO"}.get(str(event.get("verdict")), "?")
                now.answer = str(event.get("answer", ""))
        self._streams.clear()

    # -- streams and money -----------------------------------------------------------------------

    def _hear(self, place: str, text: str) -> None:
        heard = self._streams.pop(place, "") + text
        self._streams[place] = heard[-KEPT:]
        self.waiting = ""

    def _pay(self, place: str, event: Event) -> None:
        self.waiting = ""
        if event.get("copied"):  # another run has paid for it
            return
        self.calls += 1
        self.tokens += sum((event.get("tokens") or {}).values())
        usd = event.get("usd")
        if usd is None:
            return
        self.usd = (self.usd or 0.0) + usd
        part = self.parts.get(place.partition("/")[0].partition(":")[0])
        if part is not None and part.rounds:
            part.rounds[-1].usd = (part.rounds[-1].usd or 0.0) + usd


def _because(event: Event) -> str:
    because = event.get("because") or {}
    delay = float(event.get("delay") or 0.0)
    when = f"next try in {delay:.0f} s" if delay >= 1 else "trying again"
    return shown(f"attempt {event.get('attempt', '?')}, {when}: {because.get('message', '')}")
