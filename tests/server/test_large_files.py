"""Large files are read and checked before somebody opens them; what the editor shows still counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.support.raw import RawClient

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
