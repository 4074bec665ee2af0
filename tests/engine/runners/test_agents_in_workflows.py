"""Steps, judges and votes of a workflow that ask an agent of the command line: real processes that speak as one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.testing.workflows import whole
from tests.engine.runners.support.agents import FakeAgent, option
from tests.processes.ended import gone

ENDS = ("completed", "failed", "cancelled")
MAIN = """execution: {provider: claude-code, model: sonnet, timeout: 30s}
loops:
  - {name: polish, workflow: draft, with: {before: "{{loop.last.output}}"}, max_iterations: 3, until: It is good}
"""
DRAFT = 'execution: {provider: claude-code, model: sonnet}\nsteps:\n  - {name: write, run: "Better than: {{before}}"}\n'


class AgentProject:
    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.root.mkdir()
        self.data.mkdir()
        self.agent = FakeAgent(folder / "agent")
        self.write(main=MAIN, draft=DRAFT)
        self.settings()

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.yaml").write_text(whole(name, text))

    def settings(self, **more: Any) -> None:
        (self.root / ".loop-ls.yaml").write_text(json.dumps({"providers": self.agent.settings, **more}))

    async def open(self) -> None:
        self.providers = Providers({})
        self.engine: Engine = build(self.data, self.providers, self.root)
        await self.engine.open()

    async def start(self, name: str = "main", agree: bool = True, **more: Any) -> dict[str, Any]:
        request = {"root": str(self.root), "path": str(self.root / f"{name}.yaml"), **more}
        answer = await self.engine.start(request)
        if agree and answer.get("code") == "consent_required":
            answer = await self.engine.start({**request, "consent": agreed(self.data, answer)})
        return answer

    async def run(self, name: str = "main", **more: Any) -> list[dict[str, Any]]:
        answer = await self.start(name, **more)
        assert answer["ok"], answer
        return await self.ended(answer["runId"])

    async def ended(self, run_id: str) -> list[dict[str, Any]]:
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ENDS:
                    break
        return list((await self.engine.events(run_id, limit=1000))["events"])

    async def called(self) -> dict[str, Any]:
        """What the agent was told first, once it was started."""
        async with asyncio.timeout(60):
            while not self.agent.calls:
                await asyncio.sleep(0.005)
        return self.agent.calls[0]


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[AgentProject]:
    made = AgentProject(tmp_path)
    await made.open()
    yield made
    await made.engine.close()
    await made.providers.aclose()


async def test_steps_and_judges_are_fresh_processes_and_what_they_cost_is_counted(project: AgentProject) -> None:
    project.agent.say({"text": "one", "cost": 0.5}, {"text": "NO"}, {"text": "two", "cost": 0.25}, {"text": "YES"})
    facts = await project.run()
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("condition_met", "two")
    assert [call["message"].splitlines()[0] for call in project.agent.calls] == [
        "Better than: ",
        'Evaluate this condition: "It is good"',
        "Better than: one",
        'Evaluate this condition: "It is good"',
    ]
    assert len({call["pid"] for call in project.agent.calls}) == 4
    assert {call["cwd"] for call in project.agent.calls} == {str(project.root)}
    assert option(project.agent.calls[0]["words"], "--model") == "sonnet"
    # Who works at a step may use its tools; who judges only answers.
    permissions = [option(call["words"], "--permission-mode") for call in project.agent.calls]
    assert permissions == ["bypassPermissions", "dontAsk"] * 2
    state = (await project.engine.state(facts[0]["runId"]))["state"]
    assert state["costUsd"] >= 0.75


async def test_no_agent_starts_before_somebody_agrees(project: AgentProject) -> None:
    answer = await project.start(agree=False)
    assert (answer["code"], answer["programs"]) == ("consent_required", [list(project.agent.program)])
    assert project.agent.calls == []


async def test_an_agent_that_is_not_installed_is_told_before_the_start(project: AgentProject) -> None:
    project.agent.settings["claude-code"]["cli"] = ["no-such-agent-anywhere"]
    settings = {"claude-code": {"kind": "agent-cli", "cli": ["no-such-agent-anywhere"]}}
    (project.root / ".loop-ls.yaml").write_text(json.dumps({"providers": settings}))
    answer = await project.start()
    assert (answer["ok"], answer["code"]) == (False, "provider_unavailable")
    assert "no-such-agent-anywhere" in answer["message"]


async def test_an_agent_that_fails_fails_its_step_and_the_next_of_the_chain_is_asked(project: AgentProject) -> None:
    project.write(
        chain="""execution:
  providers: [{provider: claude-code, model: a}, {provider: other, model: b}]
steps:
  - {name: write, run: Write}
