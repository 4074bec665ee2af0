"""Runs that take the answers of another run: forks pay for what is new, replays for nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.testing.models import SILENCE, failure
from tests.engine.control.support.project import EXECUTION, Project


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.models.script |= {"write": ["v1", "v2", "v3", "v4"], "judge": ["NO", "NO", "YES"]}
    await made.open()
    yield made
    await made.close()


def outputs(facts: list[dict[str, Any]]) -> list[str]:
    return [fact["output"] for fact in facts if fact["kind"] == "iteration"]


async def forked(project: Project, run_id: str, iteration: int | None = None, **given: Any) -> list[dict[str, Any]]:
    assert project.engine is not None
    answer = await project.engine.fork(run_id, iteration, **given)
    assert answer["ok"], answer
    return await project.ended(answer["runId"])


async def test_a_fork_copies_finished_iterations_and_pays_for_the_rest(project: Project) -> None:
    first = await project.run()
    assert outputs(first) == ["v1", "v2", "v3"]
    project.models.requests.clear()
    project.models.script["judge"] = ["YES"]
    facts = await forked(project, first[0]["runId"], 3)
    assert project.models.order == ["write", "judge"]
    assert outputs(facts) == ["v1", "v2", "v4"]
    assert [fact.get("copied", False) for fact in facts if fact["kind"] == "call"] == [True] * 4 + [False] * 2
    state = await project.state(facts[0]["runId"])
    assert state["calls"] == 2
    assert state["source"] == {"runId": first[0]["runId"], "kind": "fork", "place": "polish", "iteration": 3}
    assert facts[0]["attempt"] == 2
    assert project.models.prompts("write") == ["Write better than: v2"]


async def test_a_fork_works_on_the_recorded_texts(project: Project) -> None:
    first = await project.run()
    project.write(draft=EXECUTION + 'steps:\n  - {name: other, run: "Something else"}\n')
    project.models.requests.clear()
    await forked(project, first[0]["runId"], 2)
    assert "other" not in project.models.order


async def test_without_a_number_a_fork_goes_on_from_all_that_was_finished(project: Project) -> None:
    project.models.script["write"] = ["v1", "v2", SILENCE, "v3"]
    answer = await project.start()
    assert project.engine is not None
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0):
            if event["kind"] == "step_started" and event.get("iteration") == 3:
                break
    await project.engine.control("stop", answer["runId"], cause="teardown")
    await project.ended(answer["runId"])
    project.models.requests.clear()
    facts = await forked(project, answer["runId"])
    assert project.models.order == ["write", "judge"]
    assert outputs(facts) == ["v1", "v2", "v3"]
    assert facts[-1]["reason"] == "condition_met"


async def test_a_fork_of_a_failed_run_tries_again_what_failed(project: Project) -> None:
    project.models.script["write"] = ["v1", failure(), "v2"]
    first = await project.run()
    assert first[-1]["kind"] == "failed"
    project.models.script["judge"] = ["NO", "YES"]
    facts = await forked(project, first[0]["runId"])
    assert outputs(facts) == ["v1", "v2"]


async def test_an_iteration_that_cannot_be_forked_from_is_refused(project: Project) -> None:
    run_id = (await project.run())[0]["runId"]
    assert project.engine is not None
    for wrong in (0, -1, "2", True, 5):
        answer = await project.engine.fork(run_id, wrong)
        assert answer["code"] == "bad_argument", wrong
    assert (await project.engine.fork(run_id, 2, loop="nobody"))["code"] == "not_found"
    assert (await project.engine.fork("zzzz", 2))["code"] == "not_found"
    assert "from iteration 1 to 4" in (await project.engine.fork(run_id, 5))["message"]


async def test_a_fork_survives_that_the_engine_leaves_in_the_middle(project: Project) -> None:
    first = await project.run()
    project.models.script["write"] = [SILENCE]
    assert project.engine is not None
    answer = await project.engine.fork(first[0]["runId"], 2)
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0, answer["runId"]):
            if event["kind"] == "step_started" and event.get("iteration") == 2:
                break
    await project.close()
    project.models.requests.clear()
    project.models.script |= {"write": ["w2"], "judge": ["YES"]}
    await project.open()
    facts = await project.ended(answer["runId"])
    assert outputs(facts) == ["v1", "w2"]
    assert project.models.order == ["write", "judge"]


async def test_a_replay_asks_nobody_and_ends_as_the_recording(project: Project) -> None:
    first = await project.run()
    project.models.requests.clear()
    assert project.engine is not None
    answer = await project.engine.replay(first[0]["runId"])
    facts = await project.ended(answer["runId"])
    assert project.models.requests == []
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("condition_met", "v3")
    assert "costUsd" not in await project.state(answer["runId"])


async def test_a_replay_takes_the_file_as_it_is_now(project: Project) -> None:
    first = await project.run()
    text = (project.root / "polish.yaml").read_text().replace("max_iterations: 5", "max_iterations: 2")
    (project.root / "polish.yaml").write_text(text)
    assert project.engine is not None
    facts = await project.ended((await project.engine.replay(first[0]["runId"]))["runId"])
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("max_iterations", "v2")


async def test_a_replay_ends_clearly_where_an_answer_is_missing(project: Project) -> None:
    first = await project.run()
    step = '  - {name: check, needs: [write], run: "Check {{write}}", on_failure: continue}\n'
    (project.root / "draft.yaml").write_text((project.root / "draft.yaml").read_text() + step)
    project.models.requests.clear()
    assert project.engine is not None
    facts = await project.ended((await project.engine.replay(first[0]["runId"]))["runId"])
    end = facts[-1]
    assert (end["kind"], end["error"]["code"]) == ("failed", "nothing_recorded")
    assert "`polish/1/check`" in end["error"]["message"]
    assert project.models.requests == []


async def test_a_replay_of_a_broken_file_is_refused_like_a_start(project: Project) -> None:
    first = await project.run()
    (project.root / "draft.yaml").write_text("$schema: workflow/v2.0\nname: draft\nsteps: 3\n")
    assert project.engine is not None
    assert (await project.engine.replay(first[0]["runId"]))["code"] == "file_has_errors"


@pytest.mark.parametrize("span", ["{maxTokens: 1}", "{perDay: {maxTokens: 1}}", "{perProject: {maxTokens: 1}}"])
async def test_a_fork_keeps_within_limits_that_its_project_got_since(project: Project, span: str) -> None:
    run_id = (await project.run())[0]["runId"]
    project.settings(f"limits: {span}\n")
    project.models.requests.clear()
    facts = await forked(project, run_id, 1)
    assert (facts[-1].get("reason"), project.models.requests) == ("budget", [])


@pytest.mark.parametrize("limits", ["{budgetUsd: 5}", "{perProject: {budgetUsd: 5}}"])
async def test_a_fork_asks_for_the_price_that_its_project_wants_since(project: Project, limits: str) -> None:
    """As a start does: a cap of dollars could not hold."""
    project.write(one='execution: {provider: openai, model: nobody-knows}\nsteps: [{name: write, run: "Write"}]\n')
    consent = agreed(project.data, await project.start("one"))
    run_id = (await project.run("one", consent=consent))[0]["runId"]
    project.settings(f"limits: {limits}\n")
    assert project.engine is not None
    refused, forked = await project.start("one"), await project.engine.fork(run_id)
    assert "price" in refused["message"]
    assert (forked["ok"], forked.get("code"), forked.get("message")) == (False, refused["code"], refused["message"])


async def test_a_part_takes_the_outputs_of_a_run_that_asked_models_not_of_its_replay(project: Project) -> None:
    project.write(two=EXECUTION + 'steps: [{name: first, run: x}, {name: then, run: "of {{first}}"}]')
    assert project.engine is not None
    run_id = (await project.run("two"))[0]["runId"]
    replay = await project.engine.replay(run_id)
    await project.ended(replay["runId"])
    (started, *_) = await project.run("two", startFrom="then")
    assert started["plan"]["part"]["outputsOf"] == run_id


TWO_STEPS = """
execution: {provider: ollama, model: m, max_tokens: 100}
steps:
  - {name: plan, run: "Plan: {{before}}"}
  - {name: write, needs: [plan], run: "Write: {{plan}}"}
