"""What an enhance loop tells its planner, takes of it and says of both: by file and command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.test_enhance_trust import (
    BETTER,
    CHILD,
    FAILS,
    LOOP,
    MENDS,
    ONE,
    PAUSED,
    REVIEWED,
    answers,
    enhanced,
    plan,
    timeline,
    until_state,
)
from tests.cli.conftest import CliProject
from tests.engine.providers.support.recording_provider import RecordingProvider, Refuses

SAYS_SO = plan({"op": "append_instructions", "target": "draft", "text": "Be kind."})
REFUSES = Refuses(400, {"error": {"message": "not so"}})
PLANS = "enhance: {plannerProvider: scripted, plannerModel: m}\n"


@pytest.fixture(scope="module", autouse=True)
def key() -> Iterator[None]:
    """The engine takes it from its environment at its start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OF_TESTS", "a key")
        yield


def provider_settings(**providers: RecordingProvider) -> str:
    kind = "kind: openai, apiKeyEnv: OF_TESTS, price: {input: 1, output: 1}"
    lines = (f"  {name}: {{{kind}, baseUrl: '{one.url}/v1'}}\n" for name, one in providers.items())
    return "providers:\n" + "".join(lines)


@pytest.fixture
def alone(shared: CliProject, tmp_path: Path) -> CliProject:
    """A project of the test's own, in the engine that all of them share."""
    root = tmp_path / "project"
    root.mkdir()
    return CliProject(root, shared.data)


# -- what failed --------------------------------------------------------------------------------------------------


def test_EB_130_a_step_that_is_declared_a_verifier_fails_the_round_with_what_it_said(alone: CliProject) -> None:
    """Its prompt asks for no PASS and no FAIL: only the checks file says that it judges."""
    text = REVIEWED.replace("Answer PASS or FAIL: is it short?", "Judge")
    says = {"when": {"step": "review"}, "say": "FAIL: too short"}
    alone.write("report.yaml", text)
    alone.write("report.answers.yaml", answers(plan(give_up="nothing helps"), says))
    plain = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (plain.returncode, "converged" in plain.stderr) == (0, True), plain.stderr
    assert "not planned: nothing failed" in plain.stderr
    alone.write("report.checks.yaml", "verifiers: [review]\n")
    judged = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (judged.returncode != 0, "converged" in judged.stderr) == (True, False), judged.stderr
    assert "draft: FAIL: too short" in judged.stderr


CHECKS = """\
assert:
  - {name: heading, on: step.draft, type: equals, value: "# Tea time", hint: begin with a heading}
  - {name: short, type: command, value: [sh, -c, "test $(wc -c) -lt 40 || { echo counted; echo too long; exit 1; }"]}
  - {name: mild, type: contains, value: never said, severity: warn}
"""


def test_EB_130_checks_beside_the_workflow_decide_a_round(alone: CliProject) -> None:
    alone.write("report.checks.yaml", CHECKS)
    alone.write("report.yaml", ONE)
    rows = [
        {"when": {"purpose": "planner", "contains": "too long"}, "say": plan(BETTER)},
        {"when": {"purpose": "planner"}, "say": plan(give_up="nobody says what failed")},
        {"when": {"step": "draft", "contains": "well"}, "say": "# Tea time"},
        {"when": {"step": "draft"}, "say": "a draft that is far too long to be called short"},
    ]
    alone.write("report.answers.yaml", json.dumps({"answers": rows}))
    unasked = alone.call("enhance", "report.yaml", "--input", "tea")
    assert unasked.returncode == 2
    assert "This run starts `sh -c " in unasked.stderr, unasked.stderr
    done = alone.call("enhance", "report.yaml", "--input", "tea", "--yes")
    assert (done.returncode, done.stdout) == (0, "# Tea time\n"), done.stderr
    assert "round 1: failed draft, report; set_instructions draft" in done.stderr
    assert "draft: begin with a heading" in done.stderr
    assert "report: it ended with status 1\n" in done.stderr
    by_heart = {**BETTER, "run": "Write '# Tea time' about {{input}}"}
    learnt = enhanced(alone, ONE, plan(by_heart), {"when": {"step": "draft"}, "say": "a draft"}, words=("--yes",))
    assert learnt.returncode != 0, learnt.stderr
    assert "leaks_check" in timeline(alone).replace("\\", "")
    alone.write("report.checks.yaml", "assert: [{type: nonsense}]\n")
    assert "report.checks.yaml:1" in alone.call("enhance", "report.yaml", "--input", "tea").stderr


def test_the_same_failure_under_another_wording_is_still_the_same(alone: CliProject) -> None:
    """A person lets the plan change `until`, and what fails stays as it was: the second round is the last one."""
    op = {"op": "set_loop_until", "target": "develop", "until": "The review says APPROVED, in capitals"}
    alone.write(".loop-ls.yaml", "enhance: {maxRounds: 5, onFixation: abort, pauseBetweenRounds: true}\n")
    alone.write("report.yaml", LOOP)
    alone.write("child.yaml", CHILD)
    alone.write("report.answers.yaml", answers(plan(op), {"when": {"purpose": "judge"}, "say": "NO"}))
    run_id = alone.call("enhance", "report.yaml", "--input", "tea", "--detach").stdout.strip()
    until_state(alone, run_id, "awaiting user")
    assert alone.call("enhance", "--continue", run_id).returncode == 0
    until_state(alone, run_id, "gave up")
    told = alone.call("enhance", "--timeline", run_id).stdout
    assert "in capitals" in (alone.root / "report.yaml").read_text()
    assert "Round 2 of 5" in told
    assert "not planned: it failed in the same way as the previous round" in told


