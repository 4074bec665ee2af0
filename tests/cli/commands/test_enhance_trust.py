"""What an enhance loop may be believed: by file and command, with planners that want to look successful."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import SCRIPT, SECONDS, CliProject

HEAD = """\
$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {provider: scripted, model: m}
"""
ONE = HEAD + "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
REVIEWED = (
    HEAD
    + """\
steps:
  - {name: draft, run: "Write about {{input}}"}
  - name: review
    needs: [draft]
    run: "Answer PASS or FAIL: is it short? {{draft}}"
  - {name: publish, needs: [review], run: "Publish {{draft}}"}
"""
)
CHILD = HEAD.replace("report", "child") + "steps:\n  - {name: go, run: 'Write {{topic}}'}\n"
LOOP = (
    HEAD
    + """\
loops:
  - name: develop
    workflow: child
    with: {topic: "{{input}}"}
    max_iterations: 2
    until: The review says APPROVED
steps:
  - {name: publish, needs: [develop], run: "Publish {{develop}}"}
"""
)


@pytest.fixture
def alone(shared: CliProject, tmp_path: Path) -> CliProject:
    """A project of the test's own, in the engine that all of them share."""
    root = tmp_path / "project"
    root.mkdir()
    return CliProject(root, shared.data)


def plan(*ops: dict[str, Any], **more: Any) -> str:
    return json.dumps({"rationale": "it will look better", "ops": list(ops), **more})


def answers(planner: str, *rows: dict[str, Any]) -> str:
    return json.dumps({"answers": [{"when": {"purpose": "planner"}, "say": planner}, *rows, {"say": "fine"}]})


def enhanced(
    project: CliProject,
    text: str,
    planner: str,
    *rows: dict[str, Any],
    settings: str = "",
    words: tuple[str, ...] = (),
    **files: str,
) -> Any:
    project.write("report.yaml", text)
    project.write("report.answers.yaml", answers(planner, *rows))
    for name, content in files.items():
        project.write(f"{name}.yaml", content)
    if settings:
        project.write(".loop-ls.yaml", settings)
    return project.call("enhance", "report.yaml", "--input", "tea", *words)


def timeline(project: CliProject) -> str:
    run_id = json.loads(project.call("runs", "--json").stdout)["runs"][0]["runId"]
    return project.call("enhance", "--timeline", run_id).stdout


FAILS_ONCE = {"when": {"step": "draft"}, "say": [{"fail": "bad_answer"}, "the draft"]}
SAYS_NO = {"when": {"step": "review", "contains": "is it short"}, "say": "FAIL: bad work"}


def test_a_check_behind_the_last_step_does_not_become_the_result(alone: CliProject) -> None:
    check = {"op": "add_verifier", "name": "chk", "checks": "draft", "criterion": "It is good"}
    done = enhanced(alone, ONE, plan(check), FAILS_ONCE, {"when": {"step": "chk"}, "say": "PASS: good"})
    assert done.returncode != 0
    assert "PASS: good" not in done.stdout
    assert (alone.root / "report.yaml").read_text() == ONE
    assert "would change that (changes_result)" in timeline(alone)


@pytest.mark.parametrize(
    "evading",
    [
        {"op": "set_instructions", "target": "review", "run": "Say something nice of {{draft}}"},
        {"op": "set_condition", "target": "review", "if": "{{draft}} == 'xyzzy'"},
        {"op": "append_instructions", "target": "draft", "text": "End with PASS."},
    ],
    ids=lambda op: str(op["op"]),
)
def test_a_check_that_says_no_is_not_talked_round(alone: CliProject, evading: dict[str, Any]) -> None:
    """It is a check because its prompt asks for PASS or FAIL; nobody has declared it."""
    settings = "enhance: {convergenceMode: lenient}\n"
    done = enhanced(alone, REVIEWED, plan(evading), SAYS_NO, settings=settings)
    assert done.returncode != 0, done.stderr
    assert "converged" not in done.stderr
    assert "draft: FAIL: bad work" in done.stderr
    assert (alone.root / "report.yaml").read_text() == REVIEWED


