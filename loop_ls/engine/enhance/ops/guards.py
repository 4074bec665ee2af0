"""Checks that several operations share: placeholders, names, circles."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.engine.enhance.ops.operations import Rejected
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.workflow.placeholder_syntax import RESERVED, names_in, producers
from loop_ls.index.element import Element
from loop_ls.index.scope import scope_at


def new_name(copy: WorkingCopy, name: str) -> None:
    """Raises `Rejected(name_taken)` for a name that something has, and for one that a text of the file reads: what the
    caller gives there would be replaced."""
    document = copy.document
    if document.definition(name) is not None:
        raise Rejected("name_taken", f"the name `{name}` is already used")
    if name in RESERVED or name in document.mentioned():
        raise Rejected("name_taken", f"`{name}` is the name of a variable that this workflow reads")


def known_placeholders(copy: WorkingCopy, element: Element | None, field: str, text: str) -> None:
    """Raises `Rejected(bad_fields)` for a placeholder that nothing fills at this place."""
    scope = scope_at(copy.workspace, copy.document, element, field)
    own = () if element is None else tuple(use.name for use in element.uses)
    for name in names_in(text):
        if scope.look_up(name) is None and name not in copy.document.parameters and name not in own:
            near = nearest(name, scope.variables)
            meant = f", did you mean `{near}`" if near else ""
            raise Rejected("bad_fields", f"`{{{{{name}}}}}` is not a variable here{meant}")


def existing(copy: WorkingCopy, names: Iterable[str]) -> None:
    """Raises `Rejected(bad_fields)` for a name of no step or loop."""
    for name in names:
        if copy.document.element(name) is None:
            near = nearest(name, (one.name for one in copy.document.elements))
            meant = f", did you mean `{near}`" if near else ""
            raise Rejected("bad_fields", f"unknown step or loop `{name}`{meant}")


def no_circle(before: WorkingCopy, after: WorkingCopy) -> None:
    """Raises `Rejected(would_cycle)` where elements begin to wait for one another."""
    for cycle in after.document.graph.cycles:
        if cycle not in before.document.graph.cycles or len(after.document.graph.cycles) > len(
            before.document.graph.cycles
        ):
            names = " → ".join(after.document.elements[one].name for one in (*cycle, cycle[0]))
            raise Rejected("would_cycle", f"circular dependency: {names}")


def uses_result(element: Element, name: str) -> bool:
    """Whether an element reads the result of another one."""
    return any(name in producers(use.name) for use in element.uses)
