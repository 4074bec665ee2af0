"""Long files after any row of edits equal those read afresh: text, tree, index, findings and what features answer."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from loop_ls.features.folding import folds
from loop_ls.features.rename.answers import Rename
from loop_ls.features.rename.rename import prepare, rename
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.lines import Text
from loop_ls.text.position import Position
from tests.index.test_edits import state
from tests.properties.long_texts import CALLEE, ENCODINGS, EOLS, FORMATS, Buffer, long_text, some_edit
from tests.syntax.flat import flat_tree

ROOT = "/w"
EXAMPLES = int(os.environ.get("LOOP_LS_EXAMPLES", "1"))


def _uri(path: str) -> str:
    return f"file://{ROOT}/{path}"


class EditsOfALongFile(RuleBasedStateMachine):
    """The client's string on one side; on the other the document that follows its changes."""

    name = "workflow"

    @initialize(
        seed=st.integers(0, 2**32),
        size=st.sampled_from((300, 600, 1_100, 3_000)),
        eol=st.sampled_from(EOLS),
        encoding=st.sampled_from(ENCODINGS),
    )
    def opened(self, seed: int, size: int, eol: str, encoding: Any) -> None:
        self.rng = random.Random(seed)
        self.buffer = Buffer(long_text(self.name, self.rng, size, eol), encoding)
        self.encoding = encoding
        self.callee = Document.open(_uri("callee.yaml"), CALLEE)
        self.checker = Checker()
        self.document = Document.open(_uri(FORMATS[self.name][0]), self.buffer.text)

    @rule(seed=st.integers(0, 2**32))
    def edited(self, seed: int) -> None:
        for change in some_edit(self.buffer, random.Random(seed)):
            if change.get("range") is None:
                self.document = self.document.rewritten(change["text"], self.document.version + 1)
            else:
                span = PositionMapping(self.document.text, self.encoding).read_range(change["range"])
                self.document = self.document.edit(span, change["text"])

    @rule()
    def checked(self) -> None:
        """Findings are asked for now and then: several edits may lie between two answers."""
        fresh = Document.open(self.document.uri, self.buffer.text, path=self.document.path)
        old, new = self._workspace(self.document), self._workspace(fresh)
        assert _told(self.checker, old, self.document) == _told(Checker(), new, fresh)
        assert list(tokens(self.document)) == list(tokens(fresh))
        assert symbols(self.document) == symbols(fresh)
        assert folds(self.document) == folds(fresh)
        for _ in range(3):
            at = self._name()
            assert prepare(old, self.document, at) == prepare(new, fresh, at)
            assert _edits(rename(old, self.document, at, "n3w")) == _edits(rename(new, fresh, at, "n3w"))

    @invariant()
    def equal(self) -> None:
        text = self.document.text
        assert str(text) == self.buffer.text
        fresh = Document.open(self.document.uri, self.buffer.text, path=self.document.path)
        assert [text.lines[at] for at in range(len(text.lines))] == list(Text.of(self.buffer.text).lines)
        assert flat_tree(self.document.tree) == flat_tree(fresh.tree)
        assert state(self.document) == state(fresh)

    def _workspace(self, document: Document) -> Workspace:
        return Workspace.of(Roots(ROOT), (document, self.callee))

    def _name(self) -> Position:
        lines = self.document.text.lines
        line = self.rng.randrange(len(lines))
        return Position(line, max(0, lines[line].find("draft")))


def _told(checker: Checker, workspace: Workspace, document: Document) -> list[Any]:
    return [
        (one.rule, one.span, one.message, one.severity, one.related) for one in checker.findings(workspace, document)
    ]


def _edits(found: object) -> Any:
    return found.edits if isinstance(found, Rename) else found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FORMATS)
def test_a_long_file_after_edits_equals_one_read_afresh(name: str) -> None:
    machine = type(f"EditsOf_{name}", (EditsOfALongFile,), {"name": name}).TestCase
    machine.settings = settings(
        max_examples=EXAMPLES,
        stateful_step_count=12,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    machine().runTest()
