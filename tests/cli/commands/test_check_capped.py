"""`check` in a folder with more files than are looked at: nobody is accused, and it is said."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from loop_ls.cli.files import check_run
from loop_ls.cli.main import main
from loop_ls.index.disk.discovery import discover

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\ndescription: A flow\n"
MODEL = "execution: {provider: ollama, model: llama3.2}\n"
CALL = HEAD + "steps:\n  - {{name: one, template: {{name: {}, with: {{topic: x}}}}}}\n"


def test_a_callee_next_to_its_caller_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(CALL.format("a", "zebra"))
    (tmp_path / "b.yaml").write_text(CALL.format("b", "zebraa"))
    (tmp_path / "z.yaml").write_text(HEAD.format("zebra") + MODEL + 'steps:\n  - {name: w, run: "On {{topic}}"}\n')
    monkeypatch.setattr(check_run, "discover", partial(discover, most=2))
    assert main(["check", str(tmp_path), "--level", "error"]) == 1
    out, err = capsys.readouterr()
    assert out.count("WF601") == 1
    assert "zebraa" in out
    assert "more than" in err and "not checked" in err
