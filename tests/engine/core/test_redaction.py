"""Keys in texts: the given ones, what looks like one, and words that are none."""

from __future__ import annotations

import pytest

from loop_ls.engine.core.redaction import StreamMask, is_secret, redact, unquoted


@pytest.mark.parametrize(
    "text",
    [
        "sk-0123456789ab",
        "Bearer abcdef",
        "api_key=abcdef",
        "x-api-key: 'abcdef'",
        "password = abcdef",
        "https://me:pw@host",
    ],
)
def test_EB_026_what_looks_like_a_key_is_masked(text: str) -> None:
    assert "[secret]" in redact(text)


@pytest.mark.parametrize(
    "text", ["sk-short", "a bearer of news", "password: abc", "https://host/path", "task-0123456789"]
)
def test_EB_026_what_only_reminds_of_a_key_stays(text: str) -> None:
    assert redact(text) == text


def test_EB_026_a_given_key_is_masked_where_it_is_no_mere_word() -> None:
    assert redact("with abcd and abc", ["abcd", "abc"]) == "with [secret] and abc"
    assert (is_secret("abcd"), is_secret("abc"), is_secret("Ollama")) == (True, False, False)
    assert unquoted("the key abcd", "abcd") == "the key [secret]"
    assert unquoted("the key test", "test") == "the key test"


@pytest.mark.parametrize("cut", range(1, 14))
def test_EB_026_a_key_in_a_stream_is_masked_wherever_the_stream_is_cut(cut: int) -> None:
    text = "a abcdabcef z."
    mask = StreamMask("abcdabce", "ollama", "abc")
    shown = mask.feed(text[:cut]) + mask.feed(text[cut:]) + mask.rest()
    assert shown == "a [secret]f z."
    assert mask.rest() == ""


def test_EB_026_a_stream_holds_back_only_what_may_be_the_beginning_of_a_key() -> None:
    mask = StreamMask("abcdef")
    assert mask.feed("x ab") == "x "
    assert mask.feed("x ") == "abx "
    assert mask.feed("abcde") == ""
    assert mask.rest() == "abcde"
    assert StreamMask().feed("abcde") == "abcde"


@pytest.mark.parametrize("other", ["xyzz", "cxyz"])
def test_EB_026_the_beginning_of_another_key_does_not_cut_a_whole_one_in_two(other: str) -> None:
    mask = StreamMask("abcx", other)
    assert (mask.feed("abcx"), mask.feed("!"), mask.rest()) == ("", "[secret]!", "")
