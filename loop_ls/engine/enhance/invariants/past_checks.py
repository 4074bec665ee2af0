"""Who gives the result is made of what the checks of round 1 look at: no work is done anew beside or behind them.

A workflow in which the checked step repeats a constant and another one works has nobody who looks at the work. That
other one may be new, may be the last step itself, may do it in a file that it calls, or with tools.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.engine.enhance.invariants.across_calls import judged_inside
from loop_ls.engine.enhance.invariants.behind_checks import called
from loop_ls.engine.enhance.invariants.compared import Compared, Violation, named
from loop_ls.engine.enhance.invariants.gates import into
from loop_ls.engine.enhance.invariants.shape import PROMPTS, reaches, shape_of, tail, waits_for
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.hash import text_hash


def past_checks(it: Compared) -> Iterator[Violation]:
    """What the result is made of goes through what is checked, as before. A check that a plan has added does not
    count: it looks for what the plan says, and its own answer is work that nobody looks at, too."""
    first, checks = it.base.first, it.base.verifiers
    for result, _ in tail(first):
        checked = (_checked(it) | frozenset(checks.checked.values())) & reaches(first, result)
        if not checked or it.now.element(result) is None:
            continue
        stops = frozenset(checked | checks.checked.keys()) - checks.added
        both = (reaches(first, result, stops) - stops) & frozenset().union(*(into(first, one) for one in checked))
        stops |= both  # reaches the result beside what is checked, and that as well: it may become another
        for name in sorted(reaches(it.now, result, stops) - reaches(first, result, stops) - stops):
            told = f"`{name}` would reach `{result}` without passing {named(checked)}, which is checked"
            yield Violation("changes_result", name, told, result)


def unfailed(it: Compared) -> Iterator[Violation]:
    """A plan mends what failed. What nothing is made of that failed stays as it is, unless a check looks at it, and at
    all of it: what is made of failing work is looked at too late."""
    first, checked = it.base.first, _checked(it)
    if not checked or not it.base.to_mend:
        return
    seen = checked.union(*(into(first, one) for one in checked))
    for element, before, now in it.both():
        was = first.element(element.name)
        if was is None or _may_have_led_to_failures(it, was):
            continue
        if element.name in seen and not into(first, element.name) & it.base.to_mend:
            continue
        files = [str(one.text) for one in _changed_files(it, element)]
        if files or before.question != now.question:
            told = (
                f"`{element.name}` did not fail, nor anything that it leads to: a plan changes what failed, or what "
                f"{named(checked)}, which is checked, is made of"
            )
            yield Violation("changes_result", element.name, told, repr((now.question, *map(text_hash, files))))


def behind_checks(it: Compared) -> Iterator[Violation]:
    """Who works with the same tools does it before somebody looks at the work."""
    first = it.base.first
    checks = [one for one in it.base.verifiers.checked if first.element(one) is not None]
    fresh = tuple(it.fresh())
    if not fresh:
        return
    users = {one.name: _servers(it.base.workspace, first, one) for one in first.elements if one.name not in checks}
    for element in fresh:
        servers = _servers(it.workspace, it.now, element)
        for check in checks if servers else ():
            used = frozenset().union(*(users.get(one, frozenset()) for one in waits_for(first, check)))
            if (shared := servers & used) and not _comes_before(it.now, element.name, check):
                told = f"`{element.name}` would work with {named(shared)} and `{check}` would not look at that"
                yield Violation("changes_result", element.name, told, check)


def _checked(it: Compared) -> frozenset[str]:
    """What somebody looks at: checks, a judge of `until`, declared checks, checks in a workflow that is called."""
    first, base = it.base.first, it.base
    judged = {one.name for one in first.elements if one.loop is not None and one.loop.text("until")}
    judged |= {one.name for one in first.calling if judged_inside(base.workspace, first, one, base.declared_in)}
    judged |= {subject for check, subject in base.verifiers.checked.items() if check not in base.verifiers.added}
    return frozenset(one for one in judged | base.looked_at if first.element(one) is not None)


def _may_have_led_to_failures(it: Compared, element: Element) -> bool:
    """Whether something failed that waits for it, or comes behind what it does with tools."""
    first, name = it.base.first, element.name
    order = _order(first)
    works = bool(_servers(it.base.workspace, first, element))
    for one in it.base.to_mend:
        if first.element(one) is None or one == name or name in waits_for(first, one):
            return True
        if works and name in order and one in order and order.index(name) < order.index(one):
            return True
    return False


def _changed_files(it: Compared, element: Element) -> Iterator[Document]:
    """The files that an element leads to and that are no longer as in round 1."""
    for file in called(it.workspace, it.now, element.name):
        before = it.base.workspace.documents.get(file.uri)
        if before is None or str(before.text) != str(file.text):
            yield file


def _comes_before(document: Document, name: str, check: str) -> bool:
    """Whether a check begins when an element has ended, as far as the order says it."""
    order = _order(document)
    parallel = document.execution is not None and document.execution.flag("parallel")
    if parallel or check not in order or name not in order:
        return name in waits_for(document, check)
    return order.index(name) < order.index(check)


def _order(document: Document) -> list[str]:
    return [document.elements[one].name for one in document.graph.order()]


def _servers(workspace: Workspace, document: Document, element: Element) -> frozenset[str]:
    """Whose tools an element works with, itself or in what it calls."""
    every = [(document, element)]
    every += [(file, one) for file in called(workspace, document, element.name) for one in file.elements]
    return frozenset(name for file, one in every if one.mode in PROMPTS for name in shape_of(file, one).servers)
