"""What edits of ours must leave true once they are made, found out by reading the new text afresh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from loop_ls.features.actions.extract_workflow import extract
from loop_ls.features.actions.inline_loop import loop_places
from loop_ls.features.actions.invariants import clean
from loop_ls.features.formatting import formatting
from loop_ls.features.references import references
from loop_ls.features.rename.answers import Rename
from loop_ls.features.rename.rename import rename
from loop_ls.formats.common.plain_value import plain
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, TextEdit, Tier
from loop_ls.rules.fixes.apply import fix_document
from loop_ls.text.position import Position
from tests.properties.asking import NEW, Case

_BREAK = re.compile("\r\n|\r|\n")


def applied(document: Document, edits: Iterable[TextEdit]) -> Document:
    text = document.text
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        text = text.edit(edit.span, edit.text)
    return Document.open(document.uri, str(text), document.version + 1, document.path)


def values(document: Document) -> list[Any]:
    """Everything that a file says, without places."""
    return [(piece.section, piece.kind, piece.key and piece.key.text, plain(piece.node)) for piece in _saying(document)]


def _saying(document: Document) -> Iterator[Any]:
    return (piece for piece in document.tree.pieces if piece.kind != "tail" and (piece.key or piece.node is not None))


def formatting_keeps_the_values(case: Case) -> bool:
    edits = formatting(case.document)
    if not edits:
        return False
    after = applied(case.document, edits)
    assert values(after) == values(case.document), "formatting changed a value"
    assert formatting(after) == (), "formatting what is formatted changes it again"
    return True


def renaming_reaches_every_place(case: Case) -> bool:
    """As many places have the new name as had the old one, and who waits for whom is the same."""
    found = rename(case.workspace, case.document, case.at, NEW)
    if not isinstance(found, Rename) or not found.edits:
        return False
    places = references(case.workspace, case.document, case.at)
    workspace = _changed(case.workspace, found.edits)
    document = workspace.documents[case.document.uri]
    at = _moved(case.at, found.edits.get(document.uri, ()))
    now = references(workspace, document, at)
    assert len(now) == len(places), f"{len(places)} places had the old name, {len(now)} have the new one"
    for one in now:
        assert NEW in workspace.documents[one.uri].text.slice(one.span)
    for uri in found.edits:
        old, new = case.workspace.documents[uri], workspace.documents[uri]
        assert len(old.elements) == len(new.elements)
        assert clean(new) or not clean(old), "the new text cannot be read"
        for number in range(len(old.elements)):
            assert old.graph.dependencies(number) == new.graph.dependencies(number), "somebody waits for somebody else"
    return True


def _moved(at: Position, edits: Iterable[TextEdit]) -> Position:
    """Where the name at a place begins after edits in front of it."""
    line, column = at
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        start, end = edit.span
        if start <= at <= end:
            line, column = start
        elif end < at:
            if end.line == line:
                column += start.column + len(edit.text) - end.column
            line -= end.line - start.line
    return Position(line, column)


def fixes_do_what_they_say(case: Case) -> bool:
    """A safe fix removes what it was offered for, and never makes an error of something else."""
    fixable = [(f, fix) for f in case.findings for fix in f.fixes]
    if not fixable:
        return False
    finding, fix = case.rng.choice(fixable)
    edits = fix.edits(case.document)
    if not edits:
        return False
    changes: dict[str, list[TextEdit]] = {}
    for edit in edits:
        changes.setdefault(edit.uri or case.document.uri, []).append(edit)
    workspace = _changed(case.workspace, changes)
    document = workspace.documents[case.document.uri]
    told = f"{finding.rule} `{fix.title}`"
    if fix.tier is Tier.SAFE:
        left = [_told_of(one) for one in Checker().findings(workspace, document)]
        assert left.count(_told_of(finding)) < [_told_of(f) for f in case.findings].count(_told_of(finding)), (
            f"{told} leaves its finding"
        )
    assert clean(document) or not clean(case.document), f"{told} makes a text that cannot be read"
    return True


def fixing_comes_to_an_end(case: Case) -> bool:
    """What `fix` leaves has nothing to fix, can be read as well as before, and keeps remarks and line ends."""
    unsafe = case.rng.random() < 0.5
    fixed = fix_document(Checker(), case.workspace.with_document(case.document), case.document, unsafe)
    before, after = str(case.document.text), str(fixed.document.text)
    assert clean(fixed.document) or not clean(case.document), "fixing makes a text that cannot be read"
    again = fix_document(Checker(), fixed.workspace, fixed.document, unsafe).document
    assert str(again.text) == after, "fixing what is fixed changes it again"
    if not any(one.rule == "unused-ignore" for one in fixed.done):
        remarks = [Counter(line.partition(" # ")[2] for line in text.splitlines()) for text in (before, after)]
        assert not (remarks[0] - remarks[1]).keys() - {""}, "a remark is gone"
    assert set(_BREAK.findall(after)) <= set(_BREAK.findall(before)) | {"\n"}, "another kind of line end"
    return before != after


def _told_of(finding: Finding) -> tuple[str, str, int]:
    return finding.rule, finding.message, finding.span.start.line


def refactorings_can_be_read(case: Case) -> bool:
    found = [*extract(case.workspace, case.document, case.at), *loop_places(case.document, case.at)]
    for action in found:
        assert action.edits is not None
        for uri, edits in action.edits().items():
            before = case.workspace.documents.get(uri) or Document.open(uri, "")
            assert clean(applied(before, edits)), f"{action.title}: the text cannot be read"
    return bool(found)


def what_grew_is_what_is_read(case: Case) -> bool:
    """Findings after many edits are those of the text as a whole."""
    afresh = Document.open(case.document.uri, str(case.document.text), case.document.version, case.document.path)
    workspace = case.workspace.with_document(afresh)
    old, new = case.findings, Checker().findings(workspace, afresh)
    assert [(f.rule, f.span, f.message) for f in old] == [(f.rule, f.span, f.message) for f in new]
    return True


def _changed(workspace: Workspace, edits: Mapping[str, Iterable[TextEdit]]) -> Workspace:
    for uri, listed in edits.items():
        workspace = workspace.with_document(applied(workspace.documents[uri], listed))
    return workspace


PROOFS = (
    formatting_keeps_the_values,
    renaming_reaches_every_place,
    fixes_do_what_they_say,
    fixing_comes_to_an_end,
    refactorings_can_be_read,
    what_grew_is_what_is_read,
)