"""


async def test_a_fork_asks_one_prompt_that_a_person_changed_once(project: Project) -> None:
    project.write(draft=TWO_STEPS)
    project.models.script |= {"plan": ["p1", "p2", "p3", "p4"]}
    first = await project.run()
    project.models.requests.clear()
    project.models.script |= {"write": ["", "", "", "w2", "w3"], "judge": ["", "", "", "NO", "YES"]}
    facts = await forked(project, first[0]["runId"], at="polish/2/write", prompt="Write it in verse.")
    assert project.models.order == ["write", "judge", "plan", "write", "judge"], "the plan of iteration 2 is reused"
    assert project.models.prompts("write") == ["Write it in verse.", "Write: p4"]
    assert outputs(facts) == ["v1", "w2", "w3"]
    changed = [fact["place"] for fact in facts if fact["kind"] == "prompt_changed"]
    assert changed == ["polish/2/write"]
    state = await project.state(facts[0]["runId"])
    assert state["source"] == {"runId": first[0]["runId"], "kind": "fork", "at": "polish/2/write", "changed": True}
    assert await told(project, facts[0]["runId"]) == {
        "polish/1/write": ("Write: p1", None), "polish/2/write": ("Write it in verse.", True),
        "polish/3/write": ("Write: p4", None),
    }  # fmt: skip


async def told(project: Project, run_id: str) -> dict[str, tuple[str, bool | None]]:
    """The prompts of `write`, and whether a person changed them."""
    assert project.engine is not None
    answer = await project.engine.prompts(run_id)
    rows = [row for row in answer["prompts"] if row["place"].endswith("/write")]
    return {row["place"]: (row["prompt"], row.get("changed")) for row in rows}


async def test_a_key_in_a_changed_prompt_is_not_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2-of-the-house")
    first = await project.run()
    facts = await forked(project, first[0]["runId"], at="polish/2/write", prompt="Use hunter2-of-the-house.")
    shown = await project.engine.prompts(facts[0]["runId"]) if project.engine else {}
    assert "hunter2" not in json.dumps([facts, shown])
    assert project.models.prompts("write").count("Use [secret].") == 1


async def test_a_fork_of_a_fork_keeps_the_changed_prompt_with_its_answer(project: Project) -> None:
    first = await project.run()
    project.models.script |= {"write": ["w2", "w3"], "judge": ["NO", "YES"]}
    second = await forked(project, first[0]["runId"], at="polish/2/write", prompt="Write it in verse.")
    project.models.script |= {"write": ["x3"], "judge": ["YES"]}
    third = await forked(project, second[0]["runId"], 3)
    assert (await told(project, third[0]["runId"]))["polish/2/write"] == ("Write it in verse.", True)
    project.models.script |= {"write": ["x2"], "judge": ["YES"]}
    again = await forked(project, second[0]["runId"], 2)
    assert await told(project, again[0]["runId"]) == {
        "polish/1/write": ("Write better than: ", None), "polish/2/write": ("Write better than: v1", None),
    }  # fmt: skip


async def test_a_changed_prompt_survives_that_the_engine_leaves_in_the_middle(project: Project) -> None:
    first = await project.run()
    project.models.script["write"] = [SILENCE]
    assert project.engine is not None
    answer = await project.engine.fork(first[0]["runId"], at="polish/2/write", prompt="In verse.")
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0, answer["runId"]):
            if event["kind"] == "step_started" and event.get("iteration") == 2:
                break
    await project.close()
    project.models.requests.clear()
    project.models.script |= {"write": ["w2"], "judge": ["YES"]}
    await project.open()
    facts = await project.ended(answer["runId"])
    assert project.models.prompts("write") == ["In verse."]
    assert [fact["kind"] for fact in facts].count("prompt_changed") == 1


async def test_a_place_alone_redoes_it_with_the_prompt_of_the_file(project: Project) -> None:
    first = await project.run()
    project.models.requests.clear()
    project.models.script["judge"] = ["YES"]
    facts = await forked(project, first[0]["runId"], at="polish/2/write")
    assert project.models.prompts("write") == ["Write better than: v1"]
    assert "prompt_changed" not in [fact["kind"] for fact in facts]


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        ({"at": "polish/9/write"}, "not_found", "has no prompt at `polish/9/write`"),
        ({"at": "polish/2:judge"}, "bad_argument", "cannot start at `polish/2:judge`"),
        ({"at": "polish/2"}, "not_found", "has no prompt at `polish/2`"),
        ({"at": " "}, "bad_argument", "`at` must be a place"),
        ({"at": "polish/2/write", "prompt": " "}, "bad_argument", "`prompt` must be"),
        ({"at": "polish/2/write", "prompt": "x" * 1_000_001}, "bad_argument", "at most 1,000,000"),
        ({"prompt": "In verse."}, "bad_argument", "`prompt` needs `at`"),
        ({"at": "polish/2/write", "loop": "polish"}, "bad_argument", "either `at` or `iteration`"),
    ],
)
async def test_a_prompt_that_cannot_be_changed_is_refused(
    project: Project, given: dict[str, str], code: str, told: str
) -> None:
    run_id = (await project.run())[0]["runId"]
    assert project.engine is not None
    answer = await project.engine.fork(run_id, **given)
    assert answer["code"] == code and told in answer["message"], answer
