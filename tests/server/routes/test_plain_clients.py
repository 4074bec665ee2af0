"""Clients that render no Markdown get texts as they were written, without marks and escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.support.editor import Editor
from tests.server.support.raw import RawClient

ODD = "Uses a_b, *stars* and [x](y) & <b>"
MARKED = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
    }
}

TEXT = f"""$schema: workflow/v2.0
name: flow
version: 1.0.0
steps:
  - name: draft
    run: "{ODD}"
  - name: check
    needs: [draft]
    run: "Check {{{{draft}}}}"
"""


@pytest.mark.parametrize(("capabilities", "rendered"), [({}, False), (MARKED, True)])
def test_hover_and_completion_say_what_was_written(
    server: RawClient, folder: Path, capabilities: dict[str, object], rendered: bool
) -> None:
    editor = Editor(server, folder, capabilities=capabilities, text=TEXT)
    place = {"textDocument": {"uri": editor.uri}, "position": {"line": 7, "character": 13}}
    contents = server.ask("textDocument/hover", place)["result"]["contents"]
    assert contents["kind"] == ("markdown" if rendered else "plaintext")
    (item,) = (one for one in _items(server.ask("textDocument/completion", place)["result"]) if one["label"] == "draft")
    documentation = server.ask("completionItem/resolve", item)["result"]["documentation"]
    assert isinstance(documentation, dict) is rendered
    for told in (contents["value"], documentation["value"] if rendered else documentation):
        assert (ODD in told) is not rendered
        assert ("**`draft`**" in told) is rendered


def _items(answer: object) -> list[dict[str, object]]:
    return answer["items"] if isinstance(answer, dict) else answer  # type: ignore[return-value]
