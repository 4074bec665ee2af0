"""What comments and docstrings cite is in this repository: behaviours by number, pages of docs, rules by code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sorted(path for folder in ("loop_ls", "tests") for path in (ROOT / folder).rglob("*.py"))
CLIENT = sorted(path for folder in ("src", "test") for path in (ROOT / "vscode-client" / folder).rglob("*.ts"))

#: Chapters of documents that are not here (`spec 4.5`, a bare `(4.5)`), and trackers that a reader cannot open.
_ELSEWHERE = re.compile(
    r"\bspec(?:ification)? (?:section |appendix |chapter )?[A-F0-9]\b|\(\d{1,2}\.\d{1,2}\)|\(issue \d"
)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def said(text: str) -> Iterator[str]:
    """Comments and docstrings of a Python text."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _WITH_DOCSTRING) and (docstring := ast.get_docstring(node)):
            yield docstring


def said_if_cited(path: Path) -> Iterator[str]:
    """Taking all of them apart takes long; few have anything that looks like it."""
    text = path.read_text("utf-8")
    return said(text) if cited(iter([text])) else iter(())


def cited(texts: Iterator[str]) -> list[str]:
    return [found for text in texts for found in _ELSEWHERE.findall(" ".join(text.split()))]


@pytest.mark.parametrize("text", ["# as in spec 4.5", '"""What counts (4.5)."""', "# broken there (issue 3)"])
def test_a_citation_of_something_elsewhere_is_found(text: str) -> None:
    assert len(cited(said(text + "\n"))) == 1


def test_python_cites_nothing_that_is_elsewhere() -> None:
    found = {str(path.relative_to(ROOT)): cited(said_if_cited(path)) for path in PYTHON if path != Path(__file__)}
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_the_client_cites_nothing_that_is_elsewhere() -> None:
    lines = ((path, line) for path in CLIENT for line in path.read_text("utf-8").splitlines())
    assert [(path.name, line) for path, line in lines if "//" in line and cited(iter([line]))] == []
