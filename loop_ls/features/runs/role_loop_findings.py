"""What a run of a role loop said, as a finding on its name with the verdicts on the line of its end."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.runs.outcome_texts import (
    ENDED,
    ended_in_words,
    run_in_words,
    severity_of,
    so_far,
    verdict_in_words,
)
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.common.object_parts import Part
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, Related
from loop_ls.text.position import Span

_LATE = (
    "Does the prompt of the last stage ask for approval (APPROVED, LGTM, ...), and do its criteria define "
    "what is good enough?"
)


def role_loop_findings(document: Document, run: ShownRun, rule: str) -> Iterator[Finding]:
    loop = document.whole.role_loop
    name = loop.parts.get("name")
    if name is None or run.kind != "definition" or run.name != loop.name:
        return
    view = run.loops.get(run.name) or LoopView(run.name, run.status)
    said = _said(run, view)
    judged = loop.termination is not None and loop.termination.type == "evaluation_bound"
    late = judged and run.reason == "max_iterations"
    yield Finding(
        rule,
        severity_of(run),
        name_place(document, name),
        f"{said}. {_LATE}" if late else said,
        name="run result",
        related=tuple(_verdicts(document, name, view)),
        data={"runId": run.run_id, "loop": run.name},
    )


def _said(run: ShownRun, view: LoopView) -> str:
    if run.status not in ENDED:
        return so_far(run)
    if run.status == "completed" and view.iteration:
        return ended_in_words(view)
    return run_in_words(run)


def verdict_place(document: Document, name: Part) -> Span:
    """Where the verdicts on a role loop are shown."""
    return name_place(document, document.whole.role_loop.parts.get("termination_condition") or name)


def _verdicts(document: Document, name: Part, view: LoopView) -> Iterator[Related]:
    place = verdict_place(document, name)
    for verdict in view.verdicts:
        said = verdict_in_words(verdict)
        yield Related(place, f"{said} · {excerpt(verdict.answer, 120)}" if verdict.answer.strip() else said)


def name_place(document: Document, part: Part) -> Span:
    """Of a name its value, of an object its key: all of it would be the whole file."""
    node = part.node
    short = node is not None and node.span.start.line == node.span.end.line
    return document.absolute(part.piece, node.span if short and node is not None else part.entry.key.span)