def test_an_until_is_not_weakened(alone: CliProject) -> None:
    weaker = {"op": "set_loop_until", "target": "develop", "until": "The output is not empty"}
    judged = {"when": {"purpose": "judge", "contains": "APPROVED"}, "say": "NO"}
    yes = {"when": {"purpose": "judge"}, "say": "YES"}
    done = enhanced(alone, LOOP, plan(weaker), judged, yes, child=CHILD)
    assert done.returncode != 0
    assert "converged" not in done.stderr
    assert "develop: `until` is not met after 2 iterations: The review says APPROVED" in done.stderr
    assert (alone.root / "report.yaml").read_text() == LOOP


def test_a_guarded_step_does_not_run_and_nobody_is_asked_for_a_plan(alone: CliProject) -> None:
    guarded = (
        HEAD + "steps:\n  - {name: ask, run: 'May we? {{input}}'}\n"
        "  - {name: deploy, needs: [ask], if: \"{{ask}} == 'yes'\", run: 'Deploy'}\n"
        "  - {name: tell, needs: [ask], run: 'Tell {{ask}}'}\n"
    )
    freed = {"op": "set_condition", "target": "deploy", "if": None}
    done = enhanced(alone, guarded, plan(freed), {"when": {"step": "ask"}, "say": "no"})
    assert done.returncode != 0
    assert (alone.root / "report.yaml").read_text() == guarded
    told = timeline(alone)
    assert "not planned: editing the workflow does not fix what failed" in told
    assert "its `if` is false" in told.replace("\\", "")


def test_the_pool_of_fallbacks_reaches_the_planner_and_the_file(alone: CliProject) -> None:
    settings = "enhance: {fallbackPool: [{provider: scripted, model: m2}]}\n"
    op = {
        "op": "set_provider_fallback",
        "target": "draft",
        "fallbacks": [{"provider": "scripted", "model": "m2"}],
    }
    assert alone.call("check", ".").returncode == 0
    done = enhanced(alone, ONE, plan(op), FAILS_ONCE, settings=settings)
    assert (done.returncode, done.stdout) == (0, "the draft\n"), done.stderr
    assert "m2" in (alone.root / "report.yaml").read_text()


@pytest.mark.parametrize(
    "wrong",
    ["budgetCapUsd: 0", "maxRounds: 99", "convergenceMode: loose", "maxRoundz: 2", "fallbackPool: [m2]"],
)
def test_a_setting_that_is_not_taken_stops_the_start(alone: CliProject, wrong: str) -> None:
    done = enhanced(alone, ONE, plan(), settings=f"enhance: {{{wrong}}}\n")
    assert done.returncode == 2
    assert wrong.partition(":")[0] in done.stderr
    assert (alone.root / "report.yaml").read_text() == ONE


@pytest.mark.parametrize("cli", ["[codex]", "codex", "[/opt/bin/cursor-agent, --print]", "[npx, codex]"])
def test_an_agent_that_plans_badly_is_not_inherited(alone: CliProject, cli: str) -> None:
    settings = f"assist: {{provider: agent, model: x}}\nproviders:\n  agent: {{kind: agent-cli, cli: {cli}}}\n"
    done = enhanced(alone, ONE, plan(), settings=settings)
    assert done.returncode == 2
    assert "does not plan well" in done.stderr
    assert "enhance.plannerProvider" in done.stderr


def test_why_the_planner_gives_up_is_told(alone: CliProject) -> None:
    unfixable = [{"failure": "1:draft:bad_output", "reason": "the provider filters it"}]
    planner = plan(give_up={"reason": "the provider refuses it"}, unfixable=unfixable)
    done = enhanced(alone, ONE, planner, {"when": {"step": "draft"}, "say": {"fail": "bad_answer"}})
    assert done.returncode != 0
    assert "the planner gave up: the provider refuses it" in done.stderr
    told = timeline(alone)
    for said in ("the provider refuses it", "the provider filters it", "it will look better"):
        assert said in told


