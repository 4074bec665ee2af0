"""A run as a document to read: what each iteration said, what was judged and answered, what it cost.

Made of what the engine answers about its history, so that every editor can show it without a view of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from loop_ls.contract.amounts import clock, count, money
from loop_ls.features.runs.outcome_texts import VERDICTS
from loop_ls.text.markdown import code, escaped, fenced

Json = Mapping[str, Any]


def transcript(answer: Json) -> str:
    """Markdown. Texts of models stand in fences that they cannot close."""
    state: Json = answer.get("state") or {}
    lines = [f"# Run of {code(str(state.get('name') or state.get('runId')))}", "", _status(state), ""]
    if state.get("because"):
        lines += [escaped(str(state["because"])), ""]
    if message := _message(state.get("error")):
        lines += [f"Error: {escaped(message)}", ""]
    steps = [stage for stage in answer.get("stages") or () if stage.get("mode") != "loop"]
    for row in sorted([*steps, *(answer.get("history") or ())], key=lambda row: str(row.get("started_at"))):
        lines += _iteration(row) if "iteration_number" in row else _stage(row, "##")
    return "\n".join(lines).rstrip() + "\n"


def _status(state: Json) -> str:
    reason = state.get("reason")
    said = str(state.get("status") or "").replace("_", " ")
    told = f"**{escaped(said)}**" + (
        f" ({escaped(str(reason).replace('_', ' '))})" if reason and reason != state.get("status") else ""
    )
    tokens = sum((state.get("tokens") or {}).values())
    parts = [told, _cost(state.get("costUsd")), count(tokens, "token") if tokens else ""]
    parts += [clock(int(state.get("elapsedMs") or 0)), f"run {code(str(state.get('runId')))}"]
    return " · ".join(part for part in parts if part)


def _iteration(row: Json) -> Iterator[str]:
    limit = f" of {row['max_iterations']}" if row.get("max_iterations") else ""
    again = f", attempt {row['attempt']}" if (row.get("attempt") or 1) > 1 else ""
    verdict = VERDICTS.get(str(row.get("verdict")), "")
    shown = verdict or ("" if row.get("status") == "completed" else escaped(str(row.get("status"))))
    tail = " · ".join(part for part in (shown, _cost(row.get("usd"))) if part)
    yield f"## {code(str(row.get('loop')))} iteration {row.get('iteration_number')}{limit}{again}" + (
        f": {tail}" if tail else ""
    )
    yield ""
    for stage in row.get("stages") or ():
        yield from _stage(stage, "###")
    yield from _block("Output", row.get("output"))
    yield from _block("Error", _message(row.get("error")))
    local = ", decided locally" if row.get("local") else ""
    yield from _block(f"Condition{local}", None if row.get("question") else row.get("condition"))
    yield from _block("Question to the judge", row.get("question"))
    yield from _block("Answer of the judge", row.get("answer"))


def _stage(row: Json, level: str) -> Iterable[str]:
    said = "" if row.get("status") == "completed" else f": {escaped(str(row.get('status')))}"
    yield f"{level} {code(str(row.get('name')))}{said}"
    yield ""
    yield from _block("", row.get("output"))
    yield from _block("Error", _message(row.get("error")))


def _block(name: str, text: object) -> Iterator[str]:
    if not isinstance(text, str) or not text:
        return
    if name:
        yield from (f"**{name}**", "")
    yield from (fenced(text), "")


def _message(error: object) -> str:
    return str(error.get("message") or "") if isinstance(error, Mapping) else ""


def _cost(usd: object) -> str:
    return money(float(usd)) if isinstance(usd, int | float) else ""
