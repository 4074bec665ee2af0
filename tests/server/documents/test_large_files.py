"""Large files are read and checked before somebody opens them; what the editor shows still counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.support.raw import RawClient, insert

HEAD = "$schema: workflow/v2.0\nname: long\nversion: 1.0.0\nexecution: {provider: ollama, model: llama3.2}\nsteps:\n"
STEP = "  - name: step_{n}\n    run: |\n      Write {{{{input}}}}.\n      Once more.\n"
LONG = HEAD + "".join(STEP.format(n=n) for n in range(800)) + "  - name: last\n    needs: [step_7999]\n    run: Go\n"


def rules(found: list[Any]) -> list[str]:
    return sorted(str(one.get("code", "")) for one in found)


def test_a_large_file_has_its_findings_however_it_is_opened(server: RawClient, tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    (folder / "long.yaml").write_text(LONG)
    uri = (folder / "long.yaml").as_uri()
    workspace = {"diagnostics": {"refreshSupport": True}}
    server.begin({"workspace": workspace}, folder)
    server.wait(lambda message: message.get("method") == "workspace/diagnostic/refresh")
    server.open(uri, LONG, 3)
    assert "WF301" in rules(server.diagnostics(uri, 3))
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    server.open(uri, LONG.replace("step_7999", "step_799"), 4)
    assert "WF301" not in rules(server.diagnostics(uri, 4))


def test_a_text_beyond_the_limit_is_neither_told_about_nor_edited(server: RawClient, tmp_path: Path) -> None:
    """What is kept of it is only its first lines: an edit of those would hit the text of the user."""
    server.begin({})
    uri = (tmp_path / "nowhere" / "long.yaml").as_uri()
    server.open(uri, LONG)
    server.diagnostics(uri, 1)
    server.change(uri, 2, insert(0, 0, "# " + "x" * 9_000_000 + "\n"))  # pasted
    (fault,) = server.diagnostics(uri, 2)
    assert "is not read" in fault["message"]
    about = {"textDocument": {"uri": uri}, "options": {}}
    assert server.ask("textDocument/formatting", about)["result"] is None
    estimate = {"command": "loopLs.estimate", "arguments": [{"uri": uri}]}
    assert server.ask("workspace/executeCommand", estimate)["result"]["code"] == "file_has_errors"
    server.change(
        uri, 3, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}, "text": ""}
    )
    assert "WF301" in rules(server.diagnostics(uri, 3))
    assert b"Traceback" not in server.log
