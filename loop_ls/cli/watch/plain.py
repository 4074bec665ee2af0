"""A run told line by line, for logs and pipes: only what is settled, nothing that moves."""

from __future__ import annotations

from loop_ls.cli.watch.model import SAID, Watched, mark, only_warns, said
from loop_ls.cli.watch.words import loop_ending
from loop_ls.contract.amounts import money
from loop_ls.contract.endings import ENDED
from loop_ls.contract.run_view.parts import message_of
from loop_ls.report.terminal_text import first_line, fitted, shown
from loop_ls.text.json_value import JsonObject, int_field, text_field

WIDTH = 100


def told(event: JsonObject, watched: Watched) -> list[str]:
    """The lines for an event; `watched` has taken it in already. Why a step failed is told with what comes next, and
    not where that is the end of the run for the same reason."""
    lines, ends, untold = _told(event, watched), event["kind"] in ENDED, watched.untold
    if not lines and not ends:
        return []
    why = message_of(event.get("error"))
    watched.untold = why if event["kind"] == "step_failed" else ""
    return lines if not untold or (ends and untold in why) else [_line("   ", untold), *lines]


def _told(event: JsonObject, watched: Watched) -> list[str]:
    place = str(event.get("place", ""))
    outer = "/" not in place
    match event["kind"]:
        case "step_completed" if outer and event.get("mode") != "loop":
            return [_line(f"✓ {event.get('step')}", str(event.get("output", "")))]
        case "step_completed" if outer:
            loop = watched.view.loops.get(place)
            failed = () if loop is None else loop.failed
            ended = loop_ending(text_field(event, "reason"), int_field(event, "totalIterations") or 0, failed)
            return [f"{event.get('step')}: {ended}"]
        case "step_failed" if outer:
            return [f"✗ {event.get('step')}"]
        case "step_skipped" if outer:
            return [f"– {event.get('step')} (skipped)"]
        case "judged":
            return _judged(event, place, watched)
        case "iteration_failed":
            number, limit = event.get("iteration"), ""
            message = message_of(event.get("error"))
            return [_line(f"{event.get('loop')} {number}{limit} failed", message)]
        case "retrying":
            return [f"{place}: {watched.waiting}"]
        case "call" if watched.fallback:
            return [f"! {watched.fallback}"]
        case "paused" if event.get("because"):
            return [f"{watched.until or 'paused'}: {shown(str(event['because']))}"]
        case "paused" | "resumed" | "stopping":
            return [str(event["kind"])]
        case kind if kind in SAID or kind in ("warning", "recovered") or only_warns(event):
            return [f"! {watched.notes[-1]}"] if watched.notes else []
        case _:
            return []


def _judged(event: JsonObject, place: str, watched: Watched) -> list[str]:
    row = watched.view.row_of(place)
    if row is None or row.kind != "iteration":
        return []
    if place.count("/") > 1:
        return [f"  {row.name} {row.number}  {mark(row)}"]
    price = f"  {money(row.total_usd)}" if row.total_usd else ""
    limit = f"/{row.max}" if row.max else ""
    head = _line(f"{shown(row.name)} {row.number}{limit}  {mark(row):<3}", said(row)) + price
    return [head, *(f"    {fitted(shown(one), WIDTH)}" for one in row.findings)]


def _line(head: str, text: str) -> str:
    said = fitted(first_line(text), WIDTH - len(head))
    return f"{head}  {said}" if said else head
