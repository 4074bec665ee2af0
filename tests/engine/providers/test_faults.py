"""Every way a provider fails, over a real socket: one sentence, one code, what to do, no key in it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import Providers
from tests.engine.providers.conftest import KEY, Asked

both = pytest.mark.parametrize("provider", ["openai", "anthropic"])


async def failure(ask: Asked, provider: str = "openai", **more: Any) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await ask(provider, **more)
    found = caught.value
    assert found.message.endswith((".", "?")), "a whole sentence"
    assert f"`{found.provider}`" in found.message
    assert KEY not in f"{found.message} {found.hint} {found.details}"
    return found


@both
@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "bad_request"), (401, "auth"), (403, "auth"), (404, "not_found"), (422, "bad_request")],
)
async def test_what_is_wrong_for_good_is_asked_once(
    llmock: Any, ask: Asked, provider: str, status: int, code: str
) -> None:
    llmock.fail(status, times=None)
    found = await failure(ask, provider)
    assert (found.code, found.details["status"]) == (code, status)
    assert found.hint
    assert len(llmock.requests) == 1
    assert not ask.waits


@both
@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (500, "server"), (503, "server"), (529, "server")])
async def test_what_may_pass_is_asked_three_times(
    llmock: Any, ask: Asked, soon: None, provider: str, status: int, code: str
) -> None:
    llmock.fail(status, times=None, retry_after=0.02)
    assert (await failure(ask, provider)).code == code
    assert len(llmock.requests) == 3
    assert [(wait.attempt, wait.attempts) for wait in ask.waits] == [(2, 3), (3, 3)]


@both
async def test_after_a_passing_fault_the_answer_comes(llmock: Any, ask: Asked, soon: None, provider: str) -> None:
    llmock.fail(500, retry_after=0.02).fail(429, retry_after=0.02).reply("at last")
    assert (await ask(provider)).text == "at last"
    llmock.assert_resilient(strict=True)


async def test_UP_54_retry_after_is_honoured(llmock: Any, ask: Asked) -> None:
    llmock.rate_limit(times=1, retry_after=0.3).reply("now")
    began = time.monotonic()
    assert (await ask()).text == "now"
    assert time.monotonic() - began >= 0.3
    assert ask.waits[0].delay >= 0.3
    assert ask.waits[0].because == "rate limit"
    llmock.assert_resilient()


async def test_UP_54_a_caller_with_its_own_rule_is_asked_as_often_as_it_says(llmock: Any, ask: Asked) -> None:
    llmock.rate_limit(times=None, retry_after=2)
    found = await failure(ask, attempts=1)
    assert (found.code, found.retry_after) == ("rate_limited", 2.0)
    assert len(llmock.requests) == 1


async def test_nobody_waits_for_an_hour(llmock: Any, ask: Asked) -> None:
    llmock.rate_limit(times=None, retry_after=3600)
    assert (await failure(ask)).retry_after == 3600
    assert len(llmock.requests) == 1


async def test_a_used_up_quota_is_not_waited_for(llmock: Any, ask: Asked) -> None:
    llmock.fail(429, times=None, code="insufficient_quota", message="You exceeded your quota, check billing.")
    assert "quota" in (await failure(ask)).message
    assert len(llmock.requests) == 1


@both
async def test_a_stream_that_ends_early_is_truncated(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.truncate(after_chunks=4, times=None).reply("one two three four five six", times=None)
    found = await failure(ask, provider)
    assert found.code == "truncated"
    assert len(llmock.requests) == 1, "a paid call is not repeated behind anybody's back"


@both
async def test_a_broken_connection_in_the_answer_is_truncated(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.disconnect(after_chunks=5, times=None).reply("one two three four five six", times=None)
    assert (await failure(ask, provider)).code == "truncated"
    assert len(llmock.requests) == 1


@both
async def test_a_connection_broken_before_the_first_word_is_tried_again(
    llmock: Any, ask: Asked, soon: None, provider: str
) -> None:
    llmock.disconnect(after_chunks=0).reply("fine", times=None)
    assert (await ask(provider)).text == "fine"


@both
async def test_a_piece_that_is_no_json_is_a_bad_answer(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.corrupt(after_chunks=2, times=None)
    assert (await failure(ask, provider)).code == "bad_answer"


@both
async def test_a_stalled_stream_is_left(llmock: Any, ask: Asked, provider: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.http.IDLE_SECONDS", 0.2)
    llmock.stall(after_chunks=4, seconds=5, times=None).reply("one two three four five six", times=None)
    found = await failure(ask, provider)
    assert found.code == "truncated"
    assert "nothing was received" in found.message


@both
async def test_WB_118_the_timeout_of_the_step_counts(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.slow_first_token(30, times=None)
    found = await failure(ask, provider, timeout=0.3)
    assert found.code == "timeout"
    assert "0.3 s" in found.message
    assert len(ask.waits) == 0


@both
async def test_WB_118_without_a_timeout_the_providers_own_counts(llmock: Any, provider: str, providers: Any) -> None:
    ask = Asked(providers.models({provider: {"timeoutSeconds": 0.3}}))
    llmock.delay(5, times=None)
    assert (await failure(ask, provider)).code == "timeout"


@both
async def test_an_empty_answer_is_said_to_be_empty(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.reply("  \n", times=None)
    assert (await failure(ask, provider)).code == "empty"
    assert len(llmock.requests) == 1


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
async def test_a_missing_key_names_its_variable(provider: str, variable: str) -> None:
    models = Providers({}).models()
    found = await failure(Asked(models), provider)
    assert found.code == "missing_key"
    assert variable in found.message
    assert variable in found.hint
    problem = models.problem(provider)
    assert problem is not None and problem.message == found.message


async def test_a_provider_that_is_down_is_unreachable(soon: None) -> None:
    house = Providers({})
    found = await failure(Asked(house.models({"house": {"baseUrl": "http://127.0.0.1:9/v1"}})), "house")
    assert found.code == "unreachable"
    assert "http://127.0.0.1:9/v1" in found.message
    await house.aclose()


async def test_a_wrong_name_gets_the_nearest_right_one(ask: Asked) -> None:
    with pytest.raises(ModelFailure) as caught:
        await ask("opnai")
    assert caught.value.code == "unknown_provider"
    assert "did you mean `openai`?" in caught.value.message


async def test_a_provider_without_a_common_address_says_what_to_set(ask: Asked) -> None:
    found = await failure(ask, "bedrock")
    assert "providers.bedrock.baseUrl" in found.hint
