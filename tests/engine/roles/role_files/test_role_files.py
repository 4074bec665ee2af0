"""Role files in runs: instructions, model, access and tools of a role that has a file of its own."""

from __future__ import annotations

import pytest

from tests.engine.roles.conftest import EngineProject

KEYS = "name: tester\nmodel: big\n"


def tester(project: EngineProject, keys: str = KEYS, path: str = "roles/tester.md") -> None:
    project.write(path, f"---\n{keys}---\nYou test everything.\n")
    project.define("look", roles=[{"name": "write", "role": "tester", "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")


@pytest.mark.parametrize("path", ["roles/tester.md", ".claude/agents/tester.md"])
async def test_a_role_is_what_its_file_says(project: EngineProject, path: str) -> None:
    tester(project, f"{KEYS}tools: Read, Grep\n", path)
    assert (await project.run("look"))["status"] == "completed"
    [request] = project.models.asked("write")
    assert (request.provider, request.model, request.system) == ("ollama", "big", "You test everything.")
    names = {tool.name for tool in request.tools}
    assert {"file_read", "file_search", "artifact_read"} <= names
    assert not {"file_list", "file_write", "shell", "web_fetch"} & names


async def test_tools_of_a_role_with_full_access_are_those_that_it_names(project: EngineProject) -> None:
    tester(project, f"{KEYS}tools: [Read, Bash]\n")
    asked = await project.engine.start({"definition": "look", "goal": "g", "root": str(project.root)})
    assert asked["code"] == "consent_required", "it may run commands"
    await project.run("look")
    [request] = project.models.asked("write")
    names = {tool.name for tool in request.tools}
    assert {"file_read", "shell", "todo_list"} <= names
    assert not {"file_list", "file_search", "file_write", "file_edit", "web_fetch"} & names


async def test_a_tool_that_it_does_not_name_is_refused(project: EngineProject) -> None:
    from loop_ls.testing.models import calls

    tester(project, f"{KEYS}access: full\ntools: [Read]\n")
    project.say(write=[calls(("file_write", {"path": "a.txt", "content": "x"})), "APPROVED"])
    await project.run("look")
    _, second = project.models.asked("write")
    [answer] = second.turns[0].answers
    assert answer.failed and "unknown tool `file_write`" in answer.text
    assert not (project.root / "a.txt").exists()


async def test_a_run_keeps_the_role_that_it_was_started_with(project: EngineProject) -> None:
    tester(project)
    run_id = await project.start("look")
    project.write("roles/tester.md", "---\nname: tester\naccess: full\n---\nYou do as you like.\n")
    await project.ended(run_id)
    [request] = project.models.asked("write")
    assert request.system == "You test everything."
