"""What a run of an assistant said, as a finding on its name with the verdicts on the line of its criterion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.runs.outcome_texts import ENDED, ended_in_words, severity_of, so_far, verdict_in_words
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.object_parts import Part
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, Related
from loop_ls.text.position import Span

_ADVICE = {
    "regex": "Does the persona tell the agent to print what the pattern looks for?",
    "test_pass": "Run the command manually: it ends the loop only with exit status 0.",
}


def assistant_findings(document: Document, run: ShownRun, rule: str) -> Iterator[Finding]:
    one = next((each for each in document.whole.assistants if run.name in (each.key, each.name)), None)
    name = None if one is None else one.get("name")
    if one is None or name is None:
        return
    loop = _loop(run, one)
    said = ended_in_words(loop) if loop.status in ENDED else so_far(run)
    advice = _ADVICE.get(one.criteria_type or "", "") if run.reason == "max_iterations" else ""
    yield Finding(
        rule,
        severity_of(run),
        name_place(document, name),
        f"{said}. {advice}" if advice else said,
        name="run result",
        related=tuple(_verdicts(document, one, loop)),
        data={"runId": run.run_id, "loop": loop.name},
    )


def _loop(run: ShownRun, one: AssistantParts) -> LoopView:
    """The run is the loop: how it ended is known, whatever its facts say."""
    found = run.loops.get(one.name) or LoopView(one.name, run.status)
    return replace(
        found,
        status=run.status,
        reason=run.reason,
        iteration=run.iteration,
        max_iterations=run.max_iterations,
        error=run.error,
    )


def verdict_place(document: Document, one: AssistantParts) -> Span | None:
    """Where the verdicts on an assistant's loop are shown."""
    criteria = one.get("loopCriteria")
    part = criteria or one.get("name")
    if part is None:
        return None
    value = None if one.criteria is None else one.criteria.get("value") or one.criteria.get("type")
    if criteria is not None and value is not None and value.node is not None:
        return document.absolute(criteria.piece, value.node.span)
    return name_place(document, part)


def _verdicts(document: Document, one: AssistantParts, loop: LoopView) -> Iterator[Related]:
    place = verdict_place(document, one)
    if place is None:
        return
    for verdict in loop.verdicts:
        yield Related(place, verdict_in_words(verdict))


def name_place(document: Document, part: Part) -> Span:
    node = part.node
    return document.absolute(part.piece, part.entry.key.span if node is None else node.span)
