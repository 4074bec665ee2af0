"""Checking files that are no workflow: every rule of their format, on every version.

Broken syntax is told alone (RL001, AL001, LS001): what cannot be read says nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_
from typing import NamedTuple

from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import is_beside
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.context import Draft
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.finding_builder import FindingBuilder
from loop_ls.rules.engine.object_view import ObjectView, is_unreadable
from loop_ls.rules.engine.registry import Check
from loop_ls.rules.engine.rule_selection import Plan, Selection, plan
from loop_ls.rules.engine.work_unit import local_unit
from loop_ls.text.position import Span

#: What the rules about syntax look at: `role_loop syntax` and its kin.
SYNTAX = " syntax"


class _Answer(NamedTuple):
    """`about`: the very plan, workspace and document that were asked about."""

    about: tuple[object, ...]
    findings: tuple[Finding, ...]


class WholeFiles:
    """Remembers the last answer for each document."""

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}
        self._plans: dict[Format, tuple[Selection, Plan]] = {}

    def findings(self, selection: Selection, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
        if is_beside(document.format) and workspace.subject(document) is None:
            return ()  # others use such names, too
        assert document.format is not None, "only a file of a known format is looked at as a whole"
        chosen = self._plan(selection, document.format)
        known = self._answers.get(document.uri)
        about = (chosen, workspace, document)
        if known is not None and all(map(is_, known.about, about)):
            return known.findings
        found = _check(chosen, document.format, workspace, document)
        self._answers[document.uri] = _Answer(about, found)
        return found

    def _plan(self, selection: Selection, format_: Format) -> Plan:
        known = self._plans.get(format_)
        if known is None or known[0] is not selection:
            known = self._plans[format_] = (selection, plan(selection, format_))
        return known[1]

    def forget(self, uri: str) -> None:
        self._answers.pop(uri, None)


def _check(chosen: Plan, format_: Format, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
    unit = local_unit(_once(document, _drafts(chosen, format_, ObjectView(document, workspace))))
    return FindingBuilder(document, chosen.levels, workspace.documents.get, document).findings((unit,), broken=False)


def _drafts(chosen: Plan, format_: Format, view: ObjectView) -> Iterator[tuple[Check, Draft]]:
    for check in chosen.wide.get(format_ + SYNTAX if is_unreadable(view.document) else format_, ()):
        for draft in check.run(view):
            yield check, draft


def _once(document: Document, drafts: Iterator[tuple[Check, Draft]]) -> Iterator[tuple[Check, Draft]]:
    """One finding of a rule for one place: what several objects share by an anchor is told where it is written."""
    seen: set[tuple[str, Span]] = set()
    for check, draft in drafts:
        piece, span, _ = draft.spot
        place = (check.rule.code, span if piece is None else document.absolute(piece, span))
        if place not in seen:
            seen.add(place)
            yield check, draft
