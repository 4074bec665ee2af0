"""Checks that several operations share: placeholders, names, circles, hidden failures."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loop_ls.engine.enhance.ops.operations import Rejected
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.workflow.placeholder_syntax import names_in, producers
from loop_ls.index.element import Element
from loop_ls.index.scope import scope_at

#: Conditions that hold for no result, as they are written.
_FALSE = frozenset({"", "0", "false", "no", "off", "null", "none", "never"})
#: Criteria that every output meets.
_ALWAYS = re.compile(
    r"(?:\W|the|is|it|this|condition|output|loop|always|should|just|please|simply|answer|say|reply|with)*"
    r"(?:true|yes|1|always|done\s+anyway|exit|stop|anything|any\s+output)(?:\W|true|yes|always|now|immediately)*",
    re.IGNORECASE,
)


def new_name(copy: WorkingCopy, name: str) -> None:
    """Raises `Rejected(name_taken)`."""
    if copy.document.definition(name) is not None:
        raise Rejected("name_taken", f"the name `{name}` is taken")


def known_placeholders(copy: WorkingCopy, element: Element | None, field: str, text: str) -> None:
    """Raises `Rejected(bad_fields)` for a placeholder that nothing fills at this place."""
    scope = scope_at(copy.workspace, copy.document, element, field)
    own = () if element is None else tuple(use.name for use in element.uses)
    for name in names_in(text):
        if scope.look_up(name) is None and name not in copy.document.parameters and name not in own:
            near = nearest(name, scope.variables)
            meant = f", did you mean `{near}`" if near else ""
            raise Rejected("bad_fields", f"`{{{{{name}}}}}` is no variable here{meant}")


def existing(copy: WorkingCopy, names: Iterable[str]) -> None:
    """Raises `Rejected(bad_fields)` for a name of no step or loop."""
    for name in names:
        if copy.document.element(name) is None:
            near = nearest(name, (one.name for one in copy.document.elements))
            meant = f", did you mean `{near}`" if near else ""
            raise Rejected("bad_fields", f"there is no step or loop `{name}`{meant}")


def no_circle(before: WorkingCopy, after: WorkingCopy) -> None:
    """Raises `Rejected(would_cycle)` where elements begin to wait for one another."""
    for cycle in after.document.graph.cycles:
        if cycle not in before.document.graph.cycles or len(after.document.graph.cycles) > len(
            before.document.graph.cycles
        ):
            names = " → ".join(after.document.elements[one].name for one in (*cycle, cycle[0]))
            raise Rejected("would_cycle", f"they would wait for one another: {names}")


def uses_result(element: Element, name: str) -> bool:
    """Whether an element reads the result of another one."""
    return any(name in producers(use.name) for use in element.uses)


def no_constant_false(condition: str) -> None:
    """Raises `Rejected(hides_failure)`: a step that never runs is a step removed."""
    text = condition.strip().strip("\"'").strip()
    if text.lower() in _FALSE or _compares_unequal(text):
        raise Rejected("hides_failure", "an `if` that never holds removes the step")


_COMPARED = re.compile(r"""["']?([^"'{}=!]*?)["']?\s*(==|!=)\s*["']?([^"'{}=!]*?)["']?""")


def _compares_unequal(text: str) -> bool:
    """`1 == 2` and `a != a`: two constants that decide nothing."""
    found = _COMPARED.fullmatch(text)
    if found is None:
        return False
    same = found[1].strip() == found[3].strip()
    return same if found[2] == "!=" else not same


def no_tautology(until: str) -> None:
    """Raises `Rejected(hides_failure)` for a criterion that everything meets."""
    if _ALWAYS.fullmatch(until.strip()):
        raise Rejected("hides_failure", "an `until` that everything meets ends the loop without checking")