def test_no_money_is_told_as_no_money(alone: CliProject) -> None:
    provider = RecordingProvider()
    provider.answer = lambda request: Refuses(402, {"error": {"message": "Insufficient Balance"}})
    with provider.serving():
        alone.write(".loop-ls.yaml", provider_settings(works=provider) + PLANS)
        alone.write("report.yaml", ONE.replace("provider: scripted", "provider: works"))
        alone.write("report.answers.yaml", answers(plan()))
        done = alone.call("enhance", "report.yaml", "--input", "tea", "--yes")
    assert done.returncode != 0
    assert "The quota or credit at `works` is used up (402)" in done.stderr
    assert "quota, credit or usage limit used up in round 1" in done.stderr
    assert "key" not in done.stderr


def test_items_that_fail_are_counted_and_none_at_all_is_no_failure(alone: CliProject) -> None:
    items = LOOP.partition("loops:")[0] + (
        'loops:\n  - {name: each, workflow: child, mode: iterate, items: "{{input}}", max_iterations: 3,'
        ' with: {topic: "{{loop.item}}"}, on_failure: continue, min_success_rate: 0.5}\n'
    )
    alone.write("child.yaml", CHILD)
    alone.write("report.yaml", items)
    rows = [{"when": {"contains": "Write bad"}, "say": {"fail": "bad_answer"}}, {"say": "fine"}]
    alone.write("report.answers.yaml", json.dumps({"answers": rows}))
    done = alone.call("run", "report.yaml", "--input", '["a", "bad", "c", "d"]')
    assert done.returncode == 0, done.stderr
    assert "1 of 3 items of `each` failed" in done.stderr
    assert "1 is skipped" in done.stderr
    assert alone.call("run", "report.yaml", "--input", "[]").returncode == 0


# -- what the planner is told and may do --------------------------------------------------------------------------


def test_the_planner_is_shown_the_workflow_that_a_loop_calls(alone: CliProject) -> None:
    alone.write("child.yaml", CHILD)
    alone.write("report.yaml", LOOP)
    more = {"op": "set_loop_max_iterations", "target": "develop", "max_iterations": 3}
    rows = [
        {"when": {"purpose": "planner", "contains": "Write {{topic}}"}, "say": plan(more)},
        {"when": {"purpose": "planner"}, "say": plan(give_up="the child is not shown")},
        {"when": {"purpose": "judge"}, "say": ["NO", "NO", "YES"]},
        {"say": "fine"},
    ]
    alone.write("report.answers.yaml", json.dumps({"answers": rows}))
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (done.returncode, "converged in round 2" in done.stderr) == (0, True), done.stderr
    assert "max_iterations: 3" in (alone.root / "report.yaml").read_text()


def test_a_plan_adds_a_skill_that_has_a_folder_and_the_step_is_told_it(alone: CliProject) -> None:
    alone.write("skills/tone/SKILL.md", "Be kind to whoever wrote it.")
    add = {"op": "add_skill", "target": "draft", "skill": "tone"}
    provider = RecordingProvider()
    provider.answer = lambda request: "a kind draft" if "Be kind to whoever" in request.texts else REFUSES
    with provider.serving():
        alone.write(".loop-ls.yaml", provider_settings(works=provider) + PLANS)
        alone.write("report.yaml", ONE.replace("provider: scripted", "provider: works"))
        rows = [
            {"when": {"purpose": "planner", "contains": '"skills": ["tone"]'}, "say": plan(add)},
            {"say": plan(give_up="no skill is named")},
        ]
        alone.write("report.answers.yaml", json.dumps({"answers": rows}))
        done = alone.call("enhance", "report.yaml", "--input", "tea", "--yes")
    assert (done.returncode, done.stdout) == (0, "a kind draft\n"), done.stderr
    assert "skills: [tone]" in (alone.root / "report.yaml").read_text()


NOSUCH = {"topic": "{{nosuch}}"}
DONE = {"workflow": "child", "max_iterations": 2, "until": "It says DONE", "with": NOSUCH}


@pytest.mark.parametrize(
    ("text", "op", "why"),
    [
        (LOOP, {"op": "add_loop", "name": "more", **DONE}, "nosuch"),
        (ONE, {"op": "set_description", "target": "workflow", "text": "Better."}, "no_change"),
    ],
    ids=["unknown placeholder", "nothing that a run reads"],
)
def test_an_operation_that_cannot_mend_anything_starts_no_round(
    alone: CliProject, text: str, op: dict[str, Any], why: str
) -> None:
    done = enhanced(alone, text, plan(op), FAILS, {"when": {"purpose": "judge"}, "say": "NO"}, child=CHILD)
    assert done.returncode != 0
    assert "round 1: " in done.stderr
    assert "round 2: " not in done.stderr, done.stderr
    assert (alone.root / "report.yaml").read_text() == text
    assert why in timeline(alone).replace("\\", "")


