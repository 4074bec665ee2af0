"""Skills, servers and a memory file of an assistant: what its agent is told and may use, and what is kept."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.assistants.memory_file import FIRST_LINE, fitting
from loop_ls.formats.assistant.keys import MOST_MEMORY
from loop_ls.testing.mcp_server import FILE
from loop_ls.testing.models import ScriptedModels, calls, failure
from tests.engine.assistants.support.project import EngineProject

SERVER = [sys.executable, str(FILE), "only", "echo", "add"]
MEMORY = "memory/fixer.md"


def told(project: EngineProject, number: int) -> str:
    """What comes behind the system prompt of a call."""
    return str(project.agent.calls[number]["files"].get("--append-system-prompt-file", ""))


def skill(project: EngineProject, name: str, text: str) -> None:
    path = project.root / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# -- skills -----------------------------------------------------------------------------------------


async def test_AB_177_every_iteration_is_told_what_its_skills_said_at_the_start(project: EngineProject) -> None:
    skill(project, "pytest", "One test at a time.")
    skill(project, "other", "Never told.")
    project.write(skills=["pytest"], maxIterations=2)
    project.agent.say({"text": "one", "bash": "echo Cheat. > skills/pytest/SKILL.md"}, {"text": "two"})
    facts = await project.allowed(await project.started())
    first, *more = (told(project, number) for number in range(2))
    assert first.endswith('here:\n\n<skill name="pytest">\nOne test at a time.\n</skill>')
    assert more == [first]
    assert project.agent.calls[0]["files"]["--system-prompt-file"] == "You repair."
    assert not facts.of("warning")
    assert project.engine is not None
    rows = (await project.engine.prompts(facts[0]["runId"]))["prompts"]
    assert [row["system"] for row in rows] == [f"You repair.\n\n{told(project, 0)}"] * 2


@pytest.mark.parametrize("folder", [".claude/skills", ".agents/skills"])
async def test_AB_177_skills_of_other_tools_are_told_where_the_workspace_has_none_of_the_name(
    project: EngineProject, folder: str
) -> None:
    for own, name in (("skills", "pytest"), (folder, "pytest"), (folder, "review")):
        (project.root / own / name).mkdir(parents=True)
        (project.root / own / name / "SKILL.md").write_text(f"{own} says {name}.")
    project.write(skills=["pytest", "review"], maxIterations=1)
    facts = await project.run()
    said = told(project, 0)
    assert ("\nskills says pytest." in said, f"\n{folder} says review." in said) == (True, True)
    assert f"{folder} says pytest." not in said
    assert not facts.of("warning")


async def test_AB_177_a_skill_that_is_not_there_or_leads_out_is_warned_of(
    project: EngineProject, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/SKILL.md").write_text("From outside.")
    (project.root / "skills").mkdir()
    (project.root / "skills/link").symlink_to(tmp_path / "outside")
    project.write(skills=["gone", "link", "../../outside"], maxIterations=1)
    facts = await project.run()
    assert told(project, 0) == ""
    [warning] = facts.of("warning")
    assert (warning["code"], "skills/gone/SKILL.md" in warning["message"]) == ("no_skills", True)


# -- servers ----------------------------------------------------------------------------------------


async def test_AB_178_a_program_is_offered_the_tools_of_its_servers_over_MCP(project: EngineProject) -> None:
    project.settings["servers"] = {"own": {"command": SERVER}, "another": {"command": ["not-started"]}}
    project.write(servers=["own"], maxIterations=1)
    project.agent.say({"text": "done", "uses": [["add", {"a": 2, "b": 3}]]})
    asked = await project.start(consent=False)
    assert SERVER in asked["programs"] and ["not-started"] not in asked["programs"]
    facts = await project.run()
    [answer] = json.loads((project.agent.folder / "answers.json").read_text())
    assert (answer["offered"], answer["text"], answer["failed"]) == (["echo", "add"], "5", False)
    [used] = facts.of("tool_called")
    assert (used["tool"], used["source"], used["failed"]) == ("add", "own", False)
    assert facts.end["kind"] == "completed"


async def test_AB_178_a_model_is_asked_again_with_the_answers_of_its_tools(project: EngineProject) -> None:
    project.settings |= {"servers": {"own": {"command": SERVER}}}
    project.models = ScriptedModels({"agent": [calls(("add", {"a": 2, "b": 3})), "it is 5"]})
    project.write(servers=["own"], provider="openai", model="m", maxIterations=1)
    facts = await project.run()
    assert facts.outputs == ["it is 5"]
    first, second = project.models.asked("agent")
    assert [tool.name for tool in first.tools] == ["echo", "add"]
    assert (first.system, first.prompt) == ("You repair.", "do it")
    assert [answer.text for answer in second.turns[0].answers] == ["5"]


async def test_AB_178_a_model_whose_tools_have_cost_its_budget_answers_without_them(project: EngineProject) -> None:
    project.settings |= {"servers": {"own": {"command": SERVER}}}
    asks = replace(calls(("add", {"a": 2, "b": 3})), usd=0.3)
    project.models = ScriptedModels({"agent": [asks, asks, replace(asks, text="it is 5")]})
    project.write(servers=["own"], provider="openai", model="m", maxIterations=1, maxBudgetUsd=0.5)
    facts = await project.run()
    assert facts.outputs == ["it is 5"]
    assert [request.closing for request in project.models.asked("agent")] == [False, False, True]


@pytest.mark.parametrize("name", ["owm", "other"])
async def test_AB_178_a_server_that_nobody_configured_is_refused(project: EngineProject, name: str) -> None:
    project.settings["servers"] = {"own": {"command": SERVER}}
    project.write(servers=[name])
    answer = await project.start()
    assert (answer["ok"], answer["code"]) == (False, "file_has_errors")
    assert "AL028" in json.dumps(answer)


async def test_AB_178_an_agent_that_cannot_be_offered_tools_is_refused(project: EngineProject) -> None:
    project.settings = {
        "providers": {"claude-code": {"kind": "agent-cli", "cli": ["my-agent"]}},
        "servers": {"own": {"command": SERVER}},
    }
    project.write(servers=["own"])
    answer = await project.start()
    assert "does not support tools of `servers`" in answer["message"]


# -- memory -----------------------------------------------------------------------------------------


def kept(project: EngineProject) -> str:
    text = (project.root / MEMORY).read_text()
    assert text.startswith(f"{FIRST_LINE}\n\n")
    return text[len(FIRST_LINE) :].strip()


async def test_AB_179_what_an_iteration_learned_is_kept_and_told_to_the_next(project: EngineProject) -> None:
    project.models = ScriptedModels({"memory": ["- Use `-x`.", "- Use `-x`.\n- b.py is left."]})
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    project.write(memory=MEMORY)
    facts = await project.run("make it green")
    assert [told(project, n).partition(":\n\n")[2] for n in range(3)] == [
        "",
        "- Use `-x`.",
        "- Use `-x`.\n- b.py is left.",
    ]
    assert project.agent.messages[0] == "make it green", "the first message stays as it is"
    assert kept(project) == "- Use `-x`.\n- b.py is left."
    asked = project.models.asked("memory")
    assert [(one.provider, one.model, one.purpose) for one in asked] == [
        ("claude-code", "claude-haiku-4-5", "memory")
    ] * 3
    assert "make it green" in asked[1].prompt and "two" in asked[1].prompt and "- Use `-x`." in asked[1].prompt
    assert [call["purpose"] for call in facts.of("call")] == ["agent", "memory"] * 3
    again = await project.run("go on")
    assert "b.py is left." in told(project, 3), "another run knows it, too"
    assert again.end["kind"] == "completed"


async def test_AB_179_the_model_that_judges_for_the_project_keeps_it(project: EngineProject) -> None:
    project.settings["judge"] = {"provider": "openai", "model": "small"}
    project.write(memory=MEMORY, maxIterations=1)
    asked = await project.start(consent=False)
    assert any("openai" in json.dumps(one) for one in asked["endpoints"]), "its texts go there"
    await project.run()
    [one] = project.models.asked("memory")
    assert (one.provider, one.model) == ("openai", "small")


async def test_AB_179_what_people_and_the_agent_write_into_it_is_kept_in_mind(project: EngineProject) -> None:
    (project.root / "memory").mkdir()
    (project.root / MEMORY).write_text(f"{FIRST_LINE}\nAsk Eve.\n")
    project.agent.say({"text": "one", "bash": f"echo By the agent. >> {MEMORY}"})
    project.models = ScriptedModels({"memory": lambda request: request.prompt})
    project.write(memory=MEMORY, maxIterations=1)
    await project.run()
    assert "Ask Eve." in told(project, 0) and "By the agent." not in told(project, 0)
    [asked] = project.models.asked("memory")
    assert "Ask Eve.\nBy the agent." in asked.prompt


async def test_AB_179_a_memory_that_cannot_be_kept_ends_no_loop(project: EngineProject) -> None:
    project.models = ScriptedModels({"memory": [failure("out of order"), "  ", "third"]})
    project.write(memory=MEMORY)
    facts = await project.run()
    assert facts.end["kind"] == "completed"
    [warning] = facts.of("warning")
    assert warning["code"] == "memory_not_kept" and "out of order" in warning["message"]
    assert kept(project) == "third", "an empty answer is no memory"


async def test_AB_179_what_it_costs_counts_for_the_budget_of_the_loop(project: EngineProject) -> None:
    project.models = ScriptedModels({"memory": lambda request: paid("m", 1.0)})
    project.write(memory=MEMORY, maxTotalBudgetUsd=0.9)
    facts = await project.run()
    assert len(facts.of("iteration")) == 1


def paid(text: str, usd: float) -> Any:
    from loop_ls.engine.core.ports import ModelReply

    return ModelReply(text, "", "", 1, 1, usd=usd)


async def test_AB_179_prompts_show_the_memory_as_it_was(project: EngineProject) -> None:
    project.models = ScriptedModels({"memory": ["first", "second", "third"]})
    project.write(memory=MEMORY)
    run_id = await project.started()
    await project.ended(run_id)
    (project.root / MEMORY).unlink()
    assert project.engine is not None
    rows = (await project.engine.prompts(run_id))["prompts"]
    assert [row["purpose"] for row in rows] == ["agent", "memory"] * 3
    assert ["first" in row["system"] for row in rows if row["purpose"] == "agent"] == [False, True, False]
    assert not (project.root / MEMORY).exists(), "reading writes nothing"


async def test_AB_179_a_mock_run_keeps_nothing(project: EngineProject) -> None:
    project.write(memory=MEMORY, maxIterations=1)
    await project.run(mock=True)
    assert not (project.root / MEMORY).exists()


async def test_AB_180_another_file_is_not_replaced(project: EngineProject) -> None:
    (project.root / "NOTES.md").write_text("Mine.")
    project.write(memory="NOTES.md")
    answer = await project.start()
    assert (answer["ok"], "NOTES.md exists and has other content" in answer["message"]) == (False, True)
    assert (project.root / "NOTES.md").read_text() == "Mine."


async def test_AB_180_nor_one_that_the_agent_put_in_its_place(project: EngineProject) -> None:
    project.agent.say({"text": "one", "bash": "mkdir -p memory; echo Mine. > memory/fixer.md"})
    project.write(memory=MEMORY, maxIterations=1)
    facts = await project.run()
    assert [one["code"] for one in facts.of("warning")] == ["memory_not_kept"]
    assert (project.root / MEMORY).read_text() == "Mine.\n"


async def test_AB_180_a_link_does_not_lead_it_out_of_the_workspace(project: EngineProject, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project.root / "memory").symlink_to(tmp_path / "outside")
    project.write(memory=MEMORY, maxIterations=1)
    facts = await project.run()
    assert [one["code"] for one in facts.of("warning")] == ["memory_not_kept"]
    assert list((tmp_path / "outside").iterdir()) == []


async def test_AB_180_no_key_gets_into_it(project: EngineProject) -> None:
    project.models = ScriptedModels({"memory": "The key is sk-abcdefghijklmnopqrstuvwxyz indeed."})
    project.write(memory=MEMORY, maxIterations=1)
    await project.run()
    assert kept(project) == "The key is [secret] indeed."


def test_AB_180_it_is_no_longer_than_it_may_be() -> None:
    lines = "\n".join(f"- line {number}" for number in range(1000))
    found = fitting(lines)
    assert MOST_MEMORY - 20 < len(found) <= MOST_MEMORY
    assert lines.startswith(f"{found}\n"), "whole lines"
    assert len(fitting("x" * 9000)) == MOST_MEMORY


@pytest.mark.parametrize(
    "path", ["CLAUDE.md", "docs/agents.md", "roles/reviewer.md", "skills/deploy/SKILL.md", "notes/link.md"]
)
async def test_AB_179_no_memory_is_what_agents_are_told(project: EngineProject, path: str) -> None:
    (project.root / "notes").mkdir()
    (project.root / "notes/link.md").symlink_to(project.root / "AGENTS.md")
    project.write(memory=path, maxIterations=1)
    answer = await project.start()
    assert (answer["ok"], answer.get("code")) == (False, "bad_argument")
    assert answer["message"] == f"`memory` of `Fixer`: {path} is a protected file, which models may not write."
