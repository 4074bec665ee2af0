"""The list of runs as a table that people read: how each one stands, in words, newest first."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from loop_ls.contract.amounts import ago, clock, money, waiting_until
from loop_ls.contract.endings import ending
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.report.paint import Paint, wants_colour
from loop_ls.report.terminal_text import fitted, shown, width
from loop_ls.rules.engine.finding import Severity

if TYPE_CHECKING:
    from loop_ls.contract.run_state import RunStateView

Cell = tuple[str, Callable[[str], str]]

SHORT = 6
LEAST_NAME = 8
MOST_NAME = 40
#: Statuses of runs that go on, with what is shown of them. Those that ended say why.
_GOING = {
    "queued": "○ queued",
    "running": "● running",
    "stopping": "● stopping",
    "paused": "◉ paused",
    "waiting_approval": "? waits for you",
    "interrupted": "◌ interrupted",
}


def table(states: list[RunStateView], out: TextIO | None = None, now: datetime | None = None) -> None:
    out = out or sys.stdout
    paint, at = Paint(wants_colour(out)), now or datetime.now(UTC)
    users = any(state.get("user") for state in states)
    head = ["ID", "NAME", "STATUS", "ITERATION", "COST", "TIME", "STARTED", *(["USER"] if users else [])]
    rows: list[list[Cell]] = [[(name, paint.bold) for name in head]]
    rows += [_cells(state, paint, at, users) for state in states]
    room = shutil.get_terminal_size().columns if out.isatty() else 0
    widths = [max(width(row[column][0]) for row in rows) for column in range(len(head))]
    widths[1] = _name_room(widths, room)
    for row in rows:
        print("  ".join(_padded(cell, room) for cell, room in zip(row, widths, strict=True)).rstrip(), file=out)


def outcome(state: RunStateView) -> str:
    """How a run stands, in a few words and with a mark. A limit never looks like success."""
    status = state["status"]
    if status in _GOING:
        label = f" ({shown(state['label'])})" if state.get("label") else ""
        going = f"◉ {waits}" if (waits := waiting_until(state.get("resumesAt"))) else _GOING[status]
        return f"{going}{label}"
    told = ending(state)
    return f"{told['sign']} {shown(told['short'])}" if told else status


def since(moment: object, now: datetime) -> str:
    """How long ago a moment in ISO 8601 was; nothing where it is none."""
    try:
        at = datetime.fromisoformat(str(moment).replace("Z", "+00:00"))
    except ValueError:
        return ""
    return ago((now - at).total_seconds())


def iteration(state: RunStateView) -> str:
    number, limit = state.get("iteration"), state.get("maxIterations")
    if not number:
        return ""
    return f"{number}/{limit}" if limit else f"{number}/∞" if state.get("format") == ROLE_LOOP else str(number)


def _cells(state: RunStateView, paint: Paint, now: datetime, users: bool) -> list[Cell]:
    said = outcome(state)
    cells: list[Cell] = [
        (state["runId"][:SHORT], str),
        (fitted(shown(state["name"]), MOST_NAME), str),
        (said, _tint(said, paint)),
        (iteration(state), str),
        (money(state.get("costUsd")), str),
        (clock(state.get("elapsedMs", 0)), str),
        (since(state.get("startedAt"), now), paint.faint),
    ]
    return [*cells, (shown(state.get("user") or ""), str)] if users else cells


def _tint(said: str, paint: Paint) -> Callable[[str], str]:
    match said[0]:
        case "✓":
            return paint.good
        case "✗":
            return lambda text: paint.severity(text, Severity.ERROR)
        case "◼" | "?":
            return lambda text: paint.severity(text, Severity.WARNING)
        case "●":
            return paint.bold
        case _:
            return str


def _name_room(widths: list[int], room: int) -> int:
    """The column of names gives way to a narrow terminal, but never entirely."""
    rest = sum(widths) - widths[1] + 2 * (len(widths) - 1)
    return widths[1] if not room else max(LEAST_NAME, min(widths[1], room - rest))


def _padded(cell: Cell, room: int) -> str:
    text = fitted(cell[0], room)
    return cell[1](text) + " " * (room - width(text))
