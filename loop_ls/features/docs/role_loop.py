"""What to tell about a role loop, in Markdown: roles, ends, parameters, stages."""

from __future__ import annotations

from loop_ls.contract.amounts import count
from loop_ls.features.text.humanize import duration, excerpt, listed
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.object_parts import Item
from loop_ls.formats.role_loop.keys import TERMINATIONS
from loop_ls.formats.role_loop.model import (
    EvaluationBound,
    GoalBound,
    IterationBound,
    Manual,
    Termination,
    TimeBound,
    ToolBound,
)
from loop_ls.formats.role_loop.parts import Declared, RoleLoopParts, is_required
from loop_ls.formats.role_loop.roles import ACCESS, Role
from loop_ls.formats.settings.model import Settings
from loop_ls.index.placeholders import Placeholder
from loop_ls.text.markdown import code, escaped, in_braces

#: How each type of end works, in a sentence.
ENDS = dict(
    zip(
        TERMINATIONS,
        (
            "The last stage judges every iteration. Its approval (`approved`, `lgtm`, `looks good`, "
            "`accepted`, `passes all criteria`) ends the loop; without one it ends after `max_review_rounds`.",
            "The loop ends after a number of iterations, regardless of their output.",
            "After every iteration a model is asked whether the goal is reached. If it never is, the loop ends after "
            "`max_iterations`.",
            "The loop ends with the iteration in which the time is up: seconds from its start, or a date.",
            "Only a person ends the loop, or a limit of the project.",
            "After every iteration a tool returns a number; the loop ends when the comparison is true, or after "
            "`max_iterations`.",
        ),
        strict=True,
    )
)


def role_text(role: Role) -> str:
    """What a role may do, and how many steps it gets."""
    parts = [f"**{code(role.name)}** — role", escaped(role.text), f"Access {code(role.access)}: {ACCESS[role.access]}."]
    if role.steps is not None:
        parts.append(
            f"At most {count(role.steps, 'step')} (model calls) in one turn, unless the stage sets another limit."
        )
    return "\n\n".join(parts)


def role_detail(role: Role) -> str:
    """The same in a few words."""
    steps = f", ≤ {count(role.steps, 'step')}" if role.steps is not None else ""
    return f"{role.access}{steps}"


def end_in_words(end: Termination | None) -> str:
    """`approval, at most 5 rounds`: what ends the loop, in a few words."""
    match end:
        case EvaluationBound():
            return f"until approved, {_atmost(end.max_iterations, 'round')}"
        case IterationBound():
            return _count(end.max_iterations, "iteration")
        case GoalBound():
            return f"until the goal is reached, {_atmost(end.max_iterations, 'iteration')}"
        case TimeBound(seconds=int() as seconds):
            return f"for {duration(seconds)}"
        case TimeBound(deadline=deadline) if deadline is not None:
            return f"until {deadline.isoformat(sep=' ')}"
        case TimeBound():
            return "until the time is up"
        case Manual():
            return "until you stop it"
        case ToolBound():
            wanted = "" if end.threshold is None else f" {end.operator} {end.threshold:g}"
            return f"until {code(end.tool)}{wanted}, {_atmost(end.max_iterations, 'iteration')}"
        case None:
            return "once"


def _atmost(number: int | None, noun: str) -> str:
    return f"at most {count(number, noun)}" if number is not None else "as often as set when it starts"


def _count(number: int | None, noun: str) -> str:
    return count(number, noun) if number is not None else "as often as set when it starts"


def most_iterations(loop: RoleLoopParts, settings: Settings) -> int | None:
    """The most iterations that a definition and its project allow; None where nothing or only the start says."""
    if loop.parts.get("termination_condition") is None:
        return 1
    end = None if loop.termination is None else loop.termination.value
    own = end.max_iterations if isinstance(end, EvaluationBound | IterationBound | GoalBound | ToolBound) else None
    return settings.limits.iterations(own)


def parameter_text(declared: Declared, uses: list[Placeholder]) -> str:
    """A parameter: what it is for, its default, and how often it is used."""
    item = declared.item
    part = item.get("description")
    about = text_of(part.node) if part is not None else None
    if is_required(item) is not False:
        rule = "Required at the start."
    elif declared.text is None:
        rule = "Optional."
    else:
        rule = f"Default: {code(excerpt(declared.text, 60))}." if declared.text else "Default: an empty string."
    used = [one for one in uses if one.name == declared.name and one.exact and not one.idle]
    where = f"Used in {count(len(used), 'place')}." if used else "Unused."
    parts = [f"**{in_braces(declared.name)}** — parameter", escaped(about or ""), f"{rule} {where}"]
    return "\n\n".join(part for part in parts if part)


def label_of(loop: RoleLoopParts, stage: Item) -> str:
    """What a stage is called: its name, else its role."""
    part = stage.get("name")
    return (text_of(part.node) if part is not None else None) or loop.role_of(stage) or "stage"


def stages_in_words(loop: RoleLoopParts) -> str:
    return " → ".join(loop.role_of(stage) or "?" for stage in loop.in_run_order)


def loop_text(loop: RoleLoopParts) -> str:
    """A definition as a whole."""
    end = None if loop.termination is None else loop.termination.value
    parts = [f"**{code(loop.name or '?')}** — role loop", escaped(text_of(loop.parts.node("description")) or "")]
    parts.append(f"{escaped(stages_in_words(loop))}; {end_in_words(end)}")
    needed = [code(name) for name, one in loop.declared.items() if is_required(one.item) is not False]
    if needed:
        parts.append(f"Required at the start: {listed(needed)}.")
    return "\n\n".join(part for part in parts if part)
