"""Other clouds through pydantic-ai: its messages and ours, its failures and ours. Its models are played."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UserError
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

from loop_ls.engine.core.messages import ToolAnswer, ToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import LostAttempt, ModelFailure
from loop_ls.engine.core.price_table import Usage
from loop_ls.engine.providers import Providers
from tests.engine.providers.conftest import Asked

Speak = Callable[[list[Any], AgentInfo], AsyncIterator[Any]]

SETTINGS = {"bedrock": {"kind": "pydantic-ai"}}


class RecordingBill:
    """A bill that counts."""

    def __init__(self) -> None:
        self.attempts: list[LostAttempt] = []

    def lost(self, attempt: LostAttempt) -> None:
        self.attempts.append(attempt)

    async def again(self) -> None:
        return


class Played:
    """A model whose answers a test gives, with everything it was asked with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.messages: list[Any] = []
        self.info: AgentInfo | None = None
        self.says: list[Any] = ["hello"]
        monkeypatch.setattr("pydantic_ai.models.infer_model", self._model)
        monkeypatch.setattr("pydantic_ai.models.function.FunctionStreamedResponse.finish_reason", "stop", raising=False)

    def _model(self, name: str | FunctionModel) -> FunctionModel:
        if isinstance(name, FunctionModel):
            return name
        self.names.append(name)
        if isinstance(self.says[0], Exception) and not isinstance(self.says[0], ModelHTTPError | ModelConnectionError):
            raise self.says[0]
        return FunctionModel(stream_function=self._speak)

    async def _speak(self, messages: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
        self.messages, self.info = messages, info
        for each in self.says:
            if isinstance(each, Exception):
                raise each
            yield each


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(monkeypatch)


@pytest.fixture
def ask() -> Asked:
    return Asked(Providers({}).models(SETTINGS))


async def failure(ask: Asked, **more: Any) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await ask("bedrock", **{"attempts": 1, **more})
    return caught.value


async def test_a_question_goes_to_the_service_and_streams_back(played: Played, ask: Asked) -> None:
    played.says = ["hel", "lo"]
    reply = await ask("bedrock", "Say hello.", model="claude", system="Be kind.", temperature=0.0, max_tokens=9)
    assert (reply.text, reply.provider, reply.model, "".join(ask.heard)) == ("hello", "bedrock", "claude", "hello")
    assert played.names == ["bedrock:claude"]
    assert [part.content for part in played.messages[0].parts] == ["Be kind.", "Say hello."]
    assert played.info is not None
    assert played.info.model_settings == {"temperature": 0.0, "max_tokens": 9}
    assert reply.output_tokens > 0


async def test_the_vendor_may_be_named(played: Played) -> None:
    settings = {"mine": {"kind": "pydantic-ai", "vendor": "mistral"}, "vertex-ai": {"kind": "pydantic-ai"}}
    ask = Asked(Providers({}).models(settings))
    await ask("mine", model="large")
    await ask("vertex-ai", model="flash")
    assert played.names == ["mistral:large", "google-cloud:flash"]


async def test_tools_are_offered_asked_for_and_answered(played: Played, ask: Asked) -> None:
    played.says = [{0: DeltaToolCall("search", '{"query": "x"}', tool_call_id="t1")}]
    tool = ToolSpec("search", "Finds.", {"type": "object", "properties": {"query": {"type": "string"}}})
    reply = await ask("bedrock", tools=(tool,))
    assert (reply.finish, reply.calls) == ("tools", (ToolCall("t1", "search", {"query": "x"}, '{"query":"x"}'),))
    assert played.info is not None
    assert [each.name for each in played.info.function_tools] == ["search"]
    played.says = ["found"]
    turn = Turn("", reply.calls, (ToolAnswer("t1", "one document"),))
    assert (await ask("bedrock", tools=(tool,), turns=(turn,))).text == "found"
    assert played.messages[2].parts[0].content == "one document"
    assert played.messages[2].parts[0].tool_name == "search"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelHTTPError(429, "m", {"message": "slow down"}), "rate_limited"),
        (ModelHTTPError(401, "m", {"message": "no"}), "auth"),
        (ModelHTTPError(503, "m", None), "server"),
        (ModelConnectionError("m", "refused"), "unreachable"),
        (UserError("Set the `AWS_REGION` environment variable"), "missing_key"),
        (ImportError("Please install `boto3`"), "unknown_provider"),
    ],
)
async def test_its_failures_become_ours(played: Played, ask: Asked, error: Exception, code: str) -> None:
    played.says = [error]
    found = await failure(ask)
    assert found.code == code
    assert "`bedrock`" in found.message
    assert found.hint


