"""Operations on what happens when something fails or takes long: `on_failure`, retries, timeouts."""

from __future__ import annotations

from loop_ls.engine.enhance.ops.operations import Operation, Rejected
from loop_ls.engine.enhance.ops.writing import order_of, set_value
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.working_copy import Target, WorkingCopy, target_of
from loop_ls.index.element import Element
from loop_ls.syntax.nodes import Mapping

_TIMED_BY_ITEM = "a loop has `timeout_per_item` and `total_timeout` instead of `timeout`"


def set_on_failure(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element, policy = copy.element(op.text("target")), op.fields["on_failure"]
    if policy == "retry" and not _retries(element, plan):
        raise Rejected("bad_fields", f"`retry` needs `max_retries` of 1 or more on `{element.name}`")
    target, kind = policy_target(element)
    return copy.edited(set_value(copy, target, "on_failure", policy, order_of(kind)))


def set_retries(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element = copy.element(op.text("target"))
    delay = op.fields.get("retry_delay")
    if delay is not None and element.loop is None:
        raise Rejected("bad_fields", f"`retry_delay` is only for loops, and `{element.name}` is not one")
    target, kind = policy_target(element)
    copy = copy.edited(set_value(copy, target, "max_retries", op.fields["max_retries"], order_of(kind)))
    if delay is None:
        return copy
    element, loop = copy.loop(element.name)
    target = target_of(element, loop if element.kind == "step" else None)
    return copy.edited(set_value(copy, target, "retry_delay", delay, order_of("loop")))


def set_timeout(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    name, timeout = op.text("target"), op.fields["timeout"]
    if name == "execution" and copy.document.element(name) is None:
        return copy.edited(set_value(copy, execution_target(copy), "timeout", timeout, order_of("execution")))
    element = copy.step(name)
    if element.loop is not None:
        raise Rejected("bad_fields", _TIMED_BY_ITEM)
    return copy.edited(set_value(copy, target_of(element), "timeout", timeout, order_of("step")))


def execution_target(copy: WorkingCopy) -> Target:
    """The mapping under `execution`. Raises `Rejected` where there is none."""
    top = copy.document.head.get("execution")
    if top is None or not isinstance(top.entry.value, Mapping):
        raise Rejected("unknown_target", "the file has no `execution`")
    return Target(top.piece, top.entry.value)


def policy_target(element: Element) -> tuple[Target, str]:
    """Where `on_failure` and retries of an element stand: those of a step's loop inside the loop, unless
    the step has them."""
    if element.kind == "step" and element.loop is not None and not element.block.has("on_failure"):
        return target_of(element, element.loop), "loop"
    return target_of(element), element.kind


def _retries(element: Element, plan: tuple[Operation, ...]) -> bool:
    own = [block.integer("max_retries") for block in (element.block, element.loop) if block is not None]
    if any(count is not None and count >= 1 for count in own):
        return True
    return any(
        one.op == "set_retries" and one.fields.get("target") == element.name and one.count("max_retries") >= 1
        for one in plan
    )
