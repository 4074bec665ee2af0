"""Every feature, asked at one place; what it answers lies in the texts that it is about."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loop_ls.features.actions.code_actions import actions, fix_all
from loop_ls.features.actions.extract_workflow import extract
from loop_ls.features.actions.inline_loop import loop_places
from loop_ls.features.actions.suppress import ignoring
from loop_ls.features.call_hierarchy import incoming, outgoing
from loop_ls.features.call_hierarchy import prepare as prepare_calls
from loop_ls.features.complete.completion import complete, describe
from loop_ls.features.definition import definition
from loop_ls.features.estimate.estimate import estimate
from loop_ls.features.folding import folds
from loop_ls.features.formatting import formatting
from loop_ls.features.highlight import highlight
from loop_ls.features.hover.hover import hover
from loop_ls.features.inlay_hints.inlay_hints import inlays
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.linked_editing import linked
from loop_ls.features.links import links
from loop_ls.features.on_type import on_type
from loop_ls.features.preview import previews
from loop_ls.features.references import references
from loop_ls.features.rename.file_rename import moved
from loop_ls.features.rename.rename import prepare, rename
from loop_ls.features.selection import selection
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.features.symbols.workspace_symbols import workspace_symbols
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.text.position import Position, Span

NEW = "brand_new"


@dataclass(frozen=True)
class Case:
    """One state of a text, one place in it, and one checker that has seen it grow."""

    workspace: Workspace
    document: Document
    checker: Checker
    at: Position
    to: Position
    rng: random.Random

    @property
    def span(self) -> Span:
        return Span(min(self.at, self.to), max(self.at, self.to))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.checker.findings(self.workspace, self.document)


def _items(case: Case) -> object:
    found = complete(case.workspace, case.document, case.at)
    for item in found.items:
        assert item.label, item
        if item.about:
            describe(case.workspace, case.document, item.about)
    return found.span, [(item.span, item.more) for item in found.items]


def _one(case: Case) -> Any:
    """Some element, or none: the whole file."""
    return case.rng.choice((None, *case.document.elements))


FEATURES: dict[str, Callable[[Case], object]] = {
    "findings": lambda c: [(f.span, f.related, [fix.edits(c.document) for fix in f.fixes]) for f in c.findings],
    "completion": _items,
    "hover": lambda c: hover(c.workspace, c.document, c.at),
    "definition": lambda c: definition(c.workspace, c.document, c.at),
    "references": lambda c: references(c.workspace, c.document, c.at),
    "highlight": lambda c: highlight(c.workspace, c.document, c.at),
    "prepare rename": lambda c: prepare(c.workspace, c.document, c.at),
    "rename": lambda c: rename(c.workspace, c.document, c.at, NEW),
    "linked": lambda c: linked(c.workspace, c.document, c.at),
    "symbols": lambda c: symbols(c.document),
    "workspace symbols": lambda c: workspace_symbols(c.workspace, c.rng.choice(("", "a", "dr"))),
    "links": lambda c: links(c.workspace, c.document),
    "calls": lambda c: prepare_calls(c.workspace, c.document, c.at),
    "incoming": lambda c: [{one.workflow.uri: one} for one in incoming(c.workspace, c.document.uri)],
    "outgoing": lambda c: outgoing(c.workspace, c.document.uri),
    "folding": lambda c: folds(c.document),
    "selection": lambda c: selection(c.document, c.at),
    "tokens": lambda c: tokens(c.document, c.rng.choice((None, c.span))),
    "inlays": lambda c: inlays(c.workspace, c.document, c.span),
    "lenses": lambda c: lenses(c.workspace, c.document),
    "actions": lambda c: _written(actions(c.document, c.findings, c.span)),
    "fix all": lambda c: _written([found] if (found := fix_all(c.document, c.findings)) else []),
    "ignore": lambda c: _written(ignoring(c.document, c.findings, c.span)),
    "extract": lambda c: _written(extract(c.workspace, c.document, c.at)),
    "loop places": lambda c: _written(loop_places(c.document, c.at)),
    "formatting": lambda c: formatting(c.document),
    "on type": lambda c: on_type(c.document, c.at),
    "moving": lambda c: moved(c.workspace, {c.document.path: c.document.path.replace(".", "_new.", 1)}),
    "preview": lambda c: previews(c.workspace, c.document, _one(c)),
    "estimate": lambda c: estimate(c.workspace, c.document, _one(c)),
}


def _written(found: Any) -> list[Any]:
    return [action.edits() for action in found if action.edits is not None]


def ask(feature: str, case: Case) -> object:
    """The answer. Raises AssertionError where a place of it is no place of its text."""
    answer = FEATURES[feature](case)
    if feature not in ("symbols", "preview", "estimate"):
        for uri, span in _spans(answer, case.document.uri):
            document = case.workspace.documents.get(uri)
            if document is not None:
                _check(document, span)
    return answer


def _check(document: Document, span: Span) -> None:
    lines = document.text.lines
    assert span.start <= span.end, f"{span} ends before it begins"
    for one in span:
        assert 0 <= one.line < len(lines) and 0 <= one.column <= len(lines[one.line]), f"{span} is not in the text"


def _spans(value: object, uri: str, name: str = "") -> Iterator[tuple[str, Span]]:
    """Every span in an answer, with the document that it is about."""
    match value:
        case Span():
            yield uri, value
        case str() | int() | None:
            return
        case Mapping():
            for key, one in value.items():
                yield from _spans(one, key if isinstance(key, str) and "://" in key else uri)
        case list() | set() | frozenset():
            for one in value:
                yield from _spans(one, uri)
        case tuple():
            own = getattr(value, "uri", None) or uri
            for one in value:
                yield from _spans(one, own)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            own = getattr(value, "uri", None) or uri
            for field in dataclasses.fields(value):
                if field.name != "origin":
                    yield from _spans(getattr(value, field.name), own)
        case _:
            return
