"""Who takes a stage's turn: a model with tools, or an agent program; and what a start has to be agreed to."""

from __future__ import annotations

import json
import socket
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.roles.access import tools_for_program, tools_of
from loop_ls.engine.roles.stage_agents import stage_agents
from loop_ls.engine.roles.tools.notes import StageNotes
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


@pytest.mark.parametrize("role", ["plan", "coder", "reviewer"])
async def test_RB_136_a_role_that_comes_with_the_product_is_told_what_it_is_in_a_sentence(
    project: EngineProject, role: str
) -> None:
    """`You are the plan of a team. Studies the goal` was none."""
    project.define("own", roles=[{"name": "write", "role": role, "prompt": "Say APPROVED."}])
    project.say(write="APPROVED")
    await project.run("own")
    [request] = project.models.asked("write")
    told = {
        "plan": "studies the goal and writes steps that others carry out.",
        "coder": "carries out what was planned, and runs the checks.",
        "reviewer": "judges what was done and says what is missing.",
    }[role]
    assert request.system == f"Your role in a team is `{role}`: {told}"


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
    assert "mcp__loop_ls__shell" in (option(words, "--allowedTools") or "").split(",")


@pytest.mark.parametrize("access", ["readonly-shell", "readonly", "minimal"])
def test_RB_134_codex_keeps_no_shell_of_its_own_where_it_gets_none_of_ours(access: Any) -> None:
    """What it reads by its own is the whole machine."""
    words = Codex().said(Assignment("x", access=access), str).words
    assert "features.shell_tool=false" in words
    assert words[words.index("--sandbox") + 1] == "read-only"
    full = Codex().said(Assignment("x", access="full"), str).words
    assert "features.shell_tool=false" not in full


NOTES = {"artifact_list", "artifact_read", "artifact_create", "todo_list", "todo_add", "todo_update"}
NOTES |= {"sprint_show", "sprint_update", "skill_list", "skill_read"}
MORE = {"full": {"artifact_delete", "memory_store", "memory_search"}, "readonly": set(), "readonly-shell": {"shell"}}
READING = {"file_read", "file_list", "file_search"}


@pytest.mark.parametrize("access", ["full", "readonly-shell", "readonly", "minimal"])
@pytest.mark.parametrize("reads", [True, False])
def test_RB_105_a_program_is_offered_what_a_model_has_and_it_has_not(
    project: EngineProject, access: Any, reads: bool
) -> None:
    notes, sandbox = StageNotes(project.records, "s", "r", "p", "i", "b"), find_sandbox()
    offered = {tool.name for tool in tools_for_program(access, project.root, notes, sandbox, reads)}
    if access == "minimal":
        assert offered == set()
        return
    more = {} if isinstance(sandbox, NoSandbox) and access == "readonly-shell" else MORE[access]
    assert offered == NOTES | set(more) | (set() if reads or access == "full" else READING)
    assert offered <= {tool.name for tool in tools_of(access, project.root, notes, {}, sandbox)}


def with_program(project: EngineProject, role: str, *script: dict[str, Any]) -> FakeAgent:
    fake = FakeAgent(project.root.parent / "agent", *script)
    assist = {"provider": "ollama", "model": "m"}
    settings = {"providers": fake.settings, "assist": assist, "roles": {role: {"provider": "claude-code"}}}
    project.write(".loop-ls.yaml", json.dumps(settings))
    project.define("look", roles=[{"name": "write", "role": role, "prompt": "Look."}])
    return fake


