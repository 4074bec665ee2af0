"""Operations that add a step, a loop or a check. Nothing that is there is changed by them."""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.engine.enhance.invariants.shape import tail
from loop_ls.engine.enhance.ops.guards import existing, known_placeholders, new_name, no_circle
from loop_ls.engine.enhance.ops.loops import check_until
from loop_ls.engine.enhance.ops.operations import Operation, Rejected
from loop_ls.engine.enhance.ops.writing import item, tidy
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.index.element import Element
from loop_ls.syntax.edit.edits import Edit
from loop_ls.text.json_value import Json, as_object
from loop_ls.text.position import Position, Span

_CHECK = (
    "Check the work below against one criterion: {criterion}\n\n"
    "Begin your answer with PASS if it meets the criterion, else with FAIL, and say why in one sentence.\n\n"
    "{work}\n"
)


def add_step(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    fields = op.fields
    new_name(copy, op.text("name"))
    if "after" in fields and "before" in fields:
        raise Rejected("bad_fields", "`add_step` has `after` or `before`, not both")
    existing(copy, op.names("needs"))
    if fields.get("on_failure") == "retry" and op.count("max_retries") < 1:
        raise Rejected("bad_fields", "`retry` needs `max_retries` of 1 or more")
    for skill in op.names("skills"):
        if skill not in known.skills:
            raise Rejected("bad_fields", f"unknown skill `{skill}`")
    template = as_object(fields.get("template"))
    for text in (fields.get("run"), fields.get("if"), *as_object(template.get("with")).values()):
        if isinstance(text, str):
            known_placeholders(copy, None, "run", text)
    if template and not known.workflow_exists(str(template["name"])):
        raise Rejected("bad_fields", f"unknown workflow `{template['name']}`")
    keys = {key: fields[key] for key in _STEP_KEYS if key in fields}
    near, before = fields.get("after") or fields.get("before"), "before" in fields
    if near is None and copy.document.steps:  # the last step gives the result, and goes on doing so
        near, before = tail(copy.document)[-1][0], True
    changed = _inserted(copy, "steps", item(keys), None if near is None else str(near), before)
    no_circle(copy, changed)
    return changed


_STEP_KEYS = ("name", "needs", "if", "run", "template", "skills", "on_failure", "max_retries")


def add_loop(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    new_name(copy, op.text("name"))
    if "accumulate" in op.fields:
        new_name(copy, op.text("accumulate"))
    if not known.workflow_exists(op.text("workflow")):
        raise Rejected("bad_fields", f"unknown workflow `{op.text('workflow')}`")
    check_until(copy, None, op.text("until"))
    for value in as_object(op.fields.get("with")).values():
        known_placeholders(copy, None, "with", str(value))
    keys = {key: op.fields[key] for key in _LOOP_KEYS if key in op.fields}
    changed = _inserted(copy, "loops", item(keys), None)
    no_circle(copy, changed)
    return changed


_LOOP_KEYS = ("name", "workflow", "with", "max_iterations", "until", "accumulate", "on_failure")


def add_verifier(copy: WorkingCopy, op: Operation, known: PlanContext, plan: tuple[Operation, ...]) -> WorkingCopy:
    name, checked = op.text("name"), copy.step(op.text("checks"))
    new_name(copy, name)
    known_placeholders(copy, checked, "run", op.text("criterion"))
    if checked.name in known.checked:
        raise Rejected("bad_fields", f"`{checked.name}` is already checked")
    prompt = _CHECK.format(criterion=op.text("criterion").strip(), work=f"{{{{{checked.name}}}}}")
    keys: dict[str, Json] = {"name": name, "needs": [checked.name], "run": prompt}
    if copy.document.execution is not None and copy.document.execution.words("servers"):
        keys["servers"] = []  # it looks at the work, and does nothing to it
    written = item(keys)
    changed = _inserted(copy, "steps", written, checked.name)
    no_circle(copy, changed)
    return changed


def _inserted(copy: WorkingCopy, section: str, written: str, near: str | None, before: bool = False) -> WorkingCopy:
    """A new item of `steps` or `loops`: beside `near`, else at the end; the section is added if need be."""
    if near is not None:
        element = copy.step(near)
        return copy.edited([_beside(copy, element, written, before)])
    items = copy.document.steps if section == "steps" else copy.document.loops
    if items:
        return copy.edited([_beside(copy, items[-1], written, before=False)])
    if copy.document.head.get(section) is not None:
        raise Rejected("breaks_document", f"`{section}` is not a list with entries")
    return copy.edited([_at_end(copy, f"{section}:\n" + _as_item(written, "  "))])


def _beside(copy: WorkingCopy, element: Element, written: str, before: bool) -> Edit:
    """In front of an item or behind it, indented as it is; in a flow list with a comma."""
    document, lines = copy.document, copy.document.text.lines
    place = document.absolute(element.piece, element.span)
    line = lines[place.start.line]
    dash = line[: place.start.column].rstrip(" ")
    if not dash.endswith("-") or dash[:-1].strip():
        raise Rejected("breaks_document", f"`{element.name}` is not in a block list")
    eol, indent = document.text.eol, dash[:-1]
    text = tidy(_as_item(written, indent).replace("\n", eol))
    if before:
        at = Position(place.start.line, 0)
        return Edit(Span(at, at), text + eol)
    last = _last_line(place.end, lines)
    at = Position(last, len(lines[last]))
    return Edit(Span(at, at), eol + text)


def _last_line(end: Position, lines: Sequence[str]) -> int:
    """The last line of an item that is not blank."""
    line = end.line if end.column else end.line - 1
    line = min(line, len(lines) - 1)
    while line > 0 and not lines[line].strip():
        line -= 1
    return line


def _as_item(written: str, indent: str) -> str:
    return f"{indent}- " + written.replace("\n", f"\n{indent}  ")


def _at_end(copy: WorkingCopy, written: str) -> Edit:
    text = copy.document.text
    end, eol = text.end, text.eol
    start = "" if end.column == 0 else eol
    tail = eol if end.column == 0 else ""
    return Edit(Span(end, end), start + written.replace("\n", eol) + tail)
