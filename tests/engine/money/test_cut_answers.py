"""Answers that ended at their length limit are told with their step and limit, those of judges with their verdict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.cli.runs import runs_show
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.providers import Providers
from tests.engine.control.support.project import Project
from tests.engine.money.paid_server import PRICE, Answer, chunk, events, paid_server, prompt_of


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    await made.open()
    yield made
    await made.close()


def cut(text: str) -> ModelReply:
    return ModelReply(text, "", "", 10, 100, finish="length")


async def test_a_cut_answer_is_told_with_its_step_and_limit_on_every_surface(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.models.script |= {"write": [cut("half")], "judge": ["YES"]}
    facts = await project.run()
    warned = [fact["message"] for fact in facts if fact["kind"] == "warning"]
    assert warned == ["the answer of `polish/1/write` was cut off at its length limit (`max_tokens` is 100)"]
    call = next(fact for fact in facts if fact["kind"] == "call")
    assert (call["cut"], call["maxTokens"]) == (True, 100)
    state = await project.state(facts[0]["runId"])
    assert state["cutOff"] == [{"place": "polish/1/write", "purpose": "step", "maxTokens": 100}]
    runs_show.state(state)
    assert (
        "the answer of polish/1/write was cut off at its length limit (`max_tokens` is 100)" in capsys.readouterr().out
    )


async def test_a_judges_cut_answer_is_told_with_its_verdict(project: Project) -> None:
    project.models.script |= {"write": ["v1"], "judge": [cut("YES, becau")]}
    facts = await project.run()
    judged = next(fact for fact in facts if fact["kind"] == "judged")
    assert (judged["verdict"], judged["cut"]) == ("yes", True)
    assert (await project.state(facts[0]["runId"]))["verdict"]["cut"] is True
    assert any("the judge's answer was cut off" in fact["message"] for fact in facts if fact["kind"] == "warning")


def thought() -> ModelFailure:
    return ModelFailure(
        "empty", "Provider `ollama` returned an empty answer: the model `m` used up its tokens while thinking."
    )


async def test_a_judge_that_used_its_tokens_up_in_thinking_is_named_asked_again_and_booked(project: Project) -> None:
    project.models.script |= {"write": ["v1"], "judge": [thought(), "YES"]}
    facts = await project.run()
    assert facts[-1]["reason"] == "condition_met"
    assert len(project.models.asked("judge")) + len(project.models.asked("judge:again")) == 2
    warned = [fact["message"] for fact in facts if fact["kind"] == "warning"]
    assert [message.partition(": ")[2] for message in warned] == [
        f"{thought().message.rstrip('.')}; the judge was asked again"
    ]
    lost = [fact for fact in facts if fact["kind"] == "call" and "error" in fact]
    assert [fact["purpose"] for fact in lost] == ["judge"]
    assert lost[0]["tokens"]["input"] > 0


async def test_twice_in_thinking_counts_as_not_met(project: Project) -> None:
    project.models.script |= {"write": ["v1"], "judge": [thought()]}
    facts = await project.run()
    assert facts[-1]["reason"] == "max_iterations"
    assert {fact["verdict"] for fact in facts if fact["kind"] == "judged"} == {"error"}


async def test_a_provider_that_only_thought_says_so_with_the_limit() -> None:
    only = lambda request, number: Answer(events(chunk(None, "length")), prompt_of(request), 50)  # noqa: E731
    async with paid_server(only) as account:
        house = Providers({})
        models = house.models({"house": {"kind": "openai", "baseUrl": f"{account.url}/v1", "price": PRICE}})
        with pytest.raises(ModelFailure) as caught:
            await models.ask(ModelRequest("house", "m", "x", max_tokens=50))
        assert "used up its `max_tokens` of 50 while thinking" in caught.value.message
        await house.aclose()