def test_a_workflow_that_is_enhanced_in_the_editor_runs_everywhere(alone: CliProject) -> None:
    alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", answers(plan(), {"when": {"step": "draft"}, "say": "the draft"}))
    alone.write(".loop-ls.yaml", "enhance: {workflows: {report: {enabled: true}}}\n")
    looped = alone.call("run", "report.yaml", "--input", "tea")
    assert (looped.returncode, looped.stdout) == (0, "the draft\n"), looped.stderr
    assert "converged" in looped.stderr
    plain = alone.call("run", "report.yaml", "--input", "tea", "--plain")
    assert (plain.returncode, plain.stdout) == (0, "the draft\n"), plain.stderr
    assert "converged" not in plain.stderr


def test_a_workflow_that_is_enhanced_in_the_editor_runs_once_over_http(alone: CliProject) -> None:
    file = alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", answers(plan(BETTER), {"when": {"step": "draft"}, "say": "the draft"}))
    alone.write(".loop-ls.yaml", "enhance: {workflows: {report: {enabled: true}}}\n")
    assert alone.call("runs").returncode == 0, "an engine is there"
    engine = read_handover(alone.data)
    assert engine is not None
    who = {"Authorization": f"Bearer {engine.token}"}
    body = {"root": str(alone.root), "path": str(file), "input": "tea"}
    told = httpx.post(f"{engine.url}/api/v1/loops", json=body, headers=who, timeout=SECONDS, verify=False).json()
    assert any("this is a plain run" in one for one in told["warnings"]), told
    facts = alone.call("runs", "events", told["runId"], "--json").stdout.splitlines()
    assert json.loads(facts[0])["format"] == "workflow"


BETTER = {"op": "set_instructions", "target": "draft", "run": "Write well about {{input}}", "reason": "say how"}
MENDS = {"when": {"step": "draft", "contains": "well"}, "say": "the draft"}
FAILS = {"when": {"step": "draft"}, "say": {"fail": "bad_answer"}}
PAUSED = "enhance: {pauseBetweenRounds: true}\n"


def test_a_pause_that_nobody_can_answer_ends_with_a_sentence(alone: CliProject) -> None:
    done = enhanced(alone, ONE, plan(BETTER), MENDS, FAILS, settings=PAUSED)
    assert done.returncode == 5, done.stderr
    assert "Round 1 of 3 failed; 1 change proposed:" in done.stderr
    assert "set_instructions draft: say how" in done.stderr
    assert "There is no terminal to answer on" in done.stderr
    assert (alone.root / "report.yaml").read_text() == ONE


@pytest.mark.parametrize(("typed", "mended"), [("d\nc\n", True), ("w\ns\n", False)])
def test_a_pause_on_a_terminal_shows_the_change_and_asks(alone: CliProject, typed: str, mended: bool) -> None:
    alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", answers(plan(BETTER), MENDS, FAILS))
    alone.write(".loop-ls.yaml", "enhance: {pauseBetweenRounds: true, onFixation: warn}\n")
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(
            [SCRIPT, "enhance", "report.yaml", "--input", "tea"],
            cwd=alone.root,
            env=alone.env(TERM="dumb"),
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            text=True,
        )
    finally:
        os.close(theirs)
    said = b""
    while chunk := _read(ours):
        said += chunk
    os.close(ours)
    told = said.decode(errors="replace")
    assert "[c]ontinue to the next round" in told
    assert ((alone.root / "report.yaml").read_text() != ONE) is mended
    if mended:
        assert "+  - {name: draft, run: 'Write well about {{input}}'}" in told
        assert (done.returncode, done.stdout) == (0, "the draft\n"), told
    else:
        assert done.returncode == 5, told


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def until_state(project: CliProject, run_id: str, state: str, tries: int = 60) -> None:
    """The command itself takes its time: a limit on tries is one on time."""
    told = ""
    for _ in range(tries):
        told = project.call("enhance", "--status", run_id).stdout
        if told.startswith(state):
            return
    raise AssertionError(told)


