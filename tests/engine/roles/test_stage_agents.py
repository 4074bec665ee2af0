"""Who takes a stage's turn: a model with tools, or an agent program; and what a start has to be agreed to."""

from __future__ import annotations

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.roles.stage_agents import stage_agents
from loop_ls.engine.runners.codex import Codex
from loop_ls.engine.runners.runner import Assignment
from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox
from loop_ls.testing.mcp_server import FILE
from tests.engine.runners.support.agents import FakeAgent, option

from .conftest import EngineProject

AGENT = """\
import json, os, sys
seen = os.environ.get
print(json.dumps({"stage": seen("LOOP_LS_STAGE"), "key": seen("SECRET_API_KEY"), "said": sys.argv[1]}))
"""


def agent(project: EngineProject) -> Path:
    path = project.root.parent / "agent.py"
    path.write_text(AGENT)
    words = json.dumps([sys.executable, str(path), "{message}"])
    project.write(
        ".loop-ls.yaml",
        f"assist: {{provider: ollama, model: m}}\nproviders:\n  bot: {{kind: agent-cli, cli: {words}}}\n"
        "roles:\n  coder: {provider: bot}\n",
    )
    return path


async def test_RB_134_an_agent_program_takes_the_turn_of_its_role(project: EngineProject) -> None:
    agent(project)
    state = await project.run()
    [row] = await project.rows(state["runId"])
    said = json.loads(row["stages"][0]["output"])
    assert (said["stage"], said["key"]) == ("1", None)
    assert "## Your task\n\nWrite." in said["said"]
    assert row["stages"][0]["model"] == "bot"
    assert project.models.order == ["judge-it"]
    calls = await project.facts(state["runId"], "call")
    assert [call["provider"] for call in calls] == ["bot", "ollama"]


async def test_RB_135_a_start_is_agreed_to_once_with_its_programs_and_what_full_access_means(
    project: EngineProject,
) -> None:
    path = agent(project)
    request = {"definition": "pair", "goal": "g", "root": str(project.root)}
    answer = await project.engine.start(request)
    assert answer["code"] == "consent_required"
    assert [sys.executable, str(path), "{message}"] in answer["programs"]
    assert ["any command", "(role coder)"] in answer["programs"]
    first = await project.engine.start({**request, "consent": agreed(project.data, answer)})
    assert first["ok"]
    await project.ended(first["runId"])
    again = await project.engine.start(request)
    assert again["ok"]
    await project.ended(again["runId"])


