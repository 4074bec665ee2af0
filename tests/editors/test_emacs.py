"""A person in Emacs with eglot and the set-up of the README: the same things as in the other editors."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from editors_flow import write_flow

HERE = Path(__file__).parent


def test_emacs_shows_offers_renames_and_runs(tmp_path: Path, server_program: str) -> None:
    emacs = shutil.which("emacs")
    if emacs is None:
        pytest.fail("emacs is missing: run .ci/setup-editors", pytrace=False)
    file, data = write_flow(tmp_path / "poems"), tmp_path / "data"
    environment = {
        **os.environ,
        "PATH": f"{Path(server_program).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LOOP_LS_DATA_DIR": str(data),
        "EMACS_SETUP": str(HERE / "emacs.el"),
        "EMACS_FILE": str(file),
    }
    try:
        done = subprocess.run(
            [emacs, "--batch", "-Q", "-l", str(HERE / "emacs_session.el")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        stop = [server_program, "engine", "stop", "--data-dir", str(data)]
        subprocess.run(stop, capture_output=True, timeout=60, check=False)
    said = [one.partition(": ")[::2] for one in done.stdout.splitlines() if ": " in one]
    assert ("done", "yes") in said, done.stdout + done.stderr
    told = dict(said)
    assert any("[WF702]" in text for name, text in said if name == "diagnostic"), said
    assert "iteration 1: empty" in told["hover"]
    assert "loop.history" in told["completion"]
    assert (told["renamed"], told["used"]) == ("yes", "yes")
    assert told["run"] == "completed condition_met"
