"""`loop-ls runs note`: what the command takes and says."""

from __future__ import annotations

import json
import time

from tests.cli.conftest import CliProject
from tests.cli.runs.test_watching import LONG, drafts


def test_watching_tells_of_a_note(alone: CliProject) -> None:
    alone.write("develop.answers.yaml", drafts(0, 300))
    watching = alone.popen("run", "develop.yaml", "--input", "ships")
    assert watching.stderr
    assert any(line.startswith("develop 1/5") for line in watching.stderr)
    [run] = json.loads(alone.call("runs", "--json").stdout)["runs"]
    said = alone.call("runs", "note", run["runId"][:6], "mind the tide")
    assert (said.returncode, said.stdout) == (0, f"{run['runId'][:6]}  gets the note with its next prompt\n")
    assert any(line == "! note for the next prompt: mind the tide\n" for line in watching.stderr)
    again = alone.call("runs", "note", run["runId"][:6], "and the wind")
    assert again.stdout == f"{run['runId'][:6]}  gets the note with its next prompt, after 1 other notes\n"
    watching.kill()
    watching.wait(LONG)


def test_a_note_comes_from_standard_input_and_an_ended_run_takes_none(alone: CliProject) -> None:
    alone.write("develop.answers.yaml", drafts(0, 300))
    done = alone.call("run", "develop.yaml", "--input", "ships", "--detach", "--json")
    run_id = json.loads(done.stdout)["runId"]
    said = alone.call("runs", "note", run_id, "-", "--json", stdin="two\nlines\n")
    assert json.loads(said.stdout) == {"ok": True, "runId": run_id, "notes": 1}
    assert json.loads(alone.call("runs", "status", run_id, "--json").stdout)["state"]["notes"] == ["two\nlines"]
    assert alone.call("runs", "stop", run_id).returncode == 0
    deadline = time.monotonic() + LONG
    while (late := alone.call("runs", "note", run_id, "late")).returncode == 0:
        assert time.monotonic() < deadline
    assert late.returncode == 2
    assert "it sends no further prompts" in late.stderr