@pytest.mark.parametrize("role", ["coder", "reviewer"])
async def test_RB_105_an_agent_program_uses_tools_of_its_stage_while_it_lasts(
    project: EngineProject, role: str
) -> None:
    """The program starts `loop-ls mcp --stage FILE`, and asks what answers there."""
    uses = [
        ["todo_add", {"title": "Look at the port"}],
        ["todo_list", {}],
        ["file_write", {"path": "x", "content": ""}],
    ]
    fake = with_program(project, role, {"text": "APPROVED", "uses": uses})
    state = await project.run("look")
    assert state["status"] == "completed", state
    added, listed, written = json.loads((fake.folder / "answers.json").read_text())
    assert added["mode"] == "0o600"
    assert "[open] Look at the port" in listed["text"]
    if role == "reviewer":
        assert written == {"refused": "file_write"}  # by the program, which was allowed our tools by name
    else:
        assert (written["text"], written["failed"]) == ("unknown tool `file_write`", True)
    assert not (project.root / "x").exists()
    [todo] = await project.records.do(lambda table: table.find("todos", loop_id=state["runId"]))
    assert todo["title"] == "Look at the port"
    called = await project.facts(state["runId"], "tool_called")
    assert [fact["tool"] for fact in called][:2] == ["todo_add", "todo_list"]


async def test_the_key_to_the_tools_of_a_stage_opens_nothing_afterwards_and_stands_nowhere(
    project: EngineProject, caplog: pytest.LogCaptureFixture
) -> None:
    fake = with_program(project, "reviewer", {"text": "APPROVED", "uses": [["todo_list", {}]]})
    assert (await project.run("look"))["status"] == "completed"
    [answer] = json.loads((fake.folder / "answers.json").read_text())
    key = json.loads(answer["key"])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", key["port"]), 10)
    [call] = fake.calls
    (fake.folder / "answers.json").unlink()
    assert key["token"] not in json.dumps(call)
    assert key["token"] not in caplog.text
    await project.close()
    kept = [path for path in project.root.parent.rglob("*") if path.is_file()]
    assert not [path for path in kept if key["token"].encode() in path.read_bytes()]
    told = json.loads(option(call["words"], "--mcp-config") or "")["mcpServers"]["loop_ls"]
    assert not Path(told["args"][-1]).exists()


async def test_a_role_that_reads_can_be_codex_where_there_is_no_sandbox(project: EngineProject) -> None:
    """Its own shell, which reads the whole machine, is taken from it; it reads by our tools."""
    project.write(
        ".loop-ls.yaml",
        json.dumps(
            {
                "providers": {"house": {"kind": "agent-cli", "cli": ["codex"]}},
                "roles": {"looker": {"access": "readonly", "provider": "house", "instructions": "Look."}},
                "assist": {"provider": "ollama"},
            }
        ),
    )
    project.define("look", roles=[{"name": "write", "role": "looker", "prompt": "Look."}])
    nowhere = NoSandbox("Nobody has built one.")
    engine = await project.open(stage_agents(project.records, {"PATH": "/usr/bin"}, nowhere))
    answer = await engine.start({"definition": "look", "goal": "Do it.", "root": str(project.root)})
    assert answer["code"] == "consent_required", answer


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


@pytest.mark.parametrize(
    ("settings", "stage", "told"),
    [
        *(({}, {}, None), ({"maxSteps": 7}, {}, "7"), ({"maxSteps": 500}, {}, "100")),
        ({"maxSteps": 7}, {"max_iterations": 3}, "3"),
    ],
)
async def test_steps_that_somebody_wrote_count_for_a_program_too(
    project: EngineProject, settings: dict[str, Any], stage: dict[str, Any], told: str | None
) -> None:
    """The usual number of a role is one of model calls, and would end the work of a program."""
    fake = with_program(project, "coder", {"text": "APPROVED"})
    own = json.loads((project.root / ".loop-ls.yaml").read_text())
    own["roles"]["coder"] |= settings
    project.write(".loop-ls.yaml", json.dumps(own))
    project.define("look", roles=[{"name": "write", "role": "coder", "prompt": "Look.", **stage}])
    await project.run("look")
    assert option(fake.calls[0]["words"], "--max-turns") == told


async def test_tools_that_a_role_names_count_for_a_program_too(project: EngineProject) -> None:
    fake = with_program(project, "coder", {"text": "APPROVED"})
    own = json.loads((project.root / ".loop-ls.yaml").read_text())
    own["roles"]["coder"]["tools"] = ["file_read", "Bash"]
    project.write(".loop-ls.yaml", json.dumps(own))
    await project.run("look")
    assert option(fake.calls[0]["words"], "--tools") == "Read,Bash"
