"""No key in any text that a person or a log sees."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.core.redaction import MASK, StreamMask, redact, unquoted
from loop_ls.engine.providers import Providers
from tests.engine.money.paid_server import Answer, paid_server
from tests.engine.providers.conftest import KEY, Asked


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-abcdefghijklmnop123456.",
        "Incorrect API key provided: sk-proj-********************************wxyz",
        'headers: {"x-api-key": "abcdef0123456789"}',
        "Authorization: Bearer abcdef0123456789",
        "https://user:hunter2secret@proxy.example/path",
        "api_key=abcdef0123456789&x=1",
        "gsk_abcdefghijklmnop1234",
        "AIzaSyA-abcdefghijklmnop",
    ],
)
def test_what_looks_like_a_key_is_masked(text: str) -> None:
    hidden = redact(text)
    assert MASK in hidden
    for part in ("abcdef0123456789", "hunter2secret", "abcdefghijklmnop", "wxyz"):
        assert part not in hidden


def test_a_given_secret_is_masked_whatever_its_shape() -> None:
    assert redact("the pass is correct-horse!", ["correct-horse"]) == f"the pass is {MASK}!"


def test_ordinary_words_stay() -> None:
    text = "The model gpt-4o-mini took 12 s; ask-me-anything about tokens: risk-free keys."
    assert redact(text) == text


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_provider_that_quotes_the_key_does_not_give_it_away(llmock: Any, status: int, soon: None) -> None:
    odd = "no-shape-at-all-7"
    house = Providers(llmock.env() | {"OPENAI_API_KEY": odd})
    llmock.fail(status, times=None, message=f"Wrong key {odd} or {KEY}", retry_after=0.01)
    with pytest.raises(ModelFailure) as caught:
        await Asked(house.models())()
    said = f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert odd not in said
    assert KEY not in said
    assert MASK in said
    await house.aclose()


async def test_an_answer_that_quotes_the_key_does_not_give_it_away(llmock: Any, ask: Asked) -> None:
    llmock.reply(f"You are {KEY}.")
    assert (await ask()).text == f"You are {MASK}."


async def test_a_short_key_is_a_key_too(llmock: Any) -> None:
    house = Providers(llmock.env() | {"OPENAI_API_KEY": "hunter2"})
    llmock.reply("You are hunter2, and hunters are not.")
    assert (await Asked(house.models())()).text == f"You are {MASK}, and hunters are not."
    await house.aclose()


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_a_key_that_comes_in_two_pieces_is_never_shown(cut: int) -> None:
    mask = StreamMask(KEY)
    shown = [mask.feed(piece) for piece in (f"You are {KEY[:cut]}", f"{KEY[cut:]}.")]
    assert "".join(shown) + mask.rest() == f"You are {MASK}."


def test_what_only_begins_like_a_key_is_shown_in_the_end() -> None:
    mask = StreamMask("sk-abcdef")
    assert mask.feed("ask") == "a"
    assert mask.feed(" me") == "sk me"
    assert mask.feed("sk-ab") == ""
    assert mask.rest() == "sk-ab"


async def test_a_streamed_answer_shows_no_part_of_the_key(llmock: Any, ask: Asked) -> None:
    llmock.reply(f"You are {KEY}, they say.")
    reply = await ask()
    assert "".join(ask.heard) == reply.text == f"You are {MASK}, they say."


def test_a_word_in_place_of_a_key_stays_in_answers() -> None:
    assert unquoted("Run it with ollama.", "ollama") == "Run it with ollama."


async def test_a_password_in_the_address_is_not_shown(soon: None) -> None:
    house = Providers({})
    settings = {"house": {"baseUrl": "http://me:topsecret@127.0.0.1:9/v1"}}
    with pytest.raises(ModelFailure) as caught:
        await Asked(house.models(settings))("house")
    assert "topsecret" not in f"{caught.value.message} {caught.value.hint}"
    await house.aclose()


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sch\u00fcssel-geheim", "a\x00b-geheim", "\u200bsk-geheim"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_key_that_no_header_can_hold_is_told_without_it(llmock: Any, key: str, provider: str) -> None:
    house = Providers(llmock.env() | {"OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key})
    with pytest.raises(ModelFailure) as caught:
        await Asked(house.models())(provider)
    assert caught.value.code == "auth"
    assert "geheim" not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert not llmock.requests
    await house.aclose()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_key_follows_a_provider_to_another_address(status: int) -> None:
    async with paid_server(lambda request, number: Answer(b"{}")) as other:

        def elsewhere(request: Any, number: int) -> Answer:
            return Answer(b"", status=status, headers=f"location: {other.url}/v1/chat/completions\r\n")

        async with paid_server(elsewhere) as first:
            house = Providers({"OWN_KEY": "no-shape-at-all-7"})
            own = {"kind": "openai", "baseUrl": f"{first.url}/v1", "apiKeyEnv": "OWN_KEY"}
            with pytest.raises(ModelFailure) as caught:
                await house.models({"own": own}).ask(ModelRequest("own", "m", "x"))
            await house.aclose()
        assert (caught.value.code, len(first.requests), other.requests) == ("bad_answer", 1, [])
