"""Models of a script, a provider that follows one, a service behind HTTP and the embedded model keep one contract."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.engine.core.plan import ModelAccess
from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.providers import Providers
from loop_ls.testing.models import SILENCE, ScriptedModels
from tests.engine.providers.support.recording_provider import RecordingProvider

KINDS = ["double", "scripted", "http", "local"]


class Answering:
    """One kind of models under the name of its provider."""

    def __init__(self, name: str, models: ModelAccess, model: str = "m") -> None:
        self.name, self.models, self.model = name, models, model

    def request(self, prompt: str = "Say a word.") -> ModelRequest:
        return ModelRequest(self.name, self.model, prompt, max_tokens=16, attempts=1)


@pytest.fixture(params=KINDS)
async def answering(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Answering]:
    if request.param == "double":
        yield Answering("any", ScriptedModels({"slow": SILENCE}, "one two three"))
        return
    if request.param == "local" and importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra `local` has no wheel for this platform")
    with RecordingProvider().serving() as service:
        service.answer = lambda request: "one two three"
        script = {"kind": "scripted", "script": [{"say": "one two three"}]}
        environ = {"OPENAI_BASE_URL": f"{service.url}/v1", "OPENAI_API_KEY": "sk-made-up"}
        providers = Providers(environ, log_folder=tmp_path)
        models = providers.models({"scripted": script})
        name = {"scripted": "scripted", "http": "openai", "local": "local"}[request.param]
        yield Answering(name, models, "smollm2-135m-instruct" if name == "local" else "m")
        await providers.aclose()


async def test_the_answer_is_whole_and_comes_in_pieces_that_make_it(answering: Answering) -> None:
    heard: list[str] = []
    reply = await answering.models.ask(answering.request(), heard.append)
    assert reply.text.strip()
    assert "".join(heard) == reply.text
    assert (reply.provider, reply.model) == (answering.name, answering.model)
    assert reply.input_tokens > 0 and reply.output_tokens > 0
    assert (reply.calls, reply.finish) == ((), "stop") or reply.finish == "length"


async def test_nobody_has_to_listen(answering: Answering) -> None:
    assert (await answering.models.ask(answering.request())).text.strip()


async def test_questions_beside_each_other_are_answered_each(answering: Answering) -> None:
    replies = await asyncio.gather(*(answering.models.ask(answering.request(f"Say {n}.")) for n in range(3)))
    assert [bool(reply.text.strip()) for reply in replies] == [True] * 3


async def test_whoever_can_be_asked_has_no_problem(answering: Answering) -> None:
    assert answering.models.problem(answering.name) is None


async def test_a_question_that_is_given_up_ends_at_once(answering: Answering) -> None:
    asking = asyncio.create_task(answering.models.ask(answering.request()))
    await asyncio.sleep(0)
    asking.cancel()
    done, _ = await asyncio.wait({asking}, timeout=60)
    assert done
    assert asking.cancelled() or asking.exception() is None


async def test_a_time_limit_is_a_failure_of_the_model(answering: Answering) -> None:
    if answering.name not in ("any", "openai"):
        pytest.skip("nothing makes it slow")
    request = ModelRequest(answering.name, "m", "x", place="slow", timeout=0.0001, attempts=1)
    with pytest.raises(ModelFailure) as caught:
        await answering.models.ask(request)
    assert caught.value.code == "timeout"
