"""A run as a document to read: what each iteration said, what was judged and answered, what it cost.

Made of what the engine answers about its history, so that every editor can show it without a view of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from loop_ls.contract.amounts import clock, cost_of, count, money
from loop_ls.contract.endings import ending
from loop_ls.contract.run_view.parts import message_of, part
from loop_ls.contract.run_view.rounds import listed
from loop_ls.features.runs.outcome_texts import VERDICTS
from loop_ls.text.json_value import JsonObject, float_field, int_field
from loop_ls.text.markdown import code, escaped, fenced

if TYPE_CHECKING:
    from loop_ls.contract.run_state import RunStateView


def transcript(answer: JsonObject) -> str:
    """Markdown. Texts of models stand in fences that they cannot close."""
    state = part(answer, "state")
    lines = [f"# Run of {code(str(state.get('name') or state.get('runId')))}", "", _status(state), ""]
    if state.get("because"):
        lines += [escaped(str(state["because"])), ""]
    if message := message_of(state.get("error")):
        lines += [f"Error: {escaped(message)}", ""]
    steps = [stage for stage in listed(answer.get("stages")) if stage.get("mode") != "loop"]
    for row in sorted([*steps, *listed(answer.get("history"))], key=lambda row: str(row.get("started_at"))):
        lines += _iteration(row) if "iteration_number" in row else _stage(row, "##")
    return "\n".join(lines).rstrip() + "\n"


def _status(state: JsonObject) -> str:
    ended = ending(state)
    told = f"**{escaped(ended['short'] if ended else str(state.get('status') or '').replace('_', ' '))}**"
    spent = part(state, "tokens")
    tokens = (int_field(spent, "input") or 0) + (int_field(spent, "output") or 0)
    parts = [told, cost_of(cast("RunStateView", state)), count(tokens, "token") if tokens else ""]
    parts += [clock(float_field(state, "elapsedMs") or 0), f"run {code(str(state.get('runId')))}"]
    return " · ".join(part for part in parts if part)


def _iteration(row: JsonObject) -> Iterator[str]:
    limit = f" of {row['max_iterations']}" if row.get("max_iterations") else ""
    again = f", attempt {row['attempt']}" if (int_field(row, "attempt") or 1) > 1 else ""
    verdict = VERDICTS.get(str(row.get("verdict")), "")
    shown = verdict or ("" if row.get("status") == "completed" else escaped(str(row.get("status"))))
    tail = " · ".join(part for part in (shown, money(float_field(row, "usd"))) if part)
    yield f"## {code(str(row.get('loop')))} iteration {row.get('iteration_number')}{limit}{again}" + (
        f": {tail}" if tail else ""
    )
    yield ""
    for stage in listed(row.get("stages")):
        yield from _stage(stage, "###")
    yield from _block("Output", row.get("output"))
    yield from _block("Error", message_of(row.get("error")))
    local = ", decided locally" if row.get("local") else ""
    yield from _block(f"Condition{local}", None if row.get("question") else row.get("condition"))
    yield from _block("Question to the judge", row.get("question"))
    yield from _block("Answer of the judge", row.get("answer"))
    findings = row.get("findings")
    yield from _block("Findings", "\n".join(map(str, findings)) if isinstance(findings, list) else None)


def _stage(row: JsonObject, level: str) -> Iterable[str]:
    verdict = VERDICTS.get(str(row.get("verdict")), "")
    said = verdict if row.get("status") == "completed" else escaped(str(row.get("status")))
    yield f"{level} {code(str(row.get('name')))}" + (f": {said}" if said else "")
    yield ""
    yield from _block("", row.get("output"))
    yield from _block("Error", message_of(row.get("error")))


def _block(name: str, text: object) -> Iterator[str]:
    if not isinstance(text, str) or not text:
        return
    if name:
        yield from (f"**{name}**", "")
    yield from (fenced(text), "")
