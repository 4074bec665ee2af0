"""Runs printed for people: the table, one run with its iterations, one line for each fact."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, get_args

from loop_ls.cli.runs.runs_table import outcome
from loop_ls.cli.watch.words import ending, error_text, how_to_answer, verdict_word, worktree_line
from loop_ls.contract import endings
from loop_ls.contract.amounts import cost_of, money, time_taken, tokens_used
from loop_ls.contract.endings import PauseReason
from loop_ls.contract.questions import between_rounds
from loop_ls.contract.run_view.parts import message_of, part
from loop_ls.report.local_time import local_time
from loop_ls.report.terminal_text import first_line, fitted, shown
from loop_ls.text.json_value import JsonObject, float_field

if TYPE_CHECKING:
    from loop_ls.contract.answers import History, Iteration, Stage
    from loop_ls.contract.run_state import CutAnswer, RunStateView

EXCERPT = 6
WIDTH = 100


def state(found: RunStateView) -> None:
    """One run in a few lines."""
    print(f"{found['runId']}  {shown(found['name'])}  {outcome(found)}")
    error, told = found.get("error"), endings.ending(found)
    lines = (
        ("file", found.get("path")),
        ("loop", found.get("loop")),
        ("iteration", _iteration(found)),
        ("stage", found.get("stage")),
        ("cost", cost_of(found)),
        ("tokens", tokens_used(found)),
        ("time", _time(found)),
        ("started", _local(found.get("startedAt"))),
        ("ended", _local(found.get("endedAt"))),
        ("active", None if found.get("endedAt") else _local(found.get("lastActivityAt"))),
        ("until", _local(found.get("deadline"))),
        ("worktree", _worktree(found)),
        ("remark" if told and told["kind"] == "success" else "limit", found.get("because")),
        ("continues", _local(found.get("resumesAt"))),
        *(("cut off", _cut(each)) for each in found.get("cutOff") or ()),
        ("source", _source(found)),
        ("answer", _answer(found)),
        ("error", error and error["message"]),
        ("do", error and error.get("hint")),
        ("remark", "one call may have been billed twice" if found.get("mayHavePaidTwice") else None),
    )
    for name, value in lines:
        if value:
            _line(name, str(value))


def _line(name: str, value: str) -> None:
    print(f"  {name:<10}{shown(value)}")


def _time(found: RunStateView) -> str:
    began, ended = local_time(found.get("startedAt")), local_time(found.get("endedAt"))
    total = 0.0 if began is None else 1000 * ((ended or datetime.now(UTC)) - began).total_seconds()
    return time_taken(found.get("elapsedMs", 0), total)


def _answer(found: RunStateView) -> str | None:
    if found["status"] == "paused" and found.get("reason") in get_args(PauseReason):
        asked = found.get("question")
        return between_rounds(found["runId"][:6], asked is not None and asked.get("rejected") is True)
    if found["status"] != "waiting_approval":
        return None
    return how_to_answer(found["runId"], found.get("pendingApproval") or {})


def _worktree(found: RunStateView) -> str | None:
    made = found.get("worktree")
    if made is None:
        return None
    decided = made.get("decision")
    return worktree_line(found) or f"branch {made['branch']}" + (f", {decided}" if decided else f" in {made['folder']}")


def _cut(one: CutAnswer) -> str:
    whose = "the judge's answer at" if one.get("purpose") == "judge" else "the answer of"
    limit = f"`max_tokens` is {one['maxTokens']}" if one.get("maxTokens") else "`max_tokens` is not set"
    return f"{whose} {one.get('place')} was cut off at its length limit ({limit})"


def _source(found: RunStateView) -> str | None:
    source = found.get("source")
    if not source:
        return None
    if source.get("kind") == "replay":
        return f"replay of {source.get('runId')}"
    if at := source.get("at"):
        return f"{source.get('runId')}, from {at} on" + (", with another prompt" if source.get("changed") else "")
    number = source.get("iteration")
    return f"{source.get('runId')}" + (f", from iteration {number} on" if number else "")


def history(answer: History, full: bool = False) -> None:
    """Steps and iterations as they began: verdict, question, answer, output, cost."""
    found = answer["state"]
    state(found)
    configured = answer["loop"].get("configuration")
    if configured and (given := configured["resolved_parameters"]):
        _line("given", ", ".join(f"{name}={first_line(text)}" for name, text in given.items()))
    steps = [stage for stage in answer["stages"] if stage.get("mode") != "loop"]
    rows = [(str(step["started_at"]), partial(_step_of, step)) for step in steps]
    rows += [(str(row["started_at"]), partial(_iteration_of, row)) for row in answer["history"]]
    for _, say in sorted(rows, key=itemgetter(0)):
        say(full)
    if found.get("endedAt"):
        print(f"\n{ending(found)}")


def _step_of(row: Stage, full: bool) -> None:
    state = "" if row["status"] == "completed" else f"  {row['status']}"
    print(f"\n  {shown(str(row['name']))}{state}")
    _block("  ", "output", row.get("output"), full)
    _block("  ", "error", error_text(row), True)


def _iteration_of(row: Iteration, full: bool) -> None:
    indent = "  " * (1 + row["depth"])
    limit = f"/{row['max_iterations']}" if row["max_iterations"] else ""
    again = f" (attempt {row['attempt']})" if row["attempt"] > 1 else ""
    verdict = row.get("verdict")
    mark = verdict_word(verdict) if verdict else "" if row["status"] == "completed" else row["status"]
    local = ", decided locally" if row.get("local") else ""
    head = f"{shown(row['loop'])} iteration {row['iteration_number']}{limit}{again}"
    print(f"\n{indent}{'  '.join(part for part in (head, mark + local, money(row.get('usd'))) if part)}")
    for stage in row["stages"] if full else ():
        _block(indent, str(stage["name"]), stage.get("output"), full)
    if row["stages"] and not full:
        names = ", ".join(_judging(stage) for stage in row["stages"])
        _block(indent, "steps", f"{names} (--full shows their outputs)", full)
    _block(indent, "output", row.get("output"), full)
    _block(indent, "error", error_text(row), True)
    if question := row.get("question"):
        _block(indent, "question", question if full else f'"{row.get("condition", "")}", about the output', full)
    else:
        _block(indent, "condition", row.get("condition"), full)
    _block(indent, "answer", row.get("answer"), full)
    _block(indent, "findings", "\n".join(row.get("findings", ())), True)


def _judging(stage: Stage) -> str:
    said = stage.get("verdict")
    return f"{stage['name']} {verdict_word(said)}" if said else str(stage["name"])


def _block(indent: str, name: str, text: object, full: bool) -> None:
    if not text:
        return
    lines = [shown(line) for line in str(text).splitlines()] or [""]
    kept = lines if full else lines[:EXCERPT]
    for number, line in enumerate(kept):
        label = f"{shown(name)}:" if number == 0 else ""
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


def _gist(event: JsonObject) -> str:
    match event["kind"]:
        case "judged":
            local = " (locally)" if event.get("local") else ""
            answer = first_line(str(event.get("answer") or ""))
            return f"{event.get('verdict')}{local}" + (f": {answer}" if answer else "")
        case "call":
            tokens, cost = part(event, "tokens"), money(float_field(event, "usd"))
            said = f"{event.get('provider')}/{event.get('model')} {tokens.get('input', 0)}+{tokens.get('output', 0)}"
            return f"{said} tokens {cost}".rstrip()
        case "tool_called":
            failed = "failed: " if event.get("failed") else ""
            said = f"{failed}{event.get('tool')} {event.get('arguments') or ''}"
            return fitted(first_line(f"{event.get('source')}: {said}" if event.get("source") else said), WIDTH)
        case "failed" | "step_failed" | "iteration_failed":
            return first_line(message_of(event.get("error")))
        case "retrying":
            return first_line(message_of(event.get("because")))
        case "completed" | "cancelled":
            return str(event.get("reason") or event.get("cause") or "")
        case _:
            names = ("output", "text", "message", "condition", "deadline")
            text = next((event[name] for name in names if event.get(name)), "")
            return fitted(first_line(str(text)), WIDTH)


def _iteration(found: RunStateView) -> str:
    number, limit = found.get("iteration"), found.get("maxIterations")
    if not number:
        return ""
    return f"{number}/{limit}" if limit else str(number)


def _local(moment: object) -> str:
    """In the time zone of the person."""
    at = local_time(moment)
    return at.strftime("%Y-%m-%d %H:%M:%S") if at else ""