"""
    )
    project.settings(
        providers={**project.agent.settings, "other": {"kind": "scripted", "script": [{"say": "instead"}]}}
    )
    project.agent.say({"exit": 3, "stderr": "no disk", "silent": True})
    facts = await project.run("chain")
    assert (facts[-1]["kind"], facts[-1]["finalOutput"]) == ("completed", "instead")
    failed = next(fact for fact in facts if fact["kind"] == "call" and fact.get("error"))
    assert failed["provider"] == "claude-code"
    assert "no disk" in failed["error"]["message"]


async def test_a_stop_ends_the_agent_and_its_children(project: AgentProject) -> None:
    project.agent.say({"hang": True, "child": True})
    answer = await project.start()
    told = await project.called()
    await project.engine.control("stop", answer["runId"])
    facts = await project.ended(answer["runId"])
    assert facts[-1]["kind"] == "cancelled"
    async with asyncio.timeout(60):
        while not (gone(told["pid"]) and gone(told["child"])):
            await asyncio.sleep(0.01)


async def test_the_time_limit_of_a_step_ends_its_agent(project: AgentProject) -> None:
    project.write(slow="execution: {provider: claude-code, model: m}\nsteps:\n  - {name: write, run: x, timeout: 6s}\n")
    project.agent.say({"hang": True})
    facts = await project.run("slow")
    assert facts[-1]["kind"] == "failed"
    assert "6 s" in facts[-1]["error"]["message"]
    assert gone(project.agent.calls[0]["pid"])


async def test_under_a_cap_an_agent_is_told_what_is_left_and_none_starts_where_nothing_is(
    project: AgentProject,
) -> None:
    project.agent.say({"text": "one", "cost": 0.75}, {"text": "NO", "cost": 0.5}, {"text": "never"})
    facts = await project.run(limits={"budgetUsd": 1.0})
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("budget", "one")
    assert len(project.agent.calls) == 2
    assert [option(call["words"], "--max-budget-usd") for call in project.agent.calls] == ["1", "0.25"]


async def test_under_a_cap_a_step_that_does_not_say_its_cost_counts_for_all_that_is_left(project: AgentProject) -> None:
    project.agent.say({"text": "one", "cost": None}, {"text": "never"})
    facts = await project.run(limits={"budgetUsd": 1.0})
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("budget", "one")
    assert len(project.agent.calls) == 1
    assert [fact["usd"] for fact in facts if fact["kind"] == "call"] == [1.0]


async def test_what_an_agent_took_beyond_its_cap_is_said_and_no_other_starts(project: AgentProject) -> None:
    """Nobody can bound the tokens of an agent before it works: the record says by how much it was too much."""
    project.agent.say({"text": "one"}, {"text": "never"})
    facts = await project.run(limits={"maxTokens": 14})
    assert len(project.agent.calls) == 1
    told = [fact["message"] for fact in facts if fact["kind"] == "warning" and fact["code"] == "cap_overshot"]
    assert told == ["The last call used more than was left: 15 of 14 tokens. This is known only after the call."]
    assert (facts[-1]["kind"], facts[-1]["reason"]) == ("completed", "budget")
    assert "15 of 14 tokens used" in facts[-1]["because"]


@pytest.mark.parametrize("which", ["workflow", "assistant"])
async def test_an_agent_that_shall_stand_in_for_a_model_is_refused_before_the_start(
    project: AgentProject, which: str
) -> None:
    """It would only be passed over, and nobody would know why."""
    project.write(main="execution: {provider: openai, model: m}\nsteps:\n  - {name: write, run: Write}\n")
    assistant = {"name": "A", "persona": "p", "provider": "openai", "loopEnabled": True, "maxIterations": 1}
    (project.root / "a.assistant.json").write_text(json.dumps(assistant))
    own = {"kind": "scripted", "script": [{"say": {"fail": "server"}}], "fallback": ["claude-code/sonnet"]}
    project.settings(providers={**project.agent.settings, "openai": own})
    if which == "workflow":
        answer = await project.start()
    else:
        request = {"root": str(project.root), "path": str(project.root / "a.assistant.json"), "message": "go"}
        answer = await project.engine.start({**request, "target": {"kind": "assistant"}})
    assert (answer["ok"], answer["code"]) == (False, "bad_argument"), answer
    assert "`providers.openai.fallback` contains `claude-code`" in answer["message"]
    assert "`providers`" in answer["hint"]
    assert project.agent.calls == []


async def test_under_a_cap_an_agent_that_tells_no_cost_needs_a_price(project: AgentProject) -> None:
    project.write(silent="execution: {provider: mine, model: m}\nsteps:\n  - {name: write, run: Write}\n")
    own: dict[str, Any] = {"kind": "agent-cli", "cli": ["cat"]}
    project.settings(providers={"mine": own})
    answer = await project.start("silent", limits={"budgetUsd": 1.0})
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "budgetUsd" in answer["message"] and "providers.mine.price" in answer["hint"]
    project.settings(providers={"mine": {**own, "price": {"input": 1, "output": 1}}})
    facts = await project.run("silent", limits={"budgetUsd": 1.0})
    assert (facts[-1]["kind"], facts[-1]["finalOutput"].strip()) == ("completed", "Write")


async def test_an_agent_takes_no_tools_of_ours_and_says_so(project: AgentProject) -> None:
    project.write(
        tools="""execution: {provider: claude-code, model: m, servers: [notes]}
steps:
  - {name: write, run: Write}
"""
    )
    server = {"command": "python3", "args": ["-m", "loop_ls.testing.mcp_server"]}
    project.settings(servers={"notes": server})
    answer = await project.start("tools")
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "`servers`" in answer["message"] + answer["hint"]
    assert project.agent.calls == []


async def test_a_mock_run_starts_no_agent(project: AgentProject) -> None:
    facts = await project.run(mock=True)
    assert facts[-1]["kind"] in ("completed", "failed")
    assert project.agent.calls == []
