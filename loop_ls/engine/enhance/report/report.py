"""The report of one round: what failed, where, with what evidence, and what it has cost so far.

Built from what was observed; excerpts are cut and keys are masked here, so that neither the planner
nor the timeline ever sees one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loop_ls.contract.facts.enhance import FailureReport, ReportCost, ReportFailure
from loop_ls.contract.facts.payload import UnfixableFailure
from loop_ls.engine.enhance.report.failures import FailedStep, Mode, Observed, has_converged
from loop_ls.engine.enhance.report.fingerprint import fingerprint
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json

#: Takes a text and gives it without secrets.
Mask = Callable[[str], str]

#: Why a kind cannot be mended by editing the workflow.
_REASONS = {
    "rate_limit": "the provider has a rate limit; editing the workflow does not change that",
    "network": "the provider could not be reached; editing the workflow does not change that",
    "auth": "the provider rejects the API key; set a valid one in the environment",
    "quota": "the account at the provider has no credit left",
    "intentional_skip": "its `if` is false",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What was run in a round: `version` is the document's in the editor, None for a file on disk."""

    loop_id: str
    run_id: str
    uri: str
    name: str
    workflow_version: str
    text: str
    version: int | None
    started_at: str
    ended_at: str


def failure_report(
    ran: Ran,
    observed: Observed,
    mode: Mode,
    cost: ReportCost,
    previous: str | None,
    excerpt_chars: int,
    mask: Mask,
) -> FailureReport:
    """Complete and without secrets."""
    return FailureReport(
        loop_id=ran.loop_id,
        run_id=ran.run_id,
        round=observed.round,
        workflow={
            "uri": ran.uri,
            "name": ran.name,
            "version": ran.workflow_version,
            "text_sha256": text_hash(ran.text),
            "document_version": ran.version,
        },
        started_at=ran.started_at,
        ended_at=ran.ended_at,
        totals=observed.totals,
        converged=has_converged(observed, mode),
        mode=mode,
        failures=[_entry(one, excerpt_chars, mask) for one in observed.failures],
        user_feedback=[_masked(one.wire(), mask) for one in observed.feedback],
        cost=cost,
        fingerprint=fingerprint(observed.failures),
        previous_fingerprint=previous,
        truncated_by_budget=observed.truncated_by_budget,
        unfixable=unfixable(observed),
    )


def unfixable(observed: Observed) -> list[UnfixableFailure]:
    """What editing cannot mend, in words."""
    return [
        UnfixableFailure(failure=one.id, reason=_because(one))
        for one in observed.failures
        if not one.fixable and one.kind in _REASONS
    ]


def _because(one: FailedStep) -> str:
    provider = (one.error or {}).get("provider")
    reason = _REASONS[one.kind]
    return reason.replace("the provider", f"`{provider}`", 1) if provider else reason


def _entry(one: FailedStep, most: int, mask: Mask) -> ReportFailure:
    return ReportFailure(
        id=one.id,
        step=one.step,
        target=one.target,
        range=one.range,
        kind=one.kind,
        weight=one.weight,
        fixable=one.fixable,
        attempts=one.attempts,
        error=None if one.error is None else _masked(one.error, mask),
        output_excerpt=excerpt(mask(one.output), most),
        output_chars=len(one.output),
        output_sha256=text_hash(one.output),
        verifier=one.verifier.model_copy(update={"reason": mask(one.verifier.reason)}),
        feedback=[mask(text) for text in one.feedback],
        skip_reason=one.skip_reason,
        fallback=one.fallback,
        iterations=one.iterations,
        upstream=list(one.upstream),
        duration_ms=round(one.duration * 1000),
        cost_usd=one.usd,
    )


def excerpt(text: str, most: int) -> str:
    """Head and tail, together at most `most` characters, with a mark for what is left out."""
    if len(text) <= most:
        return text
    mark = f"\n[… {len(text) - most} characters …]\n"
    room = most - len(mark)
    if room < 2:
        return text[:most]
    head = room * 2 // 3
    return text[:head] + mark + text[len(text) - (room - head) :]


def _masked(value: Mapping[str, Json], mask: Mask) -> dict[str, Json]:
    return {name: mask(one) if isinstance(one, str) else one for name, one in value.items()}