def _paused(project: CliProject) -> str:
    """The id of a loop that waits for a person after its first round."""
    project.write("report.yaml", ONE)
    project.write("report.answers.yaml", answers(plan(BETTER), MENDS, FAILS))
    project.write(".loop-ls.yaml", PAUSED)
    run_id = project.call("enhance", "report.yaml", "--input", "tea", "--detach").stdout.strip()
    until_state(project, run_id, "awaiting user")
    return run_id


def test_a_loop_skips_the_change_of_a_round(alone: CliProject) -> None:
    run_id = _paused(alone)
    assert alone.call("enhance", "--skip", run_id).returncode == 0
    until_state(alone, run_id, "gave up · Round 2")
    assert (alone.root / "report.yaml").read_text() == ONE


def test_a_loop_is_stopped(alone: CliProject) -> None:
    run_id = _paused(alone)
    assert alone.call("enhance", "--stop", run_id).returncode == 0
    until_state(alone, run_id, "cancelled")


@pytest.mark.parametrize("rejects", [True, False])
def test_feedback_may_reject_a_step(alone: CliProject, rejects: bool) -> None:
    run_id = _paused(alone)
    words = ("--feedback", run_id, "--text", "shorter", "--step", "draft", *(["--reject"] if rejects else []))
    assert alone.call("enhance", *words).returncode == 0
    facts = [json.loads(line) for line in alone.call("runs", "events", run_id, "--json").stdout.splitlines()]
    [told] = [fact for fact in facts if fact["kind"] == "feedback"]
    assert (told["text"], told["step"], told["negative"]) == ("shorter", "draft", rejects)
    shown = f"### Said by a person\n* {'rejected' if rejects else 'feedback on'} `draft`: shorter"
    assert shown in alone.call("enhance", "--timeline", run_id).stdout


def test_a_change_that_a_person_rejects_in_the_pause_stays_out(alone: CliProject) -> None:
    run_id = _paused(alone)
    said = alone.call("enhance", "--feedback", run_id, "--reject", "--text", "not like this")
    assert said.stdout.startswith("The change was rejected and is not applied"), said.stderr
    assert "is not applied" in alone.call("enhance", "--status", run_id).stdout
    for words in (("enhance", "--continue"), ("runs", "resume"), ("runs", "answer")):
        done = alone.call(*words, run_id, *(["continue"] if "answer" in words else []))
        assert done.returncode == 2, (words, done.stdout)
    assert f"answer    `loop-ls enhance --skip {run_id[:6]}`" in alone.call("runs", "show", run_id).stdout
    waiting = json.loads(alone.call("runs", "inbox", "--json").stdout)["waiting"]
    [waits] = [one for one in waiting if one["runId"] == run_id]
    assert [each["answer"] for each in waits["answers"]] == ["skip", "stop"]
    assert alone.call("enhance", "--skip", run_id).returncode == 0
    until_state(alone, run_id, "gave up · Round 2")
    assert (alone.root / "report.yaml").read_text() == ONE


def test_feedback_on_a_step_that_is_not_there_is_refused(alone: CliProject) -> None:
    run_id = _paused(alone)
    done = alone.call("enhance", "--feedback", run_id, "--reject", "--text", "no", "--step", "drft")
    assert (done.returncode, "did you mean `draft`?" in done.stderr) == (2, True), done.stderr
    facts = [json.loads(line) for line in alone.call("runs", "events", run_id, "--json").stdout.splitlines()]
    assert [fact for fact in facts if fact["kind"] == "feedback"] == []


def test_a_loop_is_told_from_another_command(alone: CliProject) -> None:
    run_id = _paused(alone)
    assert alone.call("enhance", "--feedback", run_id, "--text", "shorter", "--step", "draft").returncode == 0
    assert alone.call("enhance", "--continue", run_id).returncode == 0
    until_state(alone, run_id, "converged")
    assert "well" in (alone.root / "report.yaml").read_text()
    assert alone.call("enhance", "--continue", run_id).returncode == 2
    assert alone.call("enhance", "--revert", run_id).returncode == 0
    assert (alone.root / "report.yaml").read_text() == ONE
    alone.write("report.yaml", ONE + "# mine\n")
    assert alone.call("enhance", "--revert", run_id).returncode == 2
