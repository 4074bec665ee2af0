"""What happened in a run, on one page: for whoever comes back to a loop that worked all night.

Made of its facts alone, so that it says the same of a run that is still at work. However long the run was, the page
stays one: iterations that went alike are one line, and of what is left the middle is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loop_ls.contract.amounts import clock, count, money
from loop_ls.contract.endings import CHECKS, VERDICTS, short
from loop_ls.report.local_time import local_time
from loop_ls.report.terminal_text import first_line, fitted, shown
from loop_ls.text.json_value import Json, as_object, float_field, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.contract.run_state import RunStateView

#: Lines of what happened, and of anything else that could be long.
MOST_EVENTS, MOST = 30, 8
WIDTH = 100

Event = Mapping[str, Json]


@dataclass(slots=True)
class _Line:
    at: str
    told: str


@dataclass(slots=True)
class _Rounds:
    """Iterations of one loop, one behind the other, of which the same was said."""

    at: str
    loop: str
    said: str
    numbers: list[int] = field(default_factory=list)


def report(state: RunStateView, ending: str, events: Sequence[Event]) -> list[str]:
    """The lines. `ending` says how the run ended, or how it stands, in one line."""
    began, ended = state.get("startedAt"), state.get("endedAt")
    when = " – ".join(filter(None, (_moment(began), _moment(ended))))
    head = [f"{shown(state['name'])}  {ending}", f"  {' · '.join(filter(None, (when, state['runId'])))}"]
    asked = state.get("goal") or next((text_field(one, "message") for one in events if text_field(one, "message")), "")
    if asked:
        head.append(f"  asked: {_first(asked)}")
    lines = [
        *head,
        *_part("What happened", _middle_left_out([f"{one.at}  {one.told}" for one in _happened(events)])),
        *_part("Checks with mixed results", _checks(events)),
        *_part("Open findings", _findings(events)),
        *_part("Models and agents", _calls(events)),
        *_part("Last output", _lines(state.get("lastOutput") or "")),
        *_part("Error", _error(state)),
    ]
    return [shown(line) for line in lines]  # names of loops and steps are somebody's words, too


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", title)
        yield from (f"  {line}".rstrip() for line in found)


def _happened(events: Sequence[Event]) -> list[_Line]:
    found: list[_Line | _Rounds] = []
    for event in events:
        at = _time(event.get("at"))
        if (done := _round(event)) is not None:
            number, said = done
            loop, last = text_field(event, "loop"), found[-1] if found else None
            if not (isinstance(last, _Rounds) and (last.loop, last.said) == (loop, said)):
                found.append(last := _Rounds(at, loop, said))
            last.numbers.append(number)
        elif told := _told(event):
            found.append(_Line(at, told))
    return [one if isinstance(one, _Line) else _Line(one.at, _rounds(one)) for one in found]


def _round(event: Event) -> tuple[int, str] | None:
    """An iteration that was judged, or failed, and what came of it."""
    number = int_field(event, "iteration")
    match event.get("kind"):
        case "judged" if number:
            checks = " (checks failed)" if event.get("criterion") == CHECKS and event.get("verdict") == "no" else ""
            return number, VERDICTS.get(text_field(event, "verdict"), "?") + checks
        case "iteration_failed" if number:
            return number, f"failed: {_message(event)}"
        case _:
            return None


def _rounds(one: _Rounds) -> str:
    numbers = sorted(set(one.numbers))
    name = f"{one.loop}: " if one.loop else ""
    which = f"iteration {numbers[0]}" if len(numbers) == 1 else f"iterations {numbers[0]}–{numbers[-1]}"
    return f"{name}{which}: {one.said}"


def _told(event: Event) -> str:
    match event.get("kind"):
        case "paused" | "resumed" | "interrupted" | "recovered" | "stopping":
            return _pause(event)
        case "manual_approval_required" | "approval_resolved" | "note_added":
            return _person(event)
        case "run_started":
            return "started"
        case "completed" | "failed" | "cancelled":
            return (
                f"ended: {short(text_field(event, 'reason') or text_field(event, 'cause'), text_field(event, 'kind'))}"
            )
        case "step_failed" | "stage_failed":
            return f"{event.get('step') or event.get('stage')} failed: {_message(event)}"
        case _:
            return _warning(event)


def _pause(event: Event) -> str:
    match event.get("kind"):
        case "paused" if until := event.get("until"):
            return f"waits until {_time(until)} for a usage limit to reset: {_first(text_field(event, 'because'))}"
        case "paused":
            return f"paused ({event.get('reason') or 'user'})"
        case "interrupted":
            return f"interrupted ({event.get('reason') or 'engine_restart'})"
        case "recovered":
            twice = ", one call may have been billed twice" if event.get("mayHavePaidTwice") else ""
            return f"resumed after an interruption{twice}"
        case "stopping":
            return "was asked to stop"
        case _:
            return "continued"


def _person(event: Event) -> str:
    match event.get("kind"):
        case "note_added":
            return f"a person noted: {_first(text_field(event, 'text'))}"
        case "approval_resolved":
            return "a person approved" if event.get("approved") else "a person rejected"
        case _:
            return f"asked a person about iteration {event.get('iteration')}"


def _warning(event: Event) -> str:
    match event.get("kind"):
        case "warning":
            return f"warning: {_first(text_field(event, 'message'))}"
        case "unchanged_output_warning":
            return f"the last {event.get('repeated')} outputs were {'empty' if event.get('empty') else 'the same'}"
        case "budget_warning":
            spent, cap = money(float_field(event, "spentUsd")), money(float_field(event, "capUsd"))
            return f"{spent} of {cap} spent" if cap else "most of the token limit is used"
        case _:
            return ""


def _checks(events: Sequence[Event]) -> list[str]:
    """Checks that failed, and how often: one that passes now and then shows itself here."""
    failed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for event in events:
        if event.get("kind") == "checked":
            asked[text_field(event, "check")] += 1
            failed[text_field(event, "check")] += event.get("verdict") != "pass"
    told = [
        f"{shown(name)}: {number} of {count(asked[name], 'time')} failed" for name, number in failed.items() if number
    ]
    return [*told[:MOST], *_more(len(told) - MOST)]


def _findings(events: Sequence[Event]) -> list[str]:
    judged = [event.get("findings") for event in events if event.get("kind") == "judged" and event.get("findings")]
    last = judged[-1] if judged else None
    rows = [as_object(one) for one in last] if isinstance(last, list) else []
    told = [_finding(row) for row in rows if not row.get("settled")]
    return [*told[:MOST], *_more(len(told) - MOST)]


def _finding(row: Mapping[str, Json]) -> str:
    where = text_field(row, "location")
    summary = _first(text_field(row, "summary"))
    return f"{text_field(row, 'severity')}: {summary}{f' ({shown(where)})' if where else ''}"


def _calls(events: Sequence[Event]) -> list[str]:
    """Whom the run has asked, what it took, and what came to nothing."""
    rows: dict[str, list[Event]] = {}
    for event in events:
        if event.get("kind") == "call":
            name = f"{text_field(event, 'provider')}/{text_field(event, 'model')}".rstrip("/")
            rows.setdefault(name, []).append(event)
    told = [_called(name, calls) for name, calls in rows.items()]
    return [*told[:MOST], *_more(len(told) - MOST)]


def _called(name: str, calls: Sequence[Event]) -> str:
    tokens = [as_object(one.get("tokens")) for one in calls]
    used = sum((int_field(one, "input") or 0) + (int_field(one, "output") or 0) for one in tokens)
    lost = sum(bool(one.get("error")) for one in calls)
    prices = [usd for one in calls if (usd := float_field(one, "usd")) is not None]
    parts = (
        count(len(calls), "call"),
        f"{lost} without an answer" if lost else "",
        count(used, "token") if used else "",
        money(sum(prices)) if prices else "",
        clock(1000 * sum(float_field(one, "duration") or 0.0 for one in calls)),
    )
    return f"{shown(name)}: {' · '.join(filter(None, parts))}"


def _error(state: RunStateView) -> list[str]:
    error = state.get("error")
    return [] if error is None else [_first(text) for text in (error["message"], error.get("hint") or "") if text]


def _lines(text: str) -> list[str]:
    lines = [fitted(shown(line.strip()), WIDTH) for line in text.splitlines() if line.strip()]
    return [*lines[:MOST], *_more(len(lines) - MOST, "line")]


def _middle_left_out(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_EVENTS:
        return lines
    half = MOST_EVENTS // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} more …", *lines[-half:]]


def _more(number: int, noun: str = "") -> list[str]:
    if number <= 0:
        return []
    return [f"… {count(number, f'more {noun}')}" if noun else f"… {number} more"]


def _message(event: Event) -> str:
    return _first(text_field(as_object(event.get("error")), "message"))


def _first(text: str) -> str:
    return fitted(first_line(text), WIDTH)


def _time(moment: object) -> str:
    """In the time of this machine."""
    found = local_time(moment)
    return found.strftime("%H:%M") if found else "     "


def _moment(moment: object) -> str:
    found = local_time(moment)
    return found.strftime("%Y-%m-%d %H:%M") if found else ""
