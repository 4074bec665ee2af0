"""Runs printed for people: the table, one run with its iterations, one line for each fact."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from loop_ls.cli.watch.words import ending, first_line, fitted
from loop_ls.contract.amounts import clock, money
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject

Answer = dict[str, Any]

ENDS = frozenset({"completed", "failed", "cancelled"})
EXCERPT = 6
WIDTH = 100
_MARKS = {"yes": "YES", "no": "NO", "unclear": "?", "error": "?"}


def state(found: Answer) -> None:
    """One run in a few lines."""
    print(f"{found['runId']}  {shown(str(found.get('name') or ''))}  {_status(found)}")
    lines = (
        ("file", found.get("path")),
        ("loop", found.get("loop")),
        ("iteration", _iteration(found)),
        ("stage", found.get("stage")),
        ("cost", money(found.get("costUsd"))),
        ("tokens", sum((found.get("tokens") or {}).values()) or None),
        ("time", clock(found.get("elapsedMs", 0))),
        ("started", _local(found.get("startedAt"))),
        ("ended", _local(found.get("endedAt"))),
        ("limit", found.get("because")),
        ("goes on", _local(found.get("resumesAt"))),
        *(("cut off", _cut(each)) for each in found.get("cutOff") or ()),
        ("source", _source(found)),
        ("error", (found.get("error") or {}).get("message")),
        ("do", (found.get("error") or {}).get("hint")),
        ("remark", "one call may have been paid twice" if found.get("mayHavePaidTwice") else None),
    )
    for name, value in lines:
        if value:
            print(f"  {name:<10}{shown(str(value))}")


def _cut(one: JsonObject) -> str:
    whose = "the judge's answer at" if one.get("purpose") == "judge" else "the answer of"
    limit = f"`max_tokens` is {one['maxTokens']}" if one.get("maxTokens") else "no `max_tokens` is set"
    return f"{whose} {one.get('place')} ended at its length limit ({limit})"


def _source(found: Answer) -> str | None:
    source = found.get("source") or {}
    if not source:
        return None
    if source.get("kind") == "replay":
        return f"the answers of {source['runId']}, replayed"
    number = source.get("iteration")
    return f"{source['runId']}" + (f", from iteration {number} on" if number else "")


def history(answer: Answer, full: bool = False) -> None:
    """Steps and iterations as they began: verdict, question, answer, output, cost."""
    found: Answer = answer["state"]
    state(found)
    steps = [stage for stage in answer.get("stages") or [] if stage.get("mode") != "loop"]
    for row in sorted([*steps, *answer["history"]], key=lambda row: str(row.get("started_at"))):
        if "iteration_number" in row:
            _iteration_of(row, full)
        else:
            _step_of(row, full)
    if found.get("endedAt"):
        print(f"\n{ending(found)}")


def _step_of(row: Answer, full: bool) -> None:
    state = "" if row["status"] == "completed" else f"  {row['status']}"
    print(f"\n  {shown(str(row['name']))}{state}")
    _block("  ", "output", row.get("output"), full)
    _block("  ", "error", (row.get("error") or {}).get("message"), True)


def _iteration_of(row: Answer, full: bool) -> None:
    indent = "  " * (1 + int(row.get("depth") or 0))
    limit = f"/{row['max_iterations']}" if row.get("max_iterations") else ""
    again = f" (attempt {row['attempt']})" if row.get("attempt", 1) > 1 else ""
    mark = _MARKS.get(str(row.get("verdict")), "" if row["status"] == "completed" else row["status"])
    local = ", decided locally" if row.get("local") else ""
    head = f"{shown(str(row['loop']))} iteration {row['iteration_number']}{limit}{again}"
    print(f"\n{indent}{'  '.join(part for part in (head, mark + local, money(row.get('usd'))) if part)}")
    for stage in row.get("stages") or [] if full else []:
        _block(indent, str(stage["name"]), stage.get("output"), full)
    _block(indent, "output", row.get("output"), full)
    if row.get("error"):
        _block(indent, "error", row["error"].get("message"), True)
    if row.get("question"):
        _block(indent, "question", row["question"] if full else f'"{row.get("condition", "")}", about the output', full)
    elif row.get("condition"):
        _block(indent, "condition", row["condition"], full)
    _block(indent, "answer", row.get("answer"), full)


def _block(indent: str, name: str, text: object, full: bool) -> None:
    if not text:
        return
    lines = [shown(line) for line in str(text).splitlines()] or [""]
    kept = lines if full else lines[:EXCERPT]
    for number, line in enumerate(kept):
        label = f"{name}:" if number == 0 else ""
        print(f"{indent}  {label:<10} {line if full else fitted(line, WIDTH)}".rstrip())
    if len(kept) < len(lines):
        print(f"{indent}  {'':<10} … {len(lines) - len(kept)} more lines (--full)")


def indented(text: str) -> None:
    for line in text.splitlines():
        print(f"    {shown(line)}".rstrip())
    print()


def event_line(event: JsonObject) -> str:
    """One fact, one line."""
    seq = event.get("seq")
    number = f"{seq:>4}" if seq else "    "
    time = str(event.get("at", ""))[11:19]
    place = str(event.get("place", ""))
    return f"{number}  {time}  {event['kind']:<20} {place:<28} {_gist(event)}".rstrip()


def _gist(event: Answer) -> str:
    match event["kind"]:
        case "judged":
            local = " (locally)" if event.get("local") else ""
            return f"{event.get('verdict')}{local}: {first_line(str(event.get('answer', '')))}"
        case "call":
            tokens = event.get("tokens") or {}
            cost = money(event.get("usd"))
            said = f"{event.get('provider')}/{event.get('model')} {tokens.get('input', 0)}+{tokens.get('output', 0)}"
            return f"{said} tokens {cost}".rstrip()
        case "tool_called":
            failed = "failed: " if event.get("failed") else ""
            said = f"{failed}{event.get('tool')} {event.get('arguments') or ''}"
            return fitted(first_line(f"{event.get('source')}: {said}" if event.get("source") else said), WIDTH)
        case "failed" | "step_failed" | "iteration_failed":
            return first_line(str((event.get("error") or {}).get("message", "")))
        case "retrying":
            return first_line(str((event.get("because") or {}).get("message", "")))
        case "completed" | "cancelled":
            return str(event.get("reason") or event.get("cause") or "")
        case _:
            text = next((event[name] for name in ("output", "text", "message", "condition") if event.get(name)), "")
            return fitted(first_line(str(text)), WIDTH)


def _status(found: JsonObject) -> str:
    reason = found.get("reason")
    return f"{found['status']} ({reason})" if reason and reason != found["status"] else str(found["status"])


def _iteration(found: JsonObject) -> str:
    number, limit = found.get("iteration"), found.get("maxIterations")
    if not number:
        return ""
    return f"{number}/{limit}" if limit else str(number)


def _local(moment: object) -> str:
    """In the time zone of the person."""
    try:
        at = datetime.fromisoformat(str(moment).replace("Z", "+00:00")).astimezone()
    except ValueError:
        return ""
    return at.strftime("%Y-%m-%d %H:%M:%S")
