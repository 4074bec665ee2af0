"""Operations on steps: prompts, needs, conditions, fallbacks, generation, skills, the description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from loop_ls.engine.enhance.ops.guards import existing, known_placeholders, no_circle, uses_result
from loop_ls.engine.enhance.ops.operations import Operation, Rejected
from loop_ls.engine.enhance.ops.policies import execution_target
from loop_ls.engine.enhance.ops.writing import add_words, drop, flow, insert, order_of, remove_words, set_value
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.working_copy import Target, WorkingCopy, target_of
from loop_ls.formats.common.target import Target as Asked
from loop_ls.formats.workflow.placeholder_syntax import names_in, producers
from loop_ls.index.effective import effective, execution_models
from loop_ls.index.element import Element
from loop_ls.syntax.edit.edits import insert_entry
from loop_ls.syntax.nodes import Mapping
from loop_ls.syntax.nodes import Sequence as SequenceNode

_STEP = order_of("step")


def set_instructions(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element, old = _asking(copy, op.text("target"))
    prompt = op.text("run")
    known_placeholders(copy, element, "run", prompt)
    _keeps_what_others_need(copy, element, old, prompt)
    return copy.edited(set_value(copy, target_of(element), "run", _ended(old, prompt), _STEP))


def append_instructions(
    copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]
) -> WorkingCopy:
    element, old = _asking(copy, op.text("target"))
    known_placeholders(copy, element, "run", op.text("text"))
    joined = old.rstrip("\n") + "\n\n" + op.text("text").strip("\n")
    return copy.edited(set_value(copy, target_of(element), "run", _ended(old, joined), _STEP))


def set_needs(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element = copy.element(op.text("target"))
    if element.kind == "loop":
        raise Rejected("bad_fields", f"`needs` is for steps, and `{element.name}` is a loop")
    wanted, unwanted = op.names("add"), op.names("remove")
    existing(copy, wanted)
    if element.name in wanted:
        raise Rejected("would_cycle", f"`{element.name}` cannot wait for itself")
    for name in unwanted:
        if uses_result(element, name):
            raise Rejected("bad_fields", f"`{element.name}` uses the result of `{name}` and must wait for it")
    present = {need.name for need in element.needs}
    changed = copy.edited(remove_words(copy, target_of(element), "needs", unwanted)) if unwanted else copy
    fresh = [name for name in dict.fromkeys(wanted) if name not in present]
    changed = add_words(changed, lambda now: target_of(now.step(element.name)), "needs", fresh, _STEP)
    no_circle(copy, changed)
    return changed


def set_condition(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element = copy.step(op.text("target"))
    if op.fields["if"] is None:
        if not element.block.has("if"):
            raise Rejected("no_change", f"`{element.name}` has no `if`")
        return copy.edited(drop(copy, target_of(element), "if"))
    condition = op.text("if")
    known_placeholders(copy, element, "if", condition)
    changed = copy.edited(set_value(copy, target_of(element), "if", condition, _STEP))
    no_circle(copy, changed)
    return changed


def set_provider_fallback(
    copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]
) -> WorkingCopy:
    listed = cast("list[dict[str, str]]", op.fields["fallbacks"])
    fallbacks = [Asked(one["provider"], one["model"]) for one in listed]
    for one in fallbacks:
        if one not in known.pool:
            raise Rejected("not_in_pool", f"`{one.provider}` with `{one.model}` is not in `enhance.fallbackPool`")
    name = op.text("target")
    if name == "execution" and copy.document.element(name) is None:
        target, chain, order = execution_target(copy), execution_models(copy.document).chain, order_of("execution")
    else:
        element = copy.step(name)
        target, chain, order = target_of(element), effective(copy.document, element).models.chain, _STEP
    if not chain:
        raise Rejected("would_change_primary", f"`{name}` has no provider and model to keep first")
    links = [chain[0], *(one for one in fallbacks if one != chain[0])]
    return _with_chain(copy, target, links, order)


def _with_chain(copy: WorkingCopy, target: Target, links: list[Asked], order: Sequence[str]) -> WorkingCopy:
    """`providers` in the place of `provider` and `model`, or of the chain that is there."""
    pairs = [{"provider": link.provider, "model": link.model} for link in links]
    written = flow(pairs)
    if not target.mapping.flow:
        written = "\n" + "\n".join(f"  - {flow(pair)}" for pair in pairs)
    edits, tree = [], copy.document.tree
    for key in ("provider", "model"):
        edits += drop(copy, target, key)
    before = target.entry("providers")
    if before is not None:
        return _replace_chain(copy, target, pairs)
    if not edits:
        return copy.edited(insert(copy, target, "providers", written, order))
    kept = [entry for entry in target.mapping.entries if entry.key.text not in ("provider", "model")]
    earlier = [
        entry for entry in kept if entry.key.text in order and order.index(entry.key.text) < order.index("model")
    ]
    after = max(earlier or kept, key=lambda entry: entry.key.span, default=None)
    return copy.edited([*edits, *insert_entry(tree, target.piece, target.mapping, "providers", written, after)])


def _replace_chain(copy: WorkingCopy, target: Target, pairs: list[dict[str, str]]) -> WorkingCopy:
    entry = target.entry("providers")
    if entry is None or not isinstance(entry.value, SequenceNode | Mapping):
        raise Rejected("breaks_document", "`providers` is not a list")
    return copy.edited(set_value(copy, target, "providers", pairs, ()))


def set_generation(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    name = op.text("target")
    for key in ("temperature", "max_tokens"):
        if key in op.fields:
            target = target_of(copy.step(name))
            copy = copy.edited(set_value(copy, target, key, op.fields[key], _STEP))
    return copy


def add_skill(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    element, skill = copy.step(op.text("target")), op.text("skill")
    if skill not in known.skills:
        raise Rejected("bad_fields", f"unknown skill `{skill}`")
    if skill in {word.text for word in element.block.words("skills")}:
        raise Rejected("no_change", f"`{element.name}` has the skill `{skill}`")
    inherited = () if element.block.has("skills") else effective(copy.document, element).skills.value
    words = [*inherited, *([] if skill in inherited else [skill])]
    return add_words(copy, lambda now: target_of(now.step(element.name)), "skills", words, _STEP)


def set_description(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    head = copy.document.head
    top = head.get("description")
    text = op.text("text")
    if top is not None:
        target = Target(top.piece, Mapping(top.entry.key.span, (top.entry,)))
        return copy.edited(set_value(copy, target, "description", text, ()))
    named = next((found for key in ("version", "name", "$schema") if (found := head.get(key)) is not None), None)
    if named is None:
        raise Rejected("breaks_document", "the file has no `name`")
    target = Target(named.piece, Mapping(named.entry.key.span, (named.entry,)))
    return copy.edited(insert(copy, target, "description", flow(text), ()))


def _asking(copy: WorkingCopy, name: str) -> tuple[Element, str]:
    """A step that asks a model, and its prompt."""
    element = copy.step(name)
    prompt = element.block.text("run")
    if prompt is None:
        raise Rejected("unknown_target", f"`{name}` is not a step with `run`")
    return element, prompt


def _keeps_what_others_need(copy: WorkingCopy, element: Element, old: str, prompt: str) -> None:
    """A placeholder that orders this step behind others may go only where nothing later relies on it:
    its own `needs` says so, or nothing waits for both."""
    gone = set(names_in(old)) - set(names_in(prompt))
    needed = {need.name for need in element.needs}
    for name in sorted(gone):
        for producer in producers(name):
            maker = copy.document.element(producer)
            if maker is None or producer in needed:
                continue
            later = [one for one in copy.document.elements if one is not element and uses_result(one, element.name)]
            if later and not any(uses_result(one, producer) for one in copy.document.elements if one is not element):
                raise Rejected("bad_fields", f"`{later[0].name}` needs `{element.name}` for `{{{{{name}}}}}`")


def _ended(old: str, prompt: str) -> str:
    """A prompt that ended with a line end still does."""
    return prompt.rstrip("\n") + "\n" if old.endswith("\n") else prompt
