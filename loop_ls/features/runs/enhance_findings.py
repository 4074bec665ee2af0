"""What failed in the last round of an enhance loop, as findings on the steps: code = kind, data = failure id.

A round that begins has none, so they go when the next round starts; a step that was rewritten since its
round began is no longer what failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.contract.endings import failure_words
from loop_ls.features.runs.enhance_rounds import Rounds, StepFailure
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.text.position import Position, Span

_SEVERITIES = {
    "hard": Severity.ERROR,
    "permanent": Severity.ERROR,
    "transient": Severity.WARNING,
    "soft": Severity.INFORMATION,
}


def rounds_findings(document: Document, rounds: Rounds, run_id: str) -> Iterator[Finding]:
    for failure in rounds.failures:
        said = failure_words(failure.kind)
        told = f": {failure.message}" if failure.message and failure.message != said else ""
        yield Finding(
            failure.kind,
            _SEVERITIES.get(failure.weight, Severity.WARNING),
            _place(document, failure),
            f"Round {rounds.number}: {said}{told}",
            name="round result",
            data={"runId": run_id, "failure": failure.id},
        )


def _place(document: Document, failure: StepFailure) -> Span:
    """The name of the step; the workflow's name for what belongs to no step that is still there."""
    element = document.element(failure.step.partition("/")[0])
    if element is not None:
        return document.absolute(element.piece, element.label_span)
    top = document.head.get("name")
    if top is not None:
        return document.absolute(top.piece, (top.entry.value or top.entry.key).span)
    return Span(Position(0, 0), Position(0, 0))
