"""Operations on loops: when they end, how often they run, what they hand over and gather."""

from __future__ import annotations

from loop_ls.engine.enhance.ops.guards import known_placeholders, new_name, no_circle
from loop_ls.engine.enhance.ops.operations import Operation, Rejected
from loop_ls.engine.enhance.ops.writing import flow, insert, order_of, set_value
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.working_copy import Target, WorkingCopy, target_of
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.workflow.placeholder_syntax import names_in
from loop_ls.index.element import Element
from loop_ls.syntax.edit.render import scalar_text
from loop_ls.syntax.nodes import Mapping

_LOOP = order_of("loop")
#: A planner may raise the number of iterations to so many times what the user wrote.
_MOST_TIMES = 3
_JUDGED = ("loop.output", "loop.last.output")


def set_loop_until(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element, loop = copy.loop(op.text("target"))
    until = op.text("until")
    if element.loop_mode != "refine":
        raise Rejected("bad_fields", f"`{element.name}` iterates over a list: it has no `until`")
    check_until(copy, element, until)
    return copy.edited(set_value(copy, loop_target(element, loop), "until", until, _LOOP))


def set_loop_max_iterations(
    copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]
) -> WorkingCopy:
    element, loop = copy.loop(op.text("target"))
    wanted, first = op.count("max_iterations"), known.first_maxima.get(element.name)
    if first is not None and wanted > _MOST_TIMES * first:
        most = _MOST_TIMES * first
        raise Rejected("out_of_range", f"`{element.name}` had {first} iterations at first: at most {most} are allowed")
    return copy.edited(set_value(copy, loop_target(element, loop), "max_iterations", wanted, _LOOP))


def set_loop_timeouts(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    name = op.text("target")
    for key in ("timeout_per_item", "total_timeout"):
        if key in op.fields:
            element, loop = copy.loop(name)
            copy = copy.edited(set_value(copy, loop_target(element, loop), key, op.fields[key], _LOOP))
    return copy


def set_loop_input(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element, loop = copy.loop(op.text("target"))
    key, value = op.text("key"), op.text("value")
    known_placeholders(copy, element, "with", value)
    target = loop_target(element, loop)
    entry = target.entry("with")
    if entry is None:
        written = flow({key: value}) if target.mapping.flow else f"\n  {key}: {scalar_text(value)}"
        changed = copy.edited(insert(copy, target, "with", written, _LOOP))
    elif isinstance(entry.value, Mapping):
        changed = copy.edited(set_value(copy, Target(element.piece, entry.value), key, value, ()))
    else:
        raise Rejected("breaks_document", f"`with` of `{element.name}` is not a mapping")
    no_circle(copy, changed)
    return changed


def set_loop_accumulate(
    copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]
) -> WorkingCopy:
    element, loop = copy.loop(op.text("target"))
    new_name(copy, op.text("accumulate"))
    old = element.accumulate
    if old is not None and (user := _user(copy, old.text)) is not None:
        raise Rejected("bad_fields", f"`{user}` uses `{{{{{old.text}}}}}`, which would no longer exist")
    return copy.edited(set_value(copy, loop_target(element, loop), "accumulate", op.text("accumulate"), _LOOP))


def set_min_success_rate(
    copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]
) -> WorkingCopy:
    element, loop = copy.loop(op.text("target"))
    return copy.edited(set_value(copy, loop_target(element, loop), "min_success_rate", op.fields["value"], _LOOP))


def check_until(copy: WorkingCopy, element: Element | None, until: str) -> None:
    """Raises `Rejected` for a criterion that quotes what it judges."""
    if any(name in _JUDGED for name in names_in(until)):
        raise Rejected("bad_fields", "the judge already sees the output; do not repeat it in `until`")
    known_placeholders(copy, element, "until", until)


def loop_target(element: Element, loop: Block) -> Target:
    return target_of(element, loop if element.kind == "step" else None)


def _user(copy: WorkingCopy, name: str) -> str | None:
    users = copy.document.mentioning(name)
    return next((one.name for one in users), None)
