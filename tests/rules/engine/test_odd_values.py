"""No rule trips over a value that is missing, of another type, merged in or behind an alias: what can stand in an
example of a page instead of each of its values is tried there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES
from loop_ls.syntax.nodes import Mapping, Node, Sequence
from loop_ls.testing.fixture import read_fixture
from loop_ls.text.position import Span
from tests.rules.checking import document_of, workspace_of

JSON = ("null", "5", "-1.5", "true", '"text"', '""', "[]", "{}", '["text", 5, null]', '{"a": "b"}')
YAML = ("", "~", "5", "-1.5", "true", "text", "''", "[]", "{}", "[text, 5, ]", "{a: b}", "*nothing", "!tag x", "|")


def _nodes(node: Node | None) -> Iterator[Node]:
    """A value and all that is in it."""
    if node is None:
        return
    yield node
    match node:
        case Mapping():
            for entry in node.entries:
                yield from _nodes(entry.value)
        case Sequence():
            for item in node.items:
                yield from _nodes(item)
        case _:
            pass


def _places(document: Document) -> list[tuple[Node, Span]]:
    return [
        (node, document.absolute(piece, node.span)) for piece in document.tree.pieces for node in _nodes(piece.node)
    ]


def _odd(document: Document) -> Iterator[Document]:
    """The document with another value in one place, each kind in turn; and with a mapping merged in."""
    json = document.path.endswith(".json")
    values = cycle(JSON if json else YAML)
    for node, span in _places(document):
        written = document.text.slice(span)
        for _ in range(3):
            yield document.edit(span, next(values))
        if not json and isinstance(node, Mapping) and written.startswith("{"):
            yield document.edit(span, f"{{<<: {written}}}")
        elif not json and "\n" not in written:
            yield document.edit(span, f"&here {written}")


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.code)
def test_no_value_makes_a_rule_fail(rule: Rule) -> None:
    fixture = read_fixture(rule.page.bad)
    workspace = workspace_of(fixture)
    document = document_of(workspace, fixture.main.path)
    checker = Checker(PROFILES)
    for odd in _odd(document):
        for finding in checker.findings(workspace.with_document(odd), odd):
            assert finding.message
            for fix in finding.fixes:
                fix.edits(odd)
