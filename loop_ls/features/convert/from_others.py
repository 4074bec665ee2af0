"""Role loops and assistants as the gist of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loop_ls.features.convert.gist import Gist, NoConversion, Parameter, Part, Prompt, Ref
from loop_ls.formats.assistant.keys import CAP_ONLY, MANUAL, MOST_ITERATIONS, REGEX, TEST_PASS
from loop_ls.formats.assistant.model import Assistant, Criteria
from loop_ls.formats.common.isolate import ISOLATE
from loop_ls.formats.role_loop import model as roles
from loop_ls.formats.role_loop.model import RoleLoop
from loop_ls.formats.role_loop.placeholders import PLACEHOLDER

GOAL_REACHED = "The goal is reached"


def from_role_loop(loop: RoleLoop) -> Gist:
    """Raises `NoConversion`."""
    until, limit, lost = _end(loop.termination)
    known = {one.name for one in loop.parameters}
    parts = tuple(Part(one.label, _prompt(one.prompt, known), one.role, True) for one in loop.stages)
    return Gist(
        name=loop.name,
        description=loop.description.strip() or f"Continues until {loop.name} is done.",
        parts=parts,
        until=None if until is None else _prompt(until, known),
        limit=limit or 1,
        person=isinstance(loop.termination, roles.Manual),
        seconds=loop.termination.seconds if isinstance(loop.termination, roles.TimeBound) else None,
        parameters=tuple(
            Parameter(one.name, one.description) for one in loop.parameters if one.name not in loop.resolved
        ),
        lost=(*lost, *_limits(limit), *_lost_of_stages(loop)),
    )


def _limits(limit: int | None) -> list[str]:
    return ["the limit, which a parameter sets (1 is used instead)"] if limit is None else []


def _end(end: roles.Termination) -> tuple[str | None, int | None, list[str]]:
    match end:
        case roles.EvaluationBound():
            return (
                end.criteria,
                end.max_iterations,
                ["approval by the last stage (a judge checks the condition instead)"],
            )
        case roles.IterationBound():
            return None, end.max_iterations, []
        case roles.GoalBound():
            return end.goal_prompt or GOAL_REACHED, end.max_iterations, []
        case roles.TimeBound(seconds=None):
            raise NoConversion("this loop ends at a date, which no other format supports")
        case roles.TimeBound():
            kind = "nothing new starts after" if end.hard else "the current iteration finishes after"
            return None, MOST_ITERATIONS, [f"`time_bound`: {kind} the time is up"]
        case roles.Manual():
            return (
                None,
                MOST_ITERATIONS,
                [f"that only a person ends the loop (it also ends after {MOST_ITERATIONS} iterations)"],
            )
        case roles.ToolBound():
            raise NoConversion(f"this loop ends by a number from the tool `{end.tool}`, which no other format supports")
        case _:
            assert_never(end)


def _prompt(written: str, parameters: set[str]) -> Prompt:
    pieces: list[str | Ref] = []
    at = 0
    for found in PLACEHOLDER.finditer(written):
        if found[1] in parameters:
            pieces += [written[at : found.start()], Ref("parameter", found[1])]
            at = found.end()
    return (*pieces, written[at:])


def _lost_of_stages(loop: RoleLoop) -> Iterator[str]:
    yield "what roles may do: their access and tools"
    if loop.approval != roles.Approval():
        yield "`approval` (a condition is judged instead of words)"
    for name in loop.resolved:
        yield f"the parameter `{name}` (its default is inserted into the texts)"
    for one in loop.stages:
        if one.skills:
            yield f"`skills` of {one.label}"
        if one.max_iterations is not None:
            yield f"`max_iterations` of {one.label}, the steps of one turn"
        if one.artifact_required or one.requires_artifact_from is not None:
            yield f"artifacts of {one.label}"
        if one.gate:
            yield f"`gate` of {one.label} (it does not end a round)"
        if one.memory_required:
            yield f"`memory_required` of {one.label}"
    if loop.max_rework_attempts != roles.REWORK_ATTEMPTS:
        yield "`max_rework_attempts`"


def from_assistant(one: Assistant) -> Gist:
    """Raises `NoConversion`."""
    until, lost = _criterion(one)
    return Gist(
        name=one.id.replace("-", "_"),
        description=one.description or f"Continues as {one.name}.",
        parts=(
            Part("work", (one.persona.strip(),), "coder" if one.permission_mode in ("edit", "full") else None, True),
        ),
        until=None if until is None else (until,),
        limit=one.max_iterations,
        lost=(*lost, *_lost_of(one)),
    )


def _criterion(one: Assistant) -> tuple[str | None, list[str]]:
    criteria = one.criteria
    match criteria.type if criteria is not None else CAP_ONLY:
        case "regex" if criteria is not None and criteria.value:
            assert REGEX == "regex"
            return f"The output matches the pattern `{criteria.value}`", [
                "the pattern (a model judges it instead of matching it)",
                *(f"`{name}` of `loopCriteria`" for name in _of_criteria(criteria)),
            ]
        case "test_pass" if criteria is not None:
            assert TEST_PASS == "test_pass"
            command = " ".join(criteria.argv or ()) or criteria.value
            return f"The output shows that `{command}` passed", [
                f"`{command}` (it is not run; a model judges the output)",
                *(f"`{name}` of `loopCriteria`" for name in _of_criteria(criteria)),
            ]
        case "manual":
            assert MANUAL == "manual"
            raise NoConversion("this assistant asks a person after each iteration, which no other format supports")
        case "max_iterations":
            assert CAP_ONLY == "max_iterations"
            return None, []
        case other:
            return None, [f"the criterion `{other}`, which never ends the loop (only the limit is kept)"]


def _of_criteria(criteria: Criteria) -> Iterator[str]:
    usual = Criteria()
    for name, value, default in (
        ("timeoutSeconds", criteria.timeout_seconds, usual.timeout_seconds),
        ("cwd", criteria.cwd, usual.cwd),
        ("includeOutput", criteria.include_output, usual.include_output),
        ("lastLine", criteria.last_line, usual.last_line),
        ("inARow", criteria.in_a_row, usual.in_a_row),
    ):
        if value != default:
            yield name


def _lost_of(one: Assistant) -> Iterator[str]:
    yield "the conversation (each round starts fresh, with the outcome of the previous round)"
    usual = Assistant(one.id, one.name, one.persona)
    for name, value in (
        ("purpose", one.purpose),
        ("provider", one.provider if one.provider != usual.provider else None),
        ("permissionMode", one.permission_mode if one.permission_mode != usual.permission_mode else None),
        ("allowedTools", one.allowed_tools),
        ("model", one.model),
        ("maxBudgetUsd", one.max_budget_usd),
        ("maxTotalBudgetUsd", one.max_total_budget_usd),
        ("maxDurationSeconds", one.max_duration_seconds),
        ("stallAfter", one.stall_after),
        ("retry", one.retry),
        ("skills", one.skills),
        ("servers", one.servers),
        ("memory", one.memory),
        ("memoryEnabled", one.memory_enabled),
        ("approvalTimeoutSeconds", one.approval_timeout_seconds),
        (ISOLATE, one.isolate),
    ):
        if value:
            yield f"`{name}`"
