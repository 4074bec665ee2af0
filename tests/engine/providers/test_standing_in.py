"""Who keeps failing is left alone, and others are asked in its place."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.limits.circuit_breaker import IN_A_ROW, PAUSE, PAUSE_NEAR, Breaker
from tests.engine.providers.conftest import MODELS, Asked

SERVER = ModelFailure("server", "out of order")
FAR = Provider("far", "openai", "https://models.example.org/v1")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def broken(provider: Provider = FAR) -> tuple[Breaker, Clock]:
    clock = Clock()
    breaker = Breaker(provider, clock)
    for _ in range(IN_A_ROW):
        breaker.check("m")
        breaker.heard(SERVER)
    return breaker, clock


def test_after_some_failures_in_a_row_nobody_asks_for_a_while() -> None:
    breaker, clock = broken()
    with pytest.raises(ModelFailure) as caught:
        breaker.check("m")
    assert caught.value.code == "server"
    assert f"failed {IN_A_ROW} times in a row" in caught.value.message
    assert caught.value.retry_after == PAUSE
    clock.now = PAUSE + 0.1
    breaker.check("m")


def test_one_call_looks_and_the_others_wait_for_what_it_finds() -> None:
    breaker, clock = broken()
    clock.now = PAUSE + 0.1
    breaker.check("m")
    with pytest.raises(ModelFailure):
        breaker.check("m")
    breaker.heard(None)
    breaker.check("m")
    breaker.check("m")


def test_a_failed_look_starts_the_pause_again() -> None:
    breaker, clock = broken()
    clock.now = PAUSE + 0.1
    breaker.check("m")
    breaker.heard(SERVER)
    clock.now += PAUSE - 1
    with pytest.raises(ModelFailure):
        breaker.check("m")


@pytest.mark.parametrize("code", ["rate_limited", "auth", "bad_request", "truncated", "empty", "not_found"])
def test_a_provider_that_answers_at_all_is_there(code: str) -> None:
    breaker = Breaker(FAR)
    for _ in range(3 * IN_A_ROW):
        breaker.check("m")
        breaker.heard(ModelFailure(code, "no"))


def test_a_server_on_this_machine_is_looked_at_again_soon() -> None:
    breaker, clock = broken(Provider("near", "openai", "http://127.0.0.1:11434/v1"))
    clock.now = PAUSE_NEAR + 0.1
    breaker.check("m")


async def test_runs_share_what_is_known_of_a_provider(llmock: Any, providers: Providers, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.circuit_breaker.PAUSE_NEAR", 30.0)
    llmock.outage()
    for _ in range(IN_A_ROW):
        with pytest.raises(ModelFailure):
            await Asked(providers.models())(attempts=1)
    seen = len(llmock.requests)
    with pytest.raises(ModelFailure) as caught:
        await Asked(providers.models())(attempts=1)
    assert "is paused" in caught.value.message
    assert len(llmock.requests) == seen


async def test_a_fallback_answers_for_a_provider_that_is_out_of_order(
    llmock: Any, providers: Providers, soon: None
) -> None:
    llmock.fail(500, times=None, provider="openai").reply("from the other one", times=None, provider="anthropic")
    ask = Asked(providers.models({"openai": {"fallback": [f"anthropic/{MODELS['anthropic']}"]}}))
    reply = await ask()
    assert (reply.text, reply.provider, reply.model) == (
        "from the other one",
        "anthropic",
        MODELS["anthropic"],
    )
    assert ask.waits[-1].because == "using `anthropic` instead"


async def test_a_fallback_without_a_model_takes_its_own(llmock: Any, providers: Providers, soon: None) -> None:
    llmock.fail(503, times=None, provider="openai").reply("ok", times=None)
    ask = Asked(providers.models({"openai": {"fallback": ["anthropic"]}, "anthropic": {"defaultModel": "own"}}))
    assert (await ask()).model == "own"


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_is_wrong_with_the_question_is_asked_of_nobody_else(
    llmock: Any, providers: Providers, status: int
) -> None:
    llmock.fail(status, times=None)
    ask = Asked(providers.models({"openai": {"fallback": ["anthropic"]}}))
    with pytest.raises(ModelFailure):
        await ask()
    assert len(llmock.requests) == 1


async def test_when_nobody_answers_the_first_failure_is_told(llmock: Any, providers: Providers, soon: None) -> None:
    llmock.fail(500, times=None, message="first words")
    ask = Asked(providers.models({"openai": {"fallback": ["anthropic", "no-such-provider"]}}))
    with pytest.raises(ModelFailure) as caught:
        await ask(attempts=1)
    assert caught.value.provider == "openai"
