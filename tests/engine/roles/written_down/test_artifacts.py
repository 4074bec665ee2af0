"""What stages write down, as people read it over HTTP: artifacts and their texts, todos, sprints, memories."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.redaction import MASK
from loop_ls.engine.roles.tools.notes import StageNotes, artifact_tools, memory_tools, sprint_tools, todo_tools
from tests.engine.roles.served import ServedProject, serving

SECRET = "sk-artifact-0123456789abcdef"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProject]:
    async with serving(tmp_path) as made:
        yield made


async def ended(served: ServedProject) -> dict[str, Any]:
    served.say(write="# Plan\n\n1. Begin.", judge_it="APPROVED")
    run_id = await served.begin()
    await served.until(run_id, "completed")
    state = await served.engine.state(run_id)
    assert state["ok"]
    return dict(state["state"])


def notes_of(served: ServedProject, state: dict[str, Any], sprint: str = "") -> StageNotes:
    by = f"{state['runId']}/pair/1/write"
    project, root = str(state["projectId"]), served.root.as_posix()
    return StageNotes(served.records, str(state["sessionId"]), str(state["runId"]), project, sprint, by, root)


async def written(served: ServedProject, state: dict[str, Any], text: str = "Two options.") -> None:
    """What a stage of the run writes with its tools."""
    notes = notes_of(served, state)
    tools = {one.name: one for one in (*artifact_tools(notes, True), *todo_tools(notes), *memory_tools(notes))}
    await tools["artifact_create"].run({"title": "Options", "content": text})
    await tools["todo_add"].run({"title": "Write the docs"})
    await tools["memory_store"].run({"text": f"The tests need a database: {text}"})


async def test_artifacts_todos_sprints_and_memories_of_a_run_are_listed(served: ServedProject) -> None:
    state = await ended(served)
    await written(served, state)
    answer = await served.get(f"/{state['runId']}/artifacts")
    assert [(one["type"], one["title"], one["characters"]) for one in answer["artifacts"]] == [
        ("loop_output", "Loop output: coder (iter 1, stage 0)", len("# Plan\n\n1. Begin.")),
        ("loop_output", "Loop output: reviewer (iter 1, stage 1)", len("APPROVED")),
        ("note", "Options", len("Two options.")),
    ]
    assert all("content" not in one for one in answer["artifacts"])
    assert [(one["status"], one["title"]) for one in answer["todos"]] == [("open", "Write the docs")]
    assert [one["title"] for one in answer["sprints"]] == ["pair — iteration 1"]
    assert [one["text"] for one in answer["memories"]] == ["The tests need a database: Two options."]


async def test_an_artifact_is_found_by_its_id_the_beginning_of_it_and_its_title(served: ServedProject) -> None:
    state = await ended(served)
    path = f"/{state['runId']}/artifacts"
    plan, verdict = (await served.get(path))["artifacts"]
    for wanted in (plan["id"], plan["id"][:8], "Loop output: coder (iter 1, stage 0)"):
        found = await served.get(f"{path}/{wanted}")
        assert (found["artifact"]["id"], found["content"]) == (plan["id"], "# Plan\n\n1. Begin.")
        assert await served.client.artifact(str(state["runId"]), wanted) == found
    assert (await served.get(f"{path}/{verdict['id']}"))["content"] == "APPROVED"
    assert (await served.get(f"{path}/nowhere", code=404))["code"] == "not_found"
    assert (await served.get(f"{path}/{plan['id'][:3]}", code=404))["code"] == "not_found"
    assert (await served.client.artifact(str(state["runId"]), ".."))["code"] == "not_found"


async def test_two_artifacts_of_one_title_are_told_apart_by_their_ids(served: ServedProject) -> None:
    state = await ended(served)
    for text in ("one", "other"):
        await written(served, state, text)
    refused = await served.get(f"/{state['runId']}/artifacts/Options", code=400)
    rows = (await served.get(f"/{state['runId']}/artifacts"))["artifacts"]
    assert all(row["id"][:8] in refused["error"] for row in rows if row["title"] == "Options")


async def test_a_title_may_hold_a_slash(served: ServedProject) -> None:
    state = await ended(served)
    create = artifact_tools(notes_of(served, state), False)[2]
    await create.run({"title": "docs/plan.md", "content": "all"})
    assert (await served.client.artifact(str(state["runId"]), "docs/plan.md"))["content"] == "all"  # type: ignore[typeddict-item]


async def test_those_of_the_project_are_those_of_all_its_loops(served: ServedProject) -> None:
    first = await ended(served)
    await written(served, first)
    served.models.script.clear()
    served.say(write="other", judge_it="APPROVED")
    second = await served.begin(session_id=first["sessionId"])
    await served.until(second, "completed")
    own = await served.get(f"/{second}/artifacts")
    assert (len(own["artifacts"]), own["todos"], own["memories"]) == (2, [], [])
    shared = await served.get(f"/{second}/artifacts?scope=project")
    assert [len(shared[name]) for name in ("artifacts", "todos", "sprints", "memories")] == [5, 1, 2, 1]
    assert (await served.get(f"/{second}/artifacts?scope=all", code=400))["code"] == "bad_argument"
    note = next(one for one in shared["artifacts"] if one["type"] == "note")
    assert (await served.get(f"/{second}/artifacts/{note['id']}"))["content"] == "Two options."


async def test_another_loop_has_its_own(served: ServedProject) -> None:
    first = await ended(served)
    [plan, _] = (await served.get(f"/{first['runId']}/artifacts"))["artifacts"]
    served.models.script.clear()
    second = await ended(served)
    await served.get(f"/{second['runId']}/artifacts/{plan['id']}", code=404)


async def test_no_secret_of_the_run_is_shown(served: ServedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    state = await ended(served)
    await written(served, state, f"Use {SECRET} for it.")
    sprint = (await served.get(f"/{state['runId']}/artifacts"))["sprints"][0]["id"]
    await sprint_tools(notes_of(served, state, sprint))[1].run({"note": f"with {SECRET}"})
    for path in ("artifacts", "artifacts?scope=project", "artifacts/Options"):
        answer = await served.get(f"/{state['runId']}/{path}")
        assert SECRET not in str(answer)
        assert MASK in str(answer)
