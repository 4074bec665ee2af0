"""A model that refuses says why: its own words stand on every surface, and no success is made of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.runs import runs_show
from loop_ls.cli.watch import watch
from loop_ls.cli.watch.model import Watched
from loop_ls.cli.watch.plain import told
from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.providers import Providers
from tests.engine.control.support.project import Project
from tests.engine.money.paid_server import Answer, chunk, events, paid_server

EXECUTION = "execution: {provider: ollama, model: m}\n"
WORDS = "I must not help with that: it would harm the people of Springfield."
CALL = {"index": 0, "id": "1", "function": {"name": "rm_rf", "arguments": '{"path": "/"}'}}
TOOL = [chunk(None, None, tool_calls=[CALL]), chunk(None, "tool_calls")]


def part(text: str) -> dict[str, Any]:
    return chunk([{"type": "refusal", "refusal": text}])  # type: ignore[arg-type]


def said(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": None, "refusal": text}, "finish_reason": "stop"}]}


@asynccontextmanager
async def project_of(folder: Path, answer: Any, **files: str) -> AsyncIterator[Project]:
    """A project whose only provider answers so, request by request."""
    async with paid_server(answer) as account:
        house, project = Providers({"OLLAMA_HOST": account.url}), Project(folder)
        project.write(**files)
        engine = await project.open()
        engine._models = house.for_plan
        yield project
        await project.close()
        await house.aclose()


@pytest.mark.parametrize(
    "found",
    [
        [chunk(None, None, refusal=WORDS), chunk(None, "stop")],
        [chunk(None, None, refusal=WORDS[:7]), chunk(None, None, refusal=WORDS[7:]), chunk("", "stop")],
        [part(WORDS), chunk(None, "stop")],
        [chunk("Well. "), chunk(None, None, refusal=WORDS), chunk(None, "content_filter")],
    ],
    ids=["whole", "in pieces", "as a part of the content", "after some text"],
)
async def test_the_words_of_a_refusal_stand_on_every_surface(
    tmp_path: Path, found: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    main = EXECUTION + "steps:\n  - {name: a, run: Do}\n  - {name: b, needs: [a], run: 'Review: {{a}}'}\n"
    async with project_of(tmp_path, lambda request, number: Answer(events(*found)), main=main) as project:
        facts = await project.run("main")
        state = await project.state(facts[0]["runId"])
    assert [fact["step"] for fact in facts if fact["kind"] == "step_failed"] == ["a"], "b is not asked about nothing"
    assert (state["status"], state["error"]["code"]) == ("failed", "bad_answer")
    assert f"the model refused: {WORDS.rstrip('.')}" in state["error"]["message"]
    assert "max_tokens" not in json.dumps(state["error"])
    lost = [fact["error"]["message"] for fact in facts if fact["kind"] == "call"]
    assert len(lost) == 1 and WORDS.rstrip(".") in lost[0]
    runs_show.state(state)
    assert WORDS.rstrip(".") in capsys.readouterr().out
    watched = Watched()
    for fact in facts:
        watched.apply(fact)
        told(fact, watched)
    watch._report(state, watched, as_json=False)
    assert WORDS.rstrip(".") in capsys.readouterr().err
    watch._report(state, watched, as_json=True)
    assert WORDS.rstrip(".") in json.loads(capsys.readouterr().out)["error"]["message"]


async def test_a_refusal_that_comes_in_one_piece_keeps_its_words() -> None:
    body = json.dumps(said(WORDS)).encode()
    async with paid_server(lambda request, number: Answer(body, kind="application/json")) as account:
        house = Providers({})
        models = house.models({"house": {"kind": "openai", "baseUrl": f"{account.url}/v1"}})
        with pytest.raises(ModelFailure, match=r"the model refused: I must not help with that"):
            await models.ask(ModelRequest("house", "m", "x"))
        assert len(account.requests) == 1, "it is not asked again"
        await house.aclose()


@pytest.mark.parametrize("cut", [3, 9, 100])
async def test_a_refusal_that_quotes_the_key_does_not_give_it_away(cut: int) -> None:
    key = "house-key-0123456789-abcdef"
    words = f"I will not use {key} for that."
    found = [chunk(None, None, refusal=words[:cut]), chunk(None, None, refusal=words[cut:]), chunk(None, "stop")]
    async with paid_server(lambda request, number: Answer(events(*found))) as account:
        house = Providers({"HOUSE_KEY": key})
        own = {"kind": "openai", "baseUrl": f"{account.url}/v1", "apiKeyEnv": "HOUSE_KEY"}
        with pytest.raises(ModelFailure) as caught:
            await house.models({"house": own}).ask(ModelRequest("house", "m", "x"))
        assert "the model refused: I will not use" in caught.value.message
        assert key not in caught.value.message and key[:12] not in caught.value.message
        await house.aclose()


async def test_a_refusal_of_the_other_dialect_keeps_what_was_said() -> None:
    found = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORDS}},
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    async with paid_server(lambda request, number: Answer(events(*found, done=False))) as account:
        house = Providers({})
        models = house.models({"house": {"kind": "anthropic", "baseUrl": account.url}})
        with pytest.raises(ModelFailure) as caught:
            await models.ask(ModelRequest("house", "m", "x"))
        assert caught.value.code == "bad_answer"
        assert WORDS in caught.value.message
        await house.aclose()


POLISH = EXECUTION + "loops:\n  - {name: polish, workflow: draft, max_iterations: 2, until: It is good}\n"


@pytest.mark.parametrize("found", [[chunk(None, None, refusal=WORDS), chunk(None, "stop")], TOOL])
async def test_a_judge_that_refuses_or_asks_for_a_tool_gives_no_verdict(tmp_path: Path, found: list[Any]) -> None:
    def answer(request: dict[str, Any], number: int) -> Answer:
        judges = "Evaluate this condition" in str(request["messages"])
        return Answer(events(*found) if judges else events(chunk("draft"), chunk(None, "stop")))

    async with project_of(tmp_path, answer, polish=POLISH) as project:
        facts = await project.run("polish")
    assert {fact["verdict"] for fact in facts if fact["kind"] == "judged"} <= {"error"}
    assert facts[-1]["reason"] != "condition_met"
    told = json.dumps([fact for fact in facts if fact["kind"] in ("judged", "warning", "failed", "call")])
    assert (WORDS.rstrip(".") if found is not TOOL else "called an unknown tool: `rm_rf`") in told


@pytest.mark.parametrize("text", ["", "Here it is. "])
async def test_a_step_that_is_answered_with_a_tool_that_nobody_offered_fails(tmp_path: Path, text: str) -> None:
    main = EXECUTION + "steps:\n  - {name: a, run: Do}\n  - {name: b, needs: [a], run: 'Review: {{a}}'}\n"
    found = [chunk(text), *TOOL]
    async with project_of(tmp_path, lambda request, number: Answer(events(*found)), main=main) as project:
        facts = await project.run("main")
    assert facts[-1]["kind"] == "failed"
    assert "called an unknown tool: `rm_rf`" in facts[-1]["error"]["message"]
    assert not [fact for fact in facts if fact["kind"] == "step_started" and fact["step"] == "b"]


SCRIPT = "answers: [{say: {calls: [{tool: rm_rf, arguments: {path: /}}], then: done}}]\n"
TWO = "steps:\n  - {name: a, run: Do}\n  - {name: b, needs: [a], run: 'Review: {{a}}'}\n"


@pytest.mark.parametrize("mock", [False, True], ids=["scripted", "mock"])
async def test_nor_does_one_whose_script_asks_for_a_tool_that_nobody_offered(tmp_path: Path, mock: bool) -> None:
    house, project = Providers({}), Project(tmp_path)
    project.write(main="execution: {provider: scripted, model: m}\n" + TWO)
    (project.root / "main.answers.yaml").write_text(SCRIPT)
    engine = await project.open()
    engine._models = house.for_plan
    facts = await project.run("main", mock=mock)
    await project.close()
    await house.aclose()
    assert facts[-1]["kind"] == "failed"
    assert "called an unknown tool: `rm_rf`" in facts[-1]["error"]["message"]
    assert not [fact for fact in facts if fact["kind"] == "step_started" and fact["step"] == "b"]
