"""Declared checks that a round failed, as entries of its report.

What they look for stays out of it: a planner that reads it could write it into the workflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loop_ls.contract.facts.kinds import Checked
from loop_ls.engine.core.location import Place
from loop_ls.engine.enhance.report import failures
from loop_ls.engine.enhance.report.failures import FailedStep
from loop_ls.engine.events import Event
from loop_ls.formats.checks.model import Check
from loop_ls.index.document import Document

#: Checks whose reason is what a program printed, what a judge said or what was measured.
_SAY_WHAT_IS_WRONG = frozenset({"command", "llm-rubric", "cost", "latency"})


def failed_checks(
    number: int, place: str, facts: Iterable[Event], document: Document, checks: Mapping[str, Check]
) -> tuple[FailedStep, ...]:
    """`place` is that of the run of the workflow, `checks` are the declared ones by name. Of a check in a loop the
    last iteration counts, or each."""
    last: dict[tuple[str, int | None], Checked] = {}
    for event in facts:
        if event.kind == "checked" and _is_below(place, str(event.body.get("place", "")), document):
            one = Checked.model_validate(event.body)
            check = checks.get(one.check)
            if check is not None:
                last[one.check, one.iteration if check.on.every else None] = one
    failing = [one for one in last.values() if one.verdict != "pass" and one.severity == "error"]
    return tuple(
        failed_step(number, checks[one.check], document.name or "", one.verdict, one.reason) for one in failing
    )


def failed_step(number: int, check: Check, otherwise: str, verdict: str, reason: str) -> FailedStep:
    """`otherwise` names what failed where the check looks at no step."""
    step = check.on.name or otherwise
    if verdict == "error":
        return FailedStep(number, step, "verifier_error", verifier=failures.checked("error", check.name, reason))
    return FailedStep(number, step, "verifier_fail", verifier=failures.checked("fail", check.name, hint(check, reason)))


def hint(check: Check, reason: str) -> str:
    """What a planner is told: the hint, and the reason unless it quotes what the check looks for."""
    told = reason if check.reveal or check.type in _SAY_WHAT_IS_WRONG else ""
    return ": ".join(one for one in (check.hint, told) if one) or f"the check `{check.name}` ({check.type}) failed"


def _is_below(place: str, key: str, document: Document) -> bool:
    """Whether a fact belongs to this run, and not to a further run of the same round."""
    if key == place:
        return True
    base = Place(place)
    starts = (base.element(element.name).key for element in document.elements)
    return any(key == start or key.startswith(f"{start}/") for start in starts)
