"""`loop-ls runs` through the installed command."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import DEVELOP, CliProject


@pytest.fixture(scope="module")
def finished(shared: CliProject) -> str:
    """The id of a run that met its condition."""
    done = shared.call("run", "develop.yaml", "--input", "ships", "--json")
    return str(json.loads(done.stdout)["runId"])


@pytest.fixture
def going(shared: CliProject) -> str:
    """The id of a run that waits for its model."""
    shared.write("slow.answers.yaml", "delay: 60\nanswers:\n  - say: x\n")
    shared.write("slow.yaml", DEVELOP.replace("develop_it", "slow_it"))
    done = shared.call("run", "slow.yaml", "--input", "x", "--detach", "--json")
    return str(json.loads(done.stdout)["runId"])


def test_the_table_is_for_people(shared: CliProject, finished: str) -> None:
    done = shared.call("runs")
    head, first = done.stdout.splitlines()[:2]
    assert head.split() == ["ID", "NAME", "STATUS", "ITERATION", "COST", "TIME", "STARTED"]
    assert first.startswith(f"{finished[:6]}  develop_it  ✓ condition met")
    assert "3/5" in first


def test_a_list_tells_how_to_get_the_rest(shared: CliProject, finished: str) -> None:
    shared.call("run", "develop.yaml", "--input", "again", "--mock")
    done = shared.call("runs", "--limit", "1")
    assert len(done.stdout.splitlines()) == 2
    assert "loop-ls runs --limit 5" in done.stderr


def test_show_has_every_iteration_with_verdict_question_answer_and_output(shared: CliProject, finished: str) -> None:
    shown = shared.call("runs", "show", finished[:6]).stdout
    assert shown.index("develop iteration 1/5  NO") < shown.index("develop iteration 2/5  NO")
    assert shown.index("develop iteration 3/5  YES") < shown.index("the report")
    for said in ("output:    draft three", 'question:  "The text is good"', "answer:    YES", finished):
        assert said in shown
    full = shared.call("runs", "show", finished, "--full").stdout
    assert 'Evaluate this condition: "The text is good"' in full
    as_json = json.loads(shared.call("runs", "--json", "show", finished).stdout)
    assert [row["verdict"] for row in as_json["history"]] == ["no", "no", "yes"]


def test_a_report_says_on_one_page_what_happened(shared: CliProject, finished: str) -> None:
    told = shared.call("runs", "report", finished[:6]).stdout
    assert "develop: iterations 1–2: NO" in told
    assert told.index("develop: iteration 3: YES") < told.index("ended: condition met")
    as_json = json.loads(shared.call("runs", "report", finished, "--json").stdout)
    assert as_json["report"] == told.splitlines()


def test_prompts_are_what_the_models_were_asked(shared: CliProject, finished: str) -> None:
    said = shared.call("runs", "prompts", finished[:6], "develop/2").stdout
    asked = "develop/2/write  scripted/m\n    Write about ships. Before: draft one\n"
    assert f"{asked}\n  answer:\n    draft two\n" in said
    assert "develop/2:judge" in said and "develop/1" not in said
    every = json.loads(shared.call("runs", "prompts", finished, "--json").stdout)["prompts"]
    assert len(every) == 7
    assert every[-1]["prompt"] == "Report on draft three"


def test_events_are_numbered_without_gap(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "events", finished, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("run_started", "completed")
    people = shared.call("runs", "events", finished[:6], "--follow").stdout.splitlines()
    assert len(people) == len(events)


def test_pause_resume_stop(shared: CliProject, going: str) -> None:
    short = going[:7]
    assert shared.call("runs", "pause", short).stdout.split() == [going[:6], "paused"]
    assert "paused" in shared.call("runs", "--status", "paused").stdout
    assert shared.call("runs", "resume", short).stdout.split()[1] == "running"
    following = shared.popen("runs", "events", going, "--follow")
    assert shared.call("runs", "stop", short).returncode == 0
    out, _ = following.communicate(timeout=60)
    assert out.splitlines()[-1].split()[2] == "cancelled"
    status = shared.call("runs", "status", short).stdout
    assert "■ stopped" in status


def test_UP_64_every_stop_has_an_honest_answer(shared: CliProject, finished: str, going: str) -> None:
    assert going[:6] in shared.call("runs", "stop", "all").stdout
    again = shared.call("runs", "stop", going)
    assert (again.returncode, again.stdout.split()[0]) == (0, going[:6])
    assert "Nothing to stop" in shared.call("runs", "stop", "all").stdout
    over = shared.call("runs", "stop", finished)
    assert over.returncode == 2
    assert "completed" in over.stderr
    unknown = shared.call("runs", "stop", "zzzzzz")
    assert unknown.returncode == 2
    assert "zzzzzz" in unknown.stderr


@pytest.mark.parametrize("verb", ["show", "status", "events", "pause", "resume", "delete"])
def test_an_unknown_run_is_one_sentence(shared: CliProject, verb: str) -> None:
    done = shared.call("runs", verb, "zzzzzz")
    assert done.returncode == 2
    assert "zzzzzz" in done.stderr
    assert "Traceback" not in done.stderr
    as_json = json.loads(shared.call("runs", verb, "zzzzzz", "--json").stdout)
    assert as_json["ok"] is False


@pytest.mark.parametrize("word", ["", "..", "a/b", "../../health"])
def test_a_word_that_is_a_path_of_the_engine_is_an_unknown_run(shared: CliProject, word: str) -> None:
    done = shared.call("runs", "status", word)
    assert done.returncode == 2
    assert f"Unknown run `{word}`." in done.stderr


def test_without_runs_the_next_step_is_said(alone: CliProject) -> None:
    done = alone.call("runs")
    assert (done.returncode, done.stdout) == (0, "No runs yet. Start one: loop-ls run FILE\n")
    assert json.loads(alone.call("runs", "--json").stdout) == {"ok": True, "runs": []}
    for verb in ("show", "status", "events", "prompts", "stop"):
        refused = alone.call("runs", verb)
        assert (refused.returncode, "No runs yet" in refused.stderr) == (2, True), refused


def test_the_newest_run_is_meant_where_none_is_named(shared: CliProject) -> None:
    ids = [
        json.loads(shared.call("run", *words, "--input", "x", "--detach", "--json").stdout)["runId"]
        for words in (("develop.yaml",), ("only_loop.yaml",))
    ]
    for each in ids:
        shared.call("runs", "events", each, "--follow")  # until its end
    assert shared.call("runs", "show").stdout == shared.call("runs", "show", ids[1]).stdout
    assert shared.call("runs", "show").stdout != shared.call("runs", "show", ids[0]).stdout
    assert json.loads(shared.call("runs", "status", "--json").stdout)["state"]["runId"] == ids[1]
    assert shared.call("runs", "events").stdout == shared.call("runs", "events", ids[1]).stdout


def test_a_pipe_that_closes_early_is_no_fault(shared: CliProject, finished: str) -> None:
    reading = shared.popen("runs", "events", finished, "--json")
    assert reading.stdout and reading.stderr
    reading.stdout.close()
    said = reading.stderr.read()
    reading.wait(60)
    assert "Traceback" not in said and "BrokenPipe" not in said


def test_a_terminal_without_unicode_shows_what_it_can(shared: CliProject, finished: str) -> None:
    done = shared.call("runs", "show", finished, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "condition met" in done.stdout, done.stdout
