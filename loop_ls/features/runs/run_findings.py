"""What a run said, as findings on the file (source `loop-run`, rule `loop-run`).

`run_findings(document, run)`: one finding on each loop's name with the result so far, and one related
entry per verdict on the `until` line; after a limit or a suspiciously quick end, the advice of the
guide. The server clears them on the next run or on an edit of the loop.
"""

from __future__ import annotations

from loop_ls.contract.amounts import count
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.language_support import support_of
from loop_ls.features.runs.enhance_findings import rounds_findings
from loop_ls.features.runs.outcome_texts import (
    ENDED,
    ended_in_words,
    run_in_words,
    severity_of,
    so_far,
    verdict_in_words,
)
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.rules.engine.finding import Finding, Related
from loop_ls.text.position import Span

RULE = "loop-run"

_TOO_LATE = (
    "Is the condition clear, and does the last step of `{callee}` write what it looks for? "
    "Make it more specific (“The output contains the word COMPLETE”), and try it with loopLs.testUntil."
)
_TOO_EARLY = (
    "Met immediately: if that is too early, the condition is too broad. "
    "Make it more specific (“contains EXACTLY the word COMPLETE”), and try it with loopLs.testUntil."
)


def run_findings(document: Document, run: ShownRun) -> tuple[Finding, ...]:
    """One finding for every loop of the run that is still in the file; one on the workflow's name where the
    run failed elsewhere."""
    return tuple(support_of(document).run_findings(document, run))


def workflow_findings(document: Document, run: ShownRun) -> tuple[Finding, ...]:
    found = [] if run.rounds is None else list(rounds_findings(document, run.rounds, run.run_id))
    for name, loop in run.loops.items():
        element = document.element(name)
        if element is not None and element.loop is not None:
            found.append(_finding(document, element, loop, run))
    told = bool(found) and run.rounds is not None
    if (
        run.status in ("failed", "blocked")
        and not told
        and not any(loop.status == "failed" for loop in run.loops.values())
    ):
        found.append(_of_the_run(document, run))
    return tuple(sorted(found, key=lambda finding: finding.span))


def _finding(document: Document, element: Element, loop: LoopView, run: ShownRun) -> Finding:
    message = so_far(loop) if loop.status not in ENDED else ended_in_words(loop)
    advice = _advice(element, loop)
    return Finding(
        RULE,
        severity_of(loop),
        document.absolute(element.piece, element.label_span),
        f"{message}. {advice}" if advice else message,
        name="run result",
        related=tuple(_verdicts(document, element, loop)),
        data={"runId": run.run_id, "loop": loop.name},
    )


def _advice(element: Element, loop: LoopView) -> str:
    callee = element.reference.text if element.reference is not None else "the called workflow"
    if loop.reason == "max_iterations":
        return _TOO_LATE.format(callee=callee)
    if loop.reason == "condition_met" and loop.iteration == 1 and (loop.max_iterations or 2) > 1:
        return _TOO_EARLY
    return ""


def verdict_place(document: Document, element: Element) -> Span:
    """Where the verdicts on a loop are shown."""
    assert element.loop is not None
    until = element.loop.get("until") or element.loop.get("items")
    span = element.label_span if until is None else until.span
    return document.absolute(element.piece, Span(span.start, max(span.start, span.end)))


def _verdicts(document: Document, element: Element, loop: LoopView) -> list[Related]:
    place = verdict_place(document, element)
    return [Related(place, verdict_in_words(verdict)) for verdict in loop.verdicts]


def _of_the_run(document: Document, run: ShownRun) -> Finding:
    """Where no loop can say it: on the step that was started, else on the workflow's name."""
    element = document.element(run.name) if run.kind != "workflow" else None
    top = document.head.get("name")
    if element is not None:
        span = document.absolute(element.piece, element.label_span)
    elif top is not None:
        span = document.absolute(top.piece, top.entry.value.span if top.entry.value is not None else top.entry.key.span)
    else:
        span = Span(document.text.end, document.text.end)
    done = count(len(run.loops), "loop")
    tail = f" ({done} ended before)" if run.loops else ""
    return Finding(
        RULE, severity_of(run), span, run_in_words(run) + tail, name="run result", data={"runId": run.run_id}
    )
