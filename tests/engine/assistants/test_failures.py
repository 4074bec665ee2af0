"""Iterations that fail, and what an agent is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.assistants.errors import classified
from loop_ls.engine.assistants.profile import model_of, tools_of
from loop_ls.engine.assistants.program import limits_of
from loop_ls.engine.core.ports import Failure, ModelReply
from loop_ls.formats.assistant.keys import TOOLS
from loop_ls.formats.assistant.model import Assistant, Criteria, Retry
from tests.engine.assistants.support.alone import Alone, Saying, ran
from tests.engine.assistants.support.project import EngineProject, Facts
from tests.engine.runners.support.agents import option


async def failed(project: EngineProject, **step: Any) -> str:
    project.agent.say(step)
    facts = await project.run()
    assert (facts.end["kind"], facts.end["iteration"], len(project.agent.calls)) == ("failed", 1, 1)
    return str(facts.end["error"]["message"])


async def test_AB_078_a_missing_agent_is_named_with_the_iteration(project: EngineProject) -> None:
    project.settings["providers"] = {
        "claude-code": {"kind": "agent-cli", "cli": ["no-such-agent"], "speaks": "claude-code"}
    }
    project.write()
    facts = await project.run()
    message = facts.end["error"]["message"]
    assert facts.end["kind"] == "failed"
    assert message.startswith("Iteration 1 failed:")
    assert "no-such-agent" in message
    assert "ENOENT" in message


async def test_AB_079_status_and_standard_error_are_told(project: EngineProject) -> None:
    message = await failed(project, exit=1, stderr="bad")
    assert message.startswith("Iteration 1 failed: The agent `python")
    assert message.endswith("` exited with 1: bad")


async def test_AB_080_a_status_without_a_word_is_a_failure(project: EngineProject) -> None:
    assert "exited with 1" in await failed(project, exit=1)


async def test_AB_079_a_signal_from_outside_is_a_failure(project: EngineProject) -> None:
    assert "signal 9" in await failed(project, text="half", signal="SIGKILL")


async def test_AB_081_an_error_that_calls_itself_a_success_is_a_failure(project: EngineProject) -> None:
    assert "overloaded" in await failed(project, is_error=True, subtype="success", result="overloaded")


async def test_AB_082_a_result_of_another_kind_is_a_failure(project: EngineProject) -> None:
    assert "error_max_turns" in await failed(project, subtype="error_max_turns", text="half")


async def test_AB_083_a_plain_line_alone_is_a_failure_that_tells_it(project: EngineProject) -> None:
    assert "please log in" in await failed(project, plain="please log in", silent=True)


async def test_AB_096_a_loop_asks_nobody_for_permission(project: EngineProject) -> None:
    project.write(permissionMode="plan")
    await project.run()
    modes = {option(call["words"], "--permission-mode") for call in project.agent.calls}
    assert modes == {"bypassPermissions"}


@pytest.mark.parametrize(
    ("own", "whole", "flag"), [(0.5, 1.0, "0.5"), (2.0, 1.0, "1"), (None, 1.0, "1"), (0.5, None, "0.5")]
)
async def test_AB_097_the_narrowest_budget_counts(
    project: EngineProject, own: float | None, whole: float | None, flag: str
) -> None:
    if whole is not None:
        project.settings["limits"] = {"budgetUsd": whole}
    project.write(maxBudgetUsd=own, maxIterations=1)
    await project.run()
    assert option(project.agent.calls[0]["words"], "--max-budget-usd") == flag


async def test_AB_097_without_a_budget_there_is_no_flag(project: EngineProject) -> None:
    await project.run()
    assert all("--max-budget-usd" not in call["words"] for call in project.agent.calls)


def assistant(**keys: Any) -> Assistant:
    return Assistant("a", "A", "P", **keys)


def test_AB_098_tools_are_the_default_set_or_the_own_ones_and_three_more() -> None:
    assert tools_of(assistant()) == TOOLS
    assert tools_of(assistant(allowed_tools=("Grep",))) == ("Grep", "Read", "WebSearch", "WebFetch")
    assert tools_of(assistant(allowed_tools=("WebFetch", "Read"))) == ("WebFetch", "Read", "WebSearch")


async def test_AB_098_the_agent_gets_them_as_one_word(project: EngineProject) -> None:
    project.write(allowedTools=["Grep"], maxIterations=1)
    await project.run()
    assert option(project.agent.calls[0]["words"], "--allowedTools") == "Grep,Read,WebSearch,WebFetch"


def test_AB_160_the_model_is_the_own_one_else_the_settings_else_that_of_the_purpose() -> None:
    assert model_of(assistant(model="opus"), {}) == "claude-opus-4-8"
    assert model_of(assistant(model="opus"), {"tiers": {"opus": "my-opus"}}) == "my-opus"
    assert model_of(assistant(model="some-model"), {"defaultModel": "d"}) == "some-model"
    assert model_of(assistant(), {"defaultModel": "d"}) == "d"
    assert model_of(assistant(purpose="review"), {}) == "claude-opus-4-8"
    assert model_of(assistant(purpose="chat"), {}) == "claude-haiku-4-5"
    assert model_of(assistant(), {}) == "claude-sonnet-4-6"
    assert model_of(assistant(), {"kind": "agent-cli", "cli": ["codex"]}) is None
    assert model_of(assistant(provider="openai"), {}) is None


async def test_AB_161_a_failure_that_may_pass_is_tried_again_where_the_file_says_so() -> None:
    busy, broken = Failure("x", "the API is overloaded"), Failure("x", "it is broken")
    retry = {"retry": Retry(2, 0.0)}
    alone, outcome = await ran(Criteria(), busy, busy, "ok", most=1, keys=retry)
    assert (outcome.reason, outcome.iterations, len(alone.runner.asked)) == ("max_iterations", 1, 3)
    assert len(alone.recorder.of("retrying")) == 2
    fatal, ended = await ran(Criteria(), broken, most=1, keys=retry)
    assert (ended.reason, len(fatal.runner.asked)) == ("error", 1)
    plain, once = await ran(Criteria(), busy, "ok", most=1)
    assert (once.reason, len(plain.runner.asked)) == ("error", 1)


async def test_AB_162_a_budget_for_the_whole_loop_ends_it_as_a_limit() -> None:
    alone = Alone(Saying("a"), None, 10, keys={"max_total_budget_usd": 0.25})
    outcome = await alone.run()
    assert (outcome.reason, outcome.iterations) == ("budget", 3)
    assert [work.budget_usd for work in alone.runner.asked] == [0.25, 0.15, pytest.approx(0.05)]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("429 Too many", "API_ERROR"),
        ("Unauthorized", "API_ERROR"),
        ("this is not permitted", "POLICY_ERROR"),
        ("it timed out", "TIMEOUT_ERROR"),
        ("queue full", "RESOURCE_ERROR"),
        ("unexpected end of input", "STREAM_ERROR"),
        ("rate limit in the policy", "API_ERROR"),
        ("exited with 1", "PROCESS_ERROR"),
    ],
)
def test_failures_have_the_types_of_the_document(message: str, kind: str) -> None:
    assert classified(message) == kind


def test_AB_088_limits_of_a_process_come_from_its_variables() -> None:
    idle, total = "RONDOFLOW_SPAWN_IDLE_TIMEOUT_MS", "RONDOFLOW_SPAWN_MAX_MS"
    assert (limits_of({}, {}).idle, limits_of({}, {}).total) == (300, None)
    assert limits_of({}, {idle: "0", total: "1500"}).idle is None
    assert limits_of({}, {idle: "abc", total: "1500"}).total == 1.5
    assert limits_of({}, {idle: "-1"}).idle == 300
    assert limits_of({"timeoutSeconds": 9}, {total: "1500"}).total == 9


@pytest.mark.parametrize(
    ("ms", "seconds"),
    [("1000", 1.0), (" 2500 ", 2.5), ("0", None), ("", 300), ("1.5", 300), ("\u0661", 300), ("\u00b2", 300)],
)
def test_AB_086_how_long_an_agent_may_be_silent_is_a_whole_number_of_milliseconds(
    ms: str, seconds: float | None
) -> None:
    assert limits_of({}, {"RONDOFLOW_SPAWN_IDLE_TIMEOUT_MS": ms}).idle == seconds


@pytest.mark.parametrize(("written", "total"), [(0.5, 0.5), (1, 1), (0, 1.5), (-3, 1.5), ("9", 1.5), (None, 1.5)])
def test_AB_088_the_time_of_the_provider_counts_where_it_is_one(written: Any, total: float) -> None:
    assert limits_of({"timeoutSeconds": written}, {"RONDOFLOW_SPAWN_MAX_MS": "1500"}).total == total


async def test_AB_152_a_loop_that_only_calls_a_model_needs_no_program(project: EngineProject, tmp_path: Path) -> None:
    project.settings = {"providers": {"openai": {"kind": "openai", "baseUrl": "http://127.0.0.1:1"}}}
    project.write(provider="openai", maxIterations=2)
    project.models.script = {"agent": [ModelReply("first", "", "", response_id="resp_1"), "second"]}
    facts: Facts = await project.run()
    assert facts.outputs == ["first", "second"]
    assert [call["provider"] for call in facts.of("call")] == ["openai", "openai"]
    assert [call.get("responseId") for call in facts.of("call")] == ["resp_1", None], "who asks the provider needs it"


async def test_AB_152_calls_of_a_model_share_nothing_but_the_log(project: EngineProject) -> None:
    project.settings = {"providers": {"openai": {"kind": "openai", "baseUrl": "http://127.0.0.1:1"}}}
    project.write(provider="openai", maxIterations=2)
    project.models.script = {"agent": ["a long first answer " * 40, "second"]}
    run_id = await project.started()
    await project.ended(run_id)
    first, second = project.models.requests
    assert second.prompt.startswith("do it\n\n## Progress Log")
    assert second.prompt.count("a long first answer") == 15  # 300 characters of it
    assert first.system == second.system == "You repair."
    assert second.turns == ()
    assert project.engine is not None
    sessions = [project.engine.journal.recall(run_id, f"fixer/{n}:ask")["value"]["session"] for n in (1, 2)]
    assert len(set(sessions)) == 2


async def test_a_memory_that_is_not_there_is_told() -> None:
    alone, _ = await ran(None, most=1, keys={"memory_enabled": True})
    assert [warning["code"] for warning in alone.recorder.of("warning")] == ["no_memory"]
