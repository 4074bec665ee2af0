"""`loop-ls runs fork|replay|diff|export|import|approve|reject` and `test-until`, through the installed command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loop_ls.cli.runs.runs_show import event_line, state
from loop_ls.text.json_value import JsonObject
from tests.cli.conftest import DEVELOP, CliProject


@pytest.fixture(scope="module")
def finished(shared: CliProject) -> str:
    """The id of a run that met its condition in iteration 3."""
    done = shared.call("run", "develop.yaml", "--input", "ships", "--json")
    return str(json.loads(done.stdout)["runId"])


def test_a_fork_is_watched_and_pays_only_for_what_is_new(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "fork", finished[:6], "--iteration", "3", "--json")
    assert done.returncode == 0, done.stderr
    run_id = json.loads(done.stdout)["runId"]
    state = json.loads(shared.call("runs", "status", run_id, "--json").stdout)["state"]
    assert (state["iteration"], state["source"]["runId"]) == (3, finished)
    assert state["calls"] < json.loads(shared.call("runs", "status", finished, "--json").stdout)["state"]["calls"]
    assert f"source {finished}, from iteration 3 on" in " ".join(shared.call("runs", "status", run_id).stdout.split())
    assert shared.call("runs", "fork", finished, "--iteration", "9").returncode == 2


def test_a_fork_asks_a_changed_prompt_once(shared: CliProject, finished: str, tmp_path: Path) -> None:
    rows = json.loads(shared.call("runs", "prompts", finished, "--json").stdout)["prompts"]
    step = [row for row in rows if row["purpose"] == "step"][1]
    file = tmp_path / "prompt.txt"
    file.write_text("Say it in verse.\n")
    done = shared.call("runs", "fork", finished, "--at", step["place"], "--prompt", f"@{file}", "--json")
    assert done.returncode == 0, done.stderr
    run_id = json.loads(done.stdout)["runId"]
    told = shared.call("runs", "prompts", run_id).stdout
    assert told.count("prompt changed") == 1 and told.count("Say it in verse.") == 1
    status = " ".join(shared.call("runs", "status", run_id).stdout.split())
    assert f"source {finished}, from {step['place']} on, with another prompt" in status
    wrong = shared.call("runs", "fork", finished, "--at", "nowhere")
    assert wrong.returncode == 2 and "loop-ls runs prompts" in wrong.stderr


def test_a_fork_of_a_finished_run_says_that_nothing_is_billed(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "fork", finished)
    assert "all answers reused, none billed" in done.stderr
    assert "reused" not in shared.call("runs", "show", finished).stdout


def test_only_a_limit_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    common = {"runId": "r" * 12, "name": "bulletin", "status": "completed", "because": "One clean run."}
    state({**common, "reason": "converged"})  # type: ignore[typeddict-item]
    state({**common, "reason": "max_iterations"})  # type: ignore[typeddict-item]
    told = capsys.readouterr().out
    assert "remark    One clean run." in told and "limit     One clean run." in told


def test_a_verdict_without_an_answer_ends_without_a_colon() -> None:
    judged: JsonObject = {
        "kind": "judged",
        "seq": 3,
        "verdict": "yes",
        "local": True,
        "place": "improve/2",
        "answer": "",
    }
    assert event_line(judged).endswith("yes (locally)")
    assert event_line({**judged, "answer": "YES, it does"}).endswith("yes (locally): YES, it does")


def test_a_replay_needs_no_model(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "replay", finished, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reason"] == "condition_met"


def test_the_outputs_of_two_iterations_are_compared(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "diff", finished, "2", "3")
    assert done.stdout.splitlines()[:2] == ["--- iteration 2", "+++ iteration 3"]
    assert "+draft three" in done.stdout
    assert "identical" in shared.call("runs", "diff", finished, "3", "3").stdout
    assert shared.call("runs", "diff", finished, "1", "9").returncode == 2


def test_a_run_goes_into_a_file_and_comes_back(shared: CliProject, tmp_path: Path) -> None:
    run_id = json.loads(shared.call("run", "develop.yaml", "--input", "out", "--json").stdout)["runId"]
    file = tmp_path / "run.json"
    assert shared.call("runs", "export", run_id, "--into", str(file)).stdout == f"wrote {file}\n"
    assert shared.call("runs", "delete", run_id).returncode == 0
    assert shared.call("runs", "import", str(file)).stdout == f"{run_id}  imported\n"
    assert "already imported" in shared.call("runs", "import", str(file)).stdout
    file.write_text("{}")
    assert shared.call("runs", "import", str(file)).returncode == 2
    assert "cannot be read" in shared.call("runs", "import", str(tmp_path / "nothing.json")).stderr
    file.write_text("[" * 200_000)
    assert "cannot be read: not valid JSON" in shared.call("runs", "import", str(file)).stderr


def test_who_is_not_asked_cannot_answer(shared: CliProject, finished: str) -> None:
    for verb in ("approve", "reject"):
        done = shared.call("runs", verb, finished, "--json")
        assert done.returncode == 2
        assert json.loads(done.stdout)["code"] == "wrong_status"
    assert shared.call("runs", "approve", "all").stdout == "No run is waiting for approval.\n"


def test_a_condition_is_tried_on_a_text_and_on_a_run(shared: CliProject, finished: str) -> None:
    done = shared.call("test-until", "develop.yaml", "--loop", "develop", "--run", finished, "--times", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('"The text is good", judged by ')
    assert done.stdout.count("iteration 1") == 3
    answer = json.loads(
        shared.call("test-until", "develop.yaml", "--loop", "develop", "--output", "x", "--json").stdout
    )
    assert answer["ok"] and len(answer["verdicts"]) == 1
    assert shared.call("test-until", "develop.yaml", "--loop", "nobody", "--output", "x").returncode == 2


def test_UP_46_a_cap_of_the_command_line_ends_the_run_with_3(shared: CliProject) -> None:
    done = shared.call("run", "develop.yaml", "--input", "x", "--max-tokens", "40", "--json")
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (3, "budget")
    assert shared.call("run", "develop.yaml", "--input", "x", "--max-time", "soon").returncode == 2


def test_all_that_have_ended_are_deleted(alone: CliProject) -> None:
    alone.write("develop.yaml", DEVELOP)
    run_id = json.loads(alone.call("run", "develop.yaml", "--input", "x", "--mock", "--json").stdout)["runId"]
    assert alone.call("runs", "delete", "all").stdout == f"deleted {run_id}\n"