async def test_RB_135_a_loop_whose_roles_only_read_needs_no_agreement(project: EngineProject) -> None:
    project.define("careful", roles=[{"name": "write", "role": "reviewer", "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")
    assert (await project.engine.start({"definition": "careful", "goal": "g", "root": str(project.root)}))["ok"]


async def test_RB_135_a_role_that_nobody_speaks_for_is_said_at_the_start(project: EngineProject) -> None:
    project.write(".loop-ls.yaml", "roles:\n  reviewer: {provider: ollama, model: m}\n")
    answer = await project.ask()
    assert (answer["code"], answer["role"]) == ("provider_unavailable", "coder")


async def test_RB_135_a_provider_without_its_key_is_said_at_the_start(project: EngineProject) -> None:
    project.models.problem = lambda name: ModelFailure("missing_key", "OPENAI_API_KEY is not set.")  # type: ignore[method-assign]
    answer = await project.ask()
    assert answer["code"] == "provider_unavailable"
    assert "OPENAI_API_KEY" in answer["message"]


async def test_RB_105_servers_of_the_project_give_their_tools_to_full_access_and_end_with_the_run(
    project: EngineProject,
) -> None:
    words = json.dumps([sys.executable, str(FILE), "only", "echo", "add"])
    project.write(".loop-ls.yaml", f"assist: {{provider: ollama, model: m}}\nservers:\n  own: {{command: {words}}}\n")
    asked = await project.engine.start({"definition": "pair", "goal": "g", "root": str(project.root)})
    assert [sys.executable, str(FILE), "only", "echo", "add"] in asked["programs"]
    state = await project.run()
    assert state["status"] == "completed"
    offered = {name: {tool.name for tool in project.models.asked(name)[0].tools} for name in ("write", "judge-it")}
    assert {"echo", "add"} <= offered["write"]
    assert not {"echo", "add"} & offered["judge-it"]


async def test_RB_136_a_role_of_the_project_has_its_own_instructions_and_model(project: EngineProject) -> None:
    project.write(
        ".loop-ls.yaml",
        "assist: {provider: ollama, model: m}\n"
        "roles:\n  tester: {instructions: Test everything., access: minimal, provider: ollama, model: other}\n",
    )
    project.define("own", roles=[{"name": "write", "role": "tester", "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")
    await project.run("own")
    [request] = project.models.asked("write")
    assert (request.model, request.system, request.tools) == ("other", "Test everything.", ())


async def test_RB_106_where_there_is_no_sandbox_a_role_that_would_have_a_shell_is_told_that_it_has_none(
    project: EngineProject,
) -> None:
    engine = await project.open(stage_agents(project.records, {"PATH": "/usr/bin"}, NoSandbox("Nobody has built one.")))
    assert engine is project.engine
    project.define("look", roles=[{"name": "write", "role": "explorer", "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")
    await project.run("look")
    [request] = project.models.asked("write")
    assert "shell" not in {tool.name for tool in request.tools}
    assert "You have no shell here" in (request.system or "")
    assert "Nobody has built one." in (request.system or "")


async def test_RB_106_a_sandboxed_shell_answers_a_model_and_reads_nothing_outside(project: EngineProject) -> None:
    (project.root.parent / "secret.txt").write_text("a secret")
    (project.root / "link").symlink_to("../secret.txt")
    (project.root / "notes.txt").write_text("a note")
    answers: list[str] = []
    commands = ["grep -r a .", "diff -I -- --to-file=link notes.txt", "grep -e a -e -- -R .", "uniq - notes.txt"]

    async def ask(request: ModelRequest, *others: object) -> ModelReply:
        answers[:] = [answer.text for turn in request.turns for answer in turn.answers]
        if len(answers) == len(commands):
            return ModelReply("APPROVED", "p", "m")
        asked = {"command": commands[len(answers)]}
        return ModelReply("", "p", "m", calls=(ToolCall(str(len(answers)), "shell", asked, json.dumps(asked)),))

    project.models.ask = ask  # type: ignore[method-assign,assignment]
    project.define("look", roles=[{"name": "write", "role": "explorer", "prompt": "Look."}])
    assert (await project.run("look"))["status"] == "completed"
    assert "./notes.txt:a note" in answers[0]
    assert not [text for text in answers if "a secret" in text]
    assert (project.root / "notes.txt").read_text() == "a note"


async def test_RB_134_an_agent_program_of_a_role_that_only_reads_gets_our_shell_and_loses_its_own(
    project: EngineProject,
) -> None:
    fake = FakeAgent(project.root.parent / "agent", {"text": "APPROVED"})
    settings = {**fake.settings, "assist": {"provider": "ollama"}}
    project.write(
        ".loop-ls.yaml", json.dumps({"providers": settings, "roles": {"explorer": {"provider": "claude-code"}}})
    )
    project.define("look", roles=[{"name": "write", "role": "explorer", "prompt": "Look."}])
    state = await project.run("look")
    assert state["status"] == "completed", state
    words = fake.calls[0]["words"]
    assert option(words, "--tools") == "Read,Grep,Glob"
    if isinstance(find_sandbox(), NoSandbox):
        assert "You have no shell here" in fake.calls[0]["files"]["--append-system-prompt-file"]
        return
    server = json.loads(option(words, "--mcp-config") or "")["mcpServers"]["loop_ls"]
    assert server["args"][-3:] == ["--readonly-shell", "--root", str(project.root)]
    assert option(words, "--allowedTools") == "mcp__loop_ls__shell"


@pytest.mark.parametrize("access", ["readonly-shell", "readonly", "minimal"])
def test_RB_134_codex_keeps_no_shell_of_its_own_where_it_gets_none_of_ours(access: Any) -> None:
    """What it reads by its own is the whole machine."""
    words = Codex().said(Assignment("x", access=access), str).words
    assert "features.shell_tool=false" in words
    assert words[words.index("--sandbox") + 1] == "read-only"
    full = Codex().said(Assignment("x", access="full"), str).words
    assert "features.shell_tool=false" not in full


WITHOUT = {
    "no package": ("is_installed", lambda package: False, r'pip install "loop-ls\[mcp\]"'),
    "no sandbox": ("find_sandbox", lambda: NoSandbox("Nobody has built one."), "Nobody has built one."),
}


@pytest.mark.parametrize("why", WITHOUT)
@pytest.mark.parametrize(
    ("program", "access", "refused"),
    [
        *(("codex", "readonly", True), ("codex", "readonly-shell", True), ("codex", "minimal", False)),
        *(("codex", "full", False), ("claude", "readonly", False), ("opencode", "readonly-shell", False)),
    ],
)
async def test_RB_134_a_role_that_reads_is_not_started_with_codex_where_there_is_no_shell_for_it(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch, why: str, program: str, access: str, refused: bool
) -> None:
    name, instead, told = WITHOUT[why]
    monkeypatch.setattr(f"loop_ls.engine.roles.access.{name}", instead)
    own = {"kind": "agent-cli", "cli": [program]}
    role = {"access": access, "provider": "house", "instructions": "Look."}
    project.write(
        ".loop-ls.yaml",
        json.dumps({"providers": {"house": own}, "roles": {"looker": role}, "assist": {"provider": "ollama"}}),
    )
    project.define("look", roles=[{"name": "write", "role": "looker", "prompt": "Look."}])
    engine = await project.open()
    answer = await engine.start({"definition": "look", "goal": "Do it.", "root": str(project.root)})
    assert not answer["ok"]
    assert (answer["code"] == "provider_unavailable") is refused, answer
    if refused:
        assert re.search(told, answer["hint"])
        assert "`looker` is read-only" in answer["message"]
    else:
        assert answer["code"] == "consent_required"


async def test_RB_134_an_agent_program_of_a_coder_starts_nothing_that_works_beside_its_stage(
    project: EngineProject,
) -> None:
    fake = FakeAgent(project.root.parent / "agent", {"text": "done"})
    assist = {"provider": "ollama", "model": "m"}
    settings = {"providers": fake.settings, "assist": assist, "roles": {"coder": {"provider": "claude-code"}}}
    project.write(".loop-ls.yaml", json.dumps(settings))
    state = await project.run()
    assert state["status"] == "completed", state
    words = fake.calls[0]["words"]
    assert {"Agent", "CronCreate", "ScheduleWakeup"} <= set((option(words, "--disallowedTools") or "").split(","))
    assert str(uuid.UUID(option(words, "--session-id") or "")) == option(words, "--session-id")


async def test_RB_134_an_agent_program_is_told_what_is_left_and_not_started_where_that_is_nothing(
    project: EngineProject,
) -> None:
    """Its calls go by no gate of models, so the cap has to hold where programs are started."""
    fake = FakeAgent(project.root.parent / "agent", {"text": "go on", "cost": 0.6})
    assist, limits = {"provider": "ollama", "model": "m"}, {"budgetUsd": 1.0}
    providers = {**fake.settings, "ollama": {"price": {"input": 0, "output": 0}}}
    settings = {
        "providers": providers,
        "assist": assist,
        "limits": limits,
        "roles": {"coder": {"provider": "claude-code"}},
    }
    project.write(".loop-ls.yaml", json.dumps(settings))
    project.define(termination_condition={"type": "iteration_bound", "value": 5})
    state = await project.run()
    assert [option(call["words"], "--max-budget-usd") for call in fake.calls] == ["1", "0.4"]
    assert (state["status"], state["reason"]) == ("completed", "budget")
