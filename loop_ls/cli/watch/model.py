"""Model of a run that is watched: the view of its facts, and what moves between them (text, waits, notes). Pure.

Parts are the elements of the started workflow in the order in which they begin; a loop has the rows of its iterations.
Loops inside of iterations are seen in the line of the iteration they belong to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from loop_ls.cli.watch.words import noted, verdict_word
from loop_ls.contract.amounts import waiting_until
from loop_ls.contract.endings import ENDED
from loop_ls.contract.run_view.fold import RunView
from loop_ls.contract.run_view.parts import Loop, Row, Stage, message_of
from loop_ls.report.terminal_text import first_line, shown
from loop_ls.text.json_value import JsonObject, float_field, text_field

#: Streamed text is shown by its end; more than this is not kept.
KEPT = 600
#: Facts of which a person hears a sentence while a run goes on.
SAID = frozenset(
    {
        "budget_warning",
        "unchanged_output_warning",
        "manual_approval_required",
        "note_added",
        "note_given",
        "prompt_changed",
    }
)
_STATES = {"completed": "done", "failed": "failed", "skipped": "skipped"}


class Part(NamedTuple):
    """A step or a loop of the started workflow. `state`: running, done, failed, skipped."""

    name: str
    is_loop: bool
    limit: int | None = None
    state: str = "running"
    text: str = ""
    reason: str | None = None
    rounds: Sequence[Row] = ()
    failed: Sequence[int] = ()


class Watched:
    """Feed it the events of one run in order."""

    def __init__(self, name: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self._clock = name, clock
        self.view = RunView(KEPT)
        self.began = clock()
        self.paused = False
        self.until = ""  # when it goes on by itself, in words
        self.stopping = False
        self.waiting = ""
        self.notes: list[str] = []
        self.end: JsonObject | None = None
        self.doing = ""
        self.fallback = ""
        self.untold = ""  # why a step failed, while the end of the run may be about to say it
        self._streams: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._questions: dict[str, str] = {}

    @property
    def parts(self) -> dict[str, Part]:
        view = self.view
        found = {one.place: _part(one, view.loops.get(one.place)) for one in view.outside if "/" not in one.place}
        alone = [loop for place, loop in view.loops.items() if "/" not in place and place not in found]
        return found | {loop.place: _loop(loop.name, loop) for loop in alone}

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

    def apply(self, event: JsonObject) -> None:
        self.view.take(event)
        place = str(event.get("place", ""))
        match event["kind"]:
            case "run_started":
                self.name = shown(str(event.get("name") or self.name))
            case "text":
                self._hear(place, str(event.get("text", "")))
            case "step_started" if "/" in place:
                self.doing = shown(str(event.get("step") or ""))
            case "step_completed" | "step_failed":
                self._streams.pop(place, None)
                self.doing = ""
            case "iteration" | "iteration_failed" | "judged" if place.count("/") == 1:
                self._streams.clear()
            case "checked" if only_warns(event):
                self.notes.append(f"{shown(text_field(event, 'check'))}: {first_line(text_field(event, 'reason'))}")
            case "call":
                self.waiting = ""
                self._answered(place, event)
            case "retrying":
                self.waiting = _because(event)
            case "warning":
                self.notes.append(shown(str(event.get("message", ""))))
            case "manual_approval_required":
                self.notes.append(shown(noted(event)))
                self._questions[str(event.get("loopId"))] = self.notes[-1]
            case "approval_resolved":
                answered = self._questions.pop(str(event.get("loopId")), None)
                self.notes = [note for note in self.notes if note != answered]
            case kind if kind in SAID:
                self.notes.append(shown(noted(event)))
            case "recovered":
                twice = "; one call may have been billed twice" if event.get("mayHavePaidTwice") else ""
                self.notes.append(f"recovered after a restart{twice}")
            case "paused" | "resumed" | "stopping":
                self.paused = event["kind"] == "paused"
                self.until = waiting_until(event.get("until"))
                self.stopping = event["kind"] == "stopping"
            case kind if kind in ENDED:
                self.end, self.paused, self.stopping = event, False, False
                self._streams.clear()

    def _answered(self, place: str, event: JsonObject) -> None:
        """`fallback` says who answered, where another one was asked first and did not."""
        model, self.fallback = f"{event.get('provider')}/{event.get('model')}", ""
        if event.get("error") is not None:
            self._refused.setdefault(place, model)
        elif (first := self._refused.pop(place, model)) != model:
            self.fallback = shown(f"{place}: {model} answered, {first} did not")
            self.notes.append(self.fallback)

    def _hear(self, place: str, text: str) -> None:
        heard = self._streams.pop(place, "") + text
        self._streams[place] = heard[-KEPT:]
        self.waiting = ""


def only_warns(event: JsonObject) -> bool:
    """Whether it is a check that did not pass and fails nothing; of others an iteration or the end of the run tells."""
    return event["kind"] == "checked" and event.get("severity") == "warn" and event.get("verdict") != "pass"


def mark(row: Row) -> str:
    """YES, NO, ? or failed; empty until it is judged."""
    if row.verdict is not None:
        return verdict_word(row.verdict)
    return "failed" if row.error is not None else ""


def said(row: Row) -> str:
    """What came of an iteration."""
    return message_of(row.error) or (row.output or "").strip() or row.answer or ""


def _part(stage: Stage, loop: Loop | None) -> Part:
    if stage.mode == "loop" and stage.status != "skipped":
        return _loop(stage.name, loop)
    text = message_of(stage.error) if stage.status == "failed" else stage.output or ""
    state = _STATES.get(stage.status, "running")
    return Part(shown(stage.name), stage.mode == "loop", state=state, text=text, reason=stage.reason)


def _loop(name: str, loop: Loop | None) -> Part:
    if loop is None:
        return Part(shown(name), True)
    state = _STATES.get(loop.status, "running")
    return Part(shown(name), True, loop.max, state, message_of(loop.error), loop.reason, loop.rows, loop.failed)


def _because(event: JsonObject) -> str:
    delay = float_field(event, "delay") or 0.0
    when = f"next try in {delay:.0f} s" if delay >= 1 else "trying again"
    return shown(f"attempt {event.get('attempt', '?')}, {when}: {message_of(event.get('because'))}")
