"""Role files in runs: instructions, model, access and tools of a role that has a file of its own."""

from __future__ import annotations

import pytest

from loop_ls.client.consent import agreed
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


FULL = "run any command, write any file in {root} and read any web page"
#: Keys of the file, who plays the role, what the owner is told that it may do, and whether it is held to that.
ASKED = {
    "a model with all tools": ("access: full", "", FULL, ""),
    "a model": ("tools: Read, Bash", "", "run any command in {root} with the tools Read, Bash", ": it gets no others"),
    "Claude Code": (
        *("tools: Read, Write", "claude-code", "work in {root} with the tools Read, Write"),
        ": of its own tools Claude Code is started with these alone, and keeps to that itself",
    ),
    "opencode": (
        *("tools: [Edit, shell]", "opencode", "run any command in {root} with the tools Edit, Bash"),
        ": opencode has rules that deny it the others, and keeps to them itself",
    ),
    "Codex": (
        *("tools: Write", "codex", "work in {root} with the tools Write"),
        ": Codex has a shell only if Bash is named, and nothing keeps it from its other tools",
    ),
    "another program": (
        *("tools: Write", "house", "work in {root} with the tools Write"),
        ": it is a program that nothing keeps from its other tools",
    ),
}


@pytest.mark.parametrize("who", ASKED)
@pytest.mark.parametrize("path", ["roles/reviewer.md", ".claude/agents/reviewer.md"])
async def test_the_owner_is_told_which_file_gives_a_role_its_tools_and_whether_it_is_held_to_them(
    project: EngineProject, path: str, who: str
) -> None:
    """A file with the name of a built-in role changes that role: `reviewer` only reads without it."""
    keys, player, may, held = ASKED[who]
    project.define("look", roles=[{"name": "write", "role": "reviewer", "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")
    request = {"definition": "look", "goal": "g", "root": str(project.root)}
    assert (await project.engine.start(request))["ok"], "it only reads"
    settings = "providers: {house: {kind: agent-cli, cli: [house, '{message}']}}\n"
    plays = f"roles: {{reviewer: {{provider: {player}}}}}\n" if player else ""
    project.write(".loop-ls.yaml", settings + plays + "assist: {provider: ollama, model: m}\n")
    project.write(path, f"---\nname: reviewer\n{keys}\n---\nYou review.\n")
    asked = await project.engine.start(request)
    assert asked["code"] == "consent_required"
    where = f"{path}, a file that Claude Code reads, too" if path.startswith(".claude") else path
    told = f"lets the role reviewer ({where}) {may.format(root=project.root)}{held}"
    assert told in asked["capabilities"]
    project.write(path, "---\nname: reviewer\ntools: [Bash, Read, Grep]\n---\nYou review.\n")
    again = await project.engine.start({**request, "consent": agreed(project.data, asked)})
    assert again["code"] == "consent_required", "other tools are another question"


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
