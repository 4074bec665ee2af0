"""What a new step or loop may do: no more than what was there, and behind the same gates.

A workflow that is called only where an `if` holds, or behind a check, does something that somebody wanted guarded: a
second call of it beside the guard does the same without. So does a step with the tools of such a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.engine.enhance.invariants.across_calls import deciding_arguments
from loop_ls.engine.enhance.invariants.compared import Compared, Violation
from loop_ls.engine.enhance.invariants.gates import gates_of
from loop_ls.engine.enhance.invariants.shape import PROMPTS, Shape, shape_of, waits_for
from loop_ls.index.element import Element


def unguarded(it: Compared) -> Iterator[Violation]:
    """New calls and new users of tools that are behind fewer gates than the ones of round 1."""
    for element in it.fresh():
        callee = it.workspace.callee(it.now, element.reference)
        if callee is not None:
            if not _is_as_guarded(it, element, _callers(it, callee.uri)):
                name = callee.name or element.name
                told = f"`{element.name}` would call `{name}` without the checks before its other calls"
                yield Violation("hides_failure", element.name, told, name)
        elif element.mode in PROMPTS:
            for server in shape_of(it.now, element).servers:
                users = [one for one in it.base.first.elements if server in _shape(it, one).servers]
                if not _is_as_guarded(it, element, users):
                    told = f"`{element.name}` would use `{server}` without the checks before its other uses"
                    yield Violation("hides_failure", element.name, told, server)


def _callers(it: Compared, uri: str) -> list[Element]:
    first, workspace = it.base.first, it.base.workspace
    called = ((one, workspace.callee(first, one.reference)) for one in first.calling)
    return [one for one, callee in called if callee is not None and callee.uri == uri]


def _is_as_guarded(it: Compared, element: Element, alike: Iterable[Element]) -> bool:
    """Whether some element of round 1 that does the same is behind no gate that this one is not behind."""
    first = it.base.first
    gates = gates_of(first, it.base.verifiers.checked) | it.base.failed
    waits, now = waits_for(it.now, element.name), shape_of(it.now, element)
    return any(
        _shape(it, one).condition in (None, now.condition)
        and waits_for(first, one.name) & gates <= waits
        and _decides_alike(it, one, now)
        for one in alike
    )


def _decides_alike(it: Compared, element: Element, now: Shape) -> bool:
    """Whether what a called workflow decides by is given to it as by the call of round 1."""
    first = it.base.first
    deciding = deciding_arguments(it.base.workspace, first, element, it.base.declared_in).conditions
    was, is_ = ({name: text for _, name, text in one.arguments} for one in (_shape(it, element), now))
    return all(was.get(name) == is_.get(name) for name in deciding)


def _shape(it: Compared, element: Element) -> Shape:
    return shape_of(it.base.first, element)


def constants(it: Compared) -> Iterator[Violation]:
    """Values of `env` go where they went: keys are among them, and a prompt is read by a model and perhaps repeated."""
    for element in it.now.elements:
        before = it.base.first.element(element.name)
        known = set[str]() if before is None else {use.name for use in before.uses}
        for name in dict.fromkeys(use.name for use in element.uses if use.path[0] == "env"):
            if name not in known:
                told = f"`{element.name}` would get `{{{{{name}}}}}`, which it did not get before"
                yield Violation("out_of_reach", element.name, told, name)