def test_the_planner_is_told_what_its_last_plan_led_to(alone: CliProject) -> None:
    alone.write("report.yaml", ONE)
    rows = [
        {"when": {"purpose": "planner", "contains": '"failures": ["draft: bad output"]'}, "say": plan(BETTER)},
        {"when": {"purpose": "planner"}, "say": SAYS_SO},
        {"when": {"step": "draft", "contains": "well"}, "say": "the draft"},
        FAILS,
    ]
    alone.write("report.answers.yaml", json.dumps({"answers": rows}))
    alone.write(".loop-ls.yaml", "enhance: {onFixation: warn}\n")
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (done.returncode, done.stdout) == (0, "the draft\n"), done.stderr
    assert "converged in round 3" in done.stderr


# -- how it is agreed to and told ---------------------------------------------------------------------------------


def test_one_yes_agrees_to_the_workflow_and_its_planner(alone: CliProject) -> None:
    """They are asked at different places, and nothing was agreed to before."""
    works, plans = RecordingProvider(), RecordingProvider()
    plans.answer = lambda request: plan(BETTER)
    works.answer = lambda request: "the draft" if "well" in request.texts else REFUSES
    with works.serving(), plans.serving():
        alone.write(
            ".loop-ls.yaml",
            provider_settings(works=works, plans=plans) + "enhance: {plannerProvider: plans, plannerModel: m1}\n",
        )
        alone.write("report.yaml", ONE.replace("provider: scripted", "provider: works"))
        unasked = alone.call("enhance", "report.yaml", "--input", "tea")
        assert unasked.returncode == 2
        for one in (works, plans):
            assert one.url.rpartition("/")[2] in unasked.stderr
        done = alone.call("enhance", "report.yaml", "--input", "tea", "--yes")
    assert (done.returncode, done.stdout) == (0, "the draft\n"), done.stderr
    assert len(plans.requests) == 1


def test_each_round_says_what_it_and_its_plan_have_cost(alone: CliProject) -> None:
    mends = [{"when": {"purpose": "planner"}, "say": plan(BETTER)}, MENDS, FAILS]
    alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", json.dumps({"price": {"input": 5, "output": 5}, "answers": mends}))
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert done.returncode == 0, done.stderr
    first, second = (line for line in done.stderr.splitlines() if line.startswith("  round "))
    assert re.fullmatch(r"  round 1: failed draft; set_instructions draft \(plan \$0\.00\d+\)", first), first
    assert re.fullmatch(r"  round 2: failed nothing; no change \(run <?\$0\.0\d+\)", second), second


def test_a_step_that_was_renamed_in_the_pause_starts_no_round_without_a_change(alone: CliProject) -> None:
    alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", answers(SAYS_SO, FAILS))
    alone.write(".loop-ls.yaml", PAUSED)
    run_id = alone.call("enhance", "report.yaml", "--input", "tea", "--detach").stdout.strip()
    until_state(alone, run_id, "awaiting user")
    renamed = ONE.replace("name: draft", "name: write")
    alone.write("report.yaml", renamed)
    assert alone.call("enhance", "--continue", run_id).returncode == 0
    until_state(alone, run_id, "conflict")
    told = alone.call("enhance", "--timeline", run_id).stdout.replace("\\", "")
    assert "`append_instructions` `draft`: unknown step or loop `draft` (unknown_target)" in told
    assert "nothing: the file was changed in the meantime" in told
    assert "Round 2" not in told
    assert (alone.root / "report.yaml").read_text() == renamed
    assert alone.call("enhance", "--stop", run_id).returncode == 0


def test_a_fallback_says_who_answered(alone: CliProject) -> None:
    provider = RecordingProvider()
    provider.answer = lambda request: REFUSES
    with provider.serving():
        alone.write(".loop-ls.yaml", provider_settings(works=provider))
        chain = "providers: [{provider: works, model: m1}, {provider: scripted, model: m2}]"
        alone.write("report.yaml", ONE.replace("provider: scripted, model: m", chain))
        alone.write("report.answers.yaml", json.dumps({"answers": [{"say": "the draft"}]}))
        done = alone.call("run", "report.yaml", "--input", "tea", "--yes")
    assert (done.returncode, done.stdout) == (0, "the draft\n"), done.stderr
    assert "! draft: scripted/m2 answered, works/m1 did not" in done.stderr


def test_a_planner_without_a_model_is_told_as_one(alone: CliProject) -> None:
    alone.write("report.yaml", ONE)
    alone.write("report.answers.yaml", "answers: [{say: x}]\n")
    alone.write(".loop-ls.yaml", "enhance: {plannerProvider: ollama}\n")
    done = alone.call("enhance", "report.yaml", "--input", "x")
    assert done.returncode == 2
    assert "`enhance.plannerProvider` is `ollama`, but no model is set for it." in done.stderr
