"""What `loop-ls repl` shows of loops, as lines: the documented tables with their cuts and marks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from loop_ls.cli.runs.runs_table import iteration, outcome, since
from loop_ls.cli.watch.words import error_text, verdict_word
from loop_ls.contract.amounts import clock, cost_of, money, time_taken
from loop_ls.contract.endings import sign
from loop_ls.contract.questions import answers_to
from loop_ls.report.terminal_text import first_line, shown, width

if TYPE_CHECKING:
    from loop_ls.contract.answers import Count, Definition, History, Metrics, ShownLoop, StageCount
    from loop_ls.contract.run_state import RunStateView

_GLYPHS = {
    "queued": "●",
    "running": "●",
    "stopping": "●",
    "waiting_approval": "●",
    "paused": "◉",
    "interrupted": "◉",
    "failed": "✗",
    "blocked": "✗",
    "cancelled": "⊘",
}


def loops(states: list[RunStateView], going: int) -> list[str]:
    if not states:
        return ["No loops. Use /loops definitions to see what can be started."]
    now = datetime.now(UTC)
    rows = [["", "ID", "DEFINITION", "ITERATION", "STAGE", "GOAL", "AGE"]]
    for state in states:
        number = state.get("iteration") or 0
        limit = state.get("maxIterations") or "∞"
        said = cut(state.get("goal") or "", 60)
        name = cut(state["name"], 40)
        rows.append(
            [
                _glyph(state),
                short(state["runId"]),
                name,
                f"{number}/{limit}",
                cut(state.get("stage") or "", 24),
                said,
                since(state.get("startedAt"), now),
            ]
        )
    return [f"Loops: {going} active, {len(states)} shown", *grid(_told(rows))]


def _told(rows: list[list[str]]) -> list[list[str]]:
    """Without the columns that tell nothing of any loop: workflows have neither stages nor a goal."""
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    return [[row[column] for column in kept] for row in rows]


def _glyph(state: RunStateView) -> str:
    """A limit never looks like success."""
    status = state["status"]
    return sign(status, state.get("reason")) if status == "completed" else _GLYPHS.get(status, "?")


def definitions(found: list[Definition]) -> list[str]:
    if not found:
        return ["Nothing to start here yet. Create one: loop-ls new loop NAME"]
    rows = [["NAME", "DESCRIPTION", "ROLES", "ENDS"]]
    for one in found:
        roles = " → ".join(role["role"] for role in one["roles"])
        ends = one["termination"]["type"] if one["termination"] else "-"
        told = cut(one["description"], 50)
        if one.get("error"):
            told, ends = cut(f"cannot be started: {one['error']}", 50), "✗"
        rows.append([cut(one["name"], 40), told, cut(roles, 60), ends])
    return grid(rows)


def status(answer: ShownLoop) -> list[str]:
    state = answer["state"]
    lines = [
        f"{short(state['runId'])}  {shown(state['name'])}  {outcome(state)}",
        f"  goal       {cut(state.get('goal') or '-', 100)}",
        f"  iteration  {iteration(state) or '-'}",
        f"  started    {state.get('startedAt') or '-'}",
        f"  completed  {state.get('endedAt') or '-'}",
    ]
    if until := state.get("deadline"):
        lines.append(f"  until      {until}")
    if cost := cost_of(state):
        lines.append(f"  cost       {cost}")
    if error := state.get("error"):
        lines.append(f"  error      {shown(error['message'])}")
    if asked := state.get("pendingApproval"):
        verb = next(iter(answers_to(asked)))
        lines.append(f"  asks       {cut(asked.get('output') or '', 80)}  (/loops {verb} {state['runId'][:8]})")
    rows = [["#", "ROLE", "STATUS", "SUMMARY"]]
    for stage in answer["stages"]:
        said = stage.get("result_summary") or stage.get("output") or error_text(stage)
        done = "done" if stage["status"] == "completed" else stage["status"]
        if verdict := stage.get("verdict"):
            done = f"{done}, {verdict_word(verdict)}"
        name = stage["role"] or stage["name"] or ""
        rows.append([str(stage["stage_index"]), cut(name, 30), done, cut(said, 80)])
    return [*lines, *grid(rows)] if len(rows) > 1 else lines


def history(answer: History) -> list[str]:
    rows = [["ITERATION", "STATUS", "VERDICT", "TIME", "COST", "OUTPUT"]]
    for row in answer["history"]:
        rows.append(
            [
                cut(row["place"], 40),
                row["status"],
                row.get("verdict") or "",
                clock(1000 * (row.get("duration_seconds") or 0)),
                money(row.get("usd")),
                cut(row.get("output") or error_text(row), 60),
            ]
        )
    return grid(rows) if len(rows) > 1 else ["No iterations yet."]


def metrics(answer: Metrics) -> list[str]:
    timings, tokens = answer["timings"], answer["tokens"]
    lines = [
        f"{short(answer['loop_id'])}  {answer['status']}  iteration {answer['current_iteration']}",
        f"  time        {time_taken(1000 * answer['active_seconds'], 1000 * answer['duration_seconds'])}",
        f"  iterations  {_counts(answer['iterations'])}, {timings['average_iteration_seconds']:g} s each",
        f"  stages      {_counts(answer['stages'])}",
        f"  calls       {answer['calls']}, {tokens.get('input', 0)} + {tokens.get('output', 0)} tokens",
    ]
    return [*lines, f"  cost        {cost}"] if (cost := money(answer.get("usd"))) else lines


def grid(rows: list[list[str]]) -> list[str]:
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cut(text: str, most: int) -> str:
    """The first line, at most so long; what is cut ends in three dots."""
    line = first_line(text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def short(run_id: str) -> str:
    return f"{run_id[:8]}..."


def _counts(found: Count | StageCount) -> str:
    told = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found["by_status"].items())
    return f"{found['total']} ({told})" if told else str(found["total"])
