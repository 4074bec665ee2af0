"""The documentation's table of LSP methods says what the server announces; nothing is announced without a handler."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.server.language_server import LoopServer
from loop_ls.server.method_table import COMMAND, METHODS, answered, in_page, table
from loop_ls.server.routes.table import ROUTES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "language-server.md"

#: What the server sends.
_SENT = {"textDocument/publishDiagnostics"}


def test_the_page_is_current() -> None:
    text = PAGE.read_text("utf-8")
    assert in_page(text) == text, f"run `{COMMAND}`"


def test_every_method_that_has_a_handler_is_listed_with_yes() -> None:
    found = answered()
    assert {route.method for route in ROUTES} <= {method for method, there in found.items() if there}


def test_every_method_with_yes_has_a_handler() -> None:
    registered = LoopServer().protocol.fm.features.keys()
    yes = {method for method, there in answered().items() if there}
    assert yes - _SENT <= registered


def test_a_method_is_a_row_and_says_yes_or_no() -> None:
    rows = table().splitlines()[2:]
    assert len(rows) == len(METHODS)
    assert "| `textDocument/hover` | yes |" in rows
    assert "| `textDocument/moniker` | no |" in rows


def test_a_text_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="not found"):
        in_page("# no marks")