async def test_an_answer_that_breaks_off_is_truncated(played: Played, ask: Asked) -> None:
    played.says = ["half an", ModelConnectionError("m", "gone")]
    assert (await failure(ask)).code == "truncated"


async def test_an_answer_that_nobody_called_finished_is_truncated(
    played: Played, ask: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.function.FunctionStreamedResponse.finish_reason", None, raising=False)
    found = await failure(ask)
    assert found.code == "truncated"
    assert "before it was complete" in found.message


async def test_an_empty_answer_is_said_to_be_empty(played: Played, ask: Asked) -> None:
    played.says = ["  "]
    assert (await failure(ask)).code == "empty"


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ([{0: DeltaThinkingPart(content="thought " * 50)}, {0: DeltaThinkingPart(content="again " * 50)}], "empty"),
        ([{0: DeltaThinkingPart(content="thought " * 100)}, ModelConnectionError("m", "gone")], "unreachable"),
        ([{0: DeltaToolCall("rm", '{"path": "' + "x" * 700 + '"}', tool_call_id="t1")}], "bad_answer"),
    ],
    ids=["only thinks", "breaks off in its thoughts", "asks for a tool that nobody offered"],
)
@pytest.mark.parametrize("reported", [Usage(), Usage(5, 900)], ids=["not reported", "reported"])
async def test_what_gave_no_answer_is_booked_with_all_that_was_heard(
    played: Played, says: list[Any], code: str, reported: Usage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.dialects.pydantic_ai._usage", lambda said: reported)
    played.says, bill = says, RecordingBill()
    ask = Asked(Providers({}).models({"bedrock": {"kind": "pydantic-ai", "price": {"input": 0, "output": 1_000_000}}}))
    found = await failure(ask, bill=bill)
    assert found.code == code
    [lost] = bill.attempts
    expected = 100 if code == "unreachable" else reported.output or 100  # a broken connection reports nothing
    assert (lost.code, lost.output_tokens >= expected) == (code, True), lost
    assert lost.usd == lost.output_tokens


@pytest.mark.parametrize(
    "says",
    [
        ["word " * 50] * 100,
        [{0: DeltaThinkingPart(content="thought " * 50)}] * 100,
        [
            {0: DeltaToolCall("rm", '{"path": "', tool_call_id="t1")},
            *({0: DeltaToolCall(json_args="x" * 400)} for _ in range(100)),
        ],
    ],
    ids=["text", "thoughts", "arguments of a tool"],
)
async def test_an_endless_answer_is_cut_and_booked(
    played: Played, says: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.dialects.pydantic_ai.LONGEST_ANSWER", 10_000)
    monkeypatch.setattr("loop_ls.engine.providers.dialects.pydantic_ai._usage", lambda said: Usage())
    played.says, bill = says, RecordingBill()
    ask = Asked(Providers({}).models({"bedrock": {"kind": "pydantic-ai", "price": {"input": 0, "output": 1_000_000}}}))
    found = await failure(ask, bill=bill)
    assert (found.code, "it is longer than" in found.message) == ("truncated", True)
    [lost] = bill.attempts
    assert 10_000 / 5 < lost.output_tokens < 10_000 and lost.usd == lost.output_tokens


async def test_without_the_package_the_line_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.dialects.pydantic_ai.is_installed", lambda package: False)
    problem = Providers({}).models(SETTINGS).problem("bedrock")
    assert problem is not None
    assert 'pip install "loop-ls[pydantic-ai]" "pydantic-ai-slim[bedrock]"' in problem.message
