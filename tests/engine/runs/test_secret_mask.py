"""The mask of a run: which values it hides, in which forms, also in texts that come in pieces."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, get_args
from urllib.parse import quote

import pytest

from loop_ls.contract.facts import enhance, kinds
from loop_ls.contract.facts.payload import Payload
from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Approval, EmbedReply, Failure, LostAttempt, ModelFailure, ModelReply
from loop_ls.engine.core.redaction import MASK, StreamMask
from loop_ls.engine.runners.runner import Work
from loop_ls.engine.runs.journal_recorder import replayed, written
from loop_ls.engine.runs.secret_mask import RunSecrets, SecretMask, declared_variables
from loop_ls.testing.workflows import whole

assert kinds, enhance  # all kinds of facts are imported
VALUE = 'pa"ss\\word 1'
VALUE_20 = "q7Wz-0123-tUvX-98765"


def plan(**settings: Any) -> Plan:
    text = whole(
        "main", 'env: {A: "${FIRST}", B: "x ${SECOND} y", H: "${HOME}"}\nsteps: [{name: a, run: "${NOT_FILLED}"}]'
    )
    return Plan(
        "r",
        "workflow",
        "/p",
        "main",
        "main.yaml",
        texts={"main.yaml": text},
        keys={"main": "main.yaml"},
        settings=settings,
    )


def test_what_files_and_settings_put_in_is_declared() -> None:
    found = declared_variables(
        plan(
            providers={"own": {"baseUrl": "http://x/${IN_ADDRESS}/v1", "apiKeyEnv": "OWN_KEY"}},
            servers={"s": {"command": ["x"], "env": {"T": "${SERVER_TOKEN}"}, "headers": {"A": "Bearer ${HEADER}"}}},
            rag={"stores": {"docs": {"databaseUrlEnv": "DOCS_URL"}}},
        )
    )
    assert found >= {"FIRST", "SECOND", "IN_ADDRESS", "OWN_KEY", "SERVER_TOKEN", "HEADER", "DOCS_URL", "OPENAI_API_KEY"}
    assert "NOT_FILLED" not in found


def test_declared_values_and_those_that_are_called_secret_are_masked() -> None:
    environ = {
        "FIRST": "value-one",
        "SECOND": "zwei2",
        "HOME": "/home/me",
        "OTHER_TOKEN": "tok-12345678",
        "PLAIN": "plain-text",
    }
    mask = RunSecrets(environ).of(plan())
    assert mask.text("value-one zwei2 /home/me tok-12345678 plain-text") == f"{MASK} {MASK} /home/me {MASK} plain-text"


@pytest.mark.parametrize("value", ["true", "8080", "1.5", "production", "abc", "none", ""])
def test_switches_and_numbers_stay_readable(value: str) -> None:
    mask = RunSecrets({"FIRST": value}).of(plan())
    assert mask.text(f"it is {value}.") == f"it is {value}."


@pytest.mark.parametrize("encode", [base64.b64encode, base64.b16encode, lambda value: value[::-1]])
def test_another_encoding_of_a_value_is_not_known(encode: Callable[[bytes], bytes]) -> None:
    """A limit that the documentation names."""
    written = encode(b"value-one").decode()
    assert SecretMask(["value-one"]).text(f"value-one is {written}") == f"{MASK} is {written}"


def test_what_stands_in_the_workflow_itself_is_no_secret() -> None:
    mask = RunSecrets({"FIRST": "steps", "SECOND": "value-two"}).of(plan())
    assert mask.text("steps with value-two") == f"steps with {MASK}"


def test_a_key_of_the_keyring_is_masked_as_soon_as_it_is_known() -> None:
    kept: list[str] = []
    secrets = RunSecrets({})
    secrets.keyring = lambda: tuple(kept)
    mask = secrets.of(plan())
    assert mask.text("from-the-ring") == "from-the-ring"
    kept.append("from-the-ring")
    assert mask.text("from-the-ring") == MASK
    assert "from-the-ring" in secrets.everywhere()


@pytest.mark.parametrize(
    "written",
    [VALUE, json.dumps(VALUE)[1:-1], "pa%22ss%5Cword%201", "pa%22ss%5cword%201", "pa%22ss%5Cword+1"],
)
def test_a_value_is_masked_as_it_looks_in_json_and_in_an_address(written: str) -> None:
    assert SecretMask([VALUE]).value({"a": [f"<{written}>"], written: 1}) == {"a": [f"<{MASK}>"], MASK: 1}


def subclasses(of: type[Payload]) -> Iterator[type[Payload]]:
    for one in of.__subclasses__():
        yield one
        yield from subclasses(one)


PLACE = {"place": "develop/3/write", "workflow": "develop", "file": "develop.yaml", "loop": "each", "iteration": 3}


@pytest.mark.parametrize(
    "value", [*(value for value in PLACE.values() if isinstance(value, str)), "develop/3", "openai", "gpt-4o", "value"]
)
def test_what_names_a_place_of_the_run_stays_though_a_variable_has_that_value(value: str) -> None:
    names = {**PLACE, "step": value, "loopId": value, "provider": value, "model": value, "kind": value, "value": "x"}
    mask = SecretMask([value])
    assert mask.value(names) == names
    texts = {**PLACE, "output": f"it is {value}.", "error": {"code": value, "message": value}}
    assert mask.value(texts) == {**PLACE, "output": f"it is {MASK}.", "error": {"code": value, "message": MASK}}


def test_no_name_of_a_field_and_no_word_of_a_closed_set_is_ever_masked() -> None:
    """Else the fact, or the recorded answer, could not be read back."""
    names = {info.alias or name for one in subclasses(Payload) for name, info in one.model_fields.items()}
    ports = (ModelReply, EmbedReply, LostAttempt, ModelFailure, Failure, Approval, Work)
    names |= {field.name for one in ports for field in fields(one)}
    mask = SecretMask([*names, "raised", "value"])
    assert mask.value(dict.fromkeys(names, 1)) == dict.fromkeys(names, 1)
    for one in subclasses(Payload):
        for name, info in one.model_fields.items():
            for word in filter(lambda word: isinstance(word, str), get_args(info.annotation)):
                assert SecretMask([word]).value({info.alias or name: word}) == {info.alias or name: word}, one.kind


def test_what_people_put_together_has_no_fields_of_ours() -> None:
    found = SecretMask(["hunter22"]).value({"parameters": {"model": "hunter22", "hunter22": ["hunter22"]}})
    assert found == {"parameters": {"model": MASK, MASK: [MASK]}}


def test_what_a_service_says_beside_the_call_of_a_tool_has_no_fields_of_ours() -> None:
    call = ToolCall("1", "look", {}, "{}", {"kind": "hunter22", "target": {"path": "hunter22"}})
    assert "hunter22" not in json.dumps(SecretMask(["hunter22"]).value({"calls": [call.wire()]}))


def test_a_model_that_an_agent_says_is_no_place_for_a_key() -> None:
    mask = SecretMask(["hunter22", "gpt-4o"], certain=["hunter22"])
    assert mask.value({"model": "hunter22"}) == mask.value({"model": "a hunter22"}) == {"model": MASK}
    assert mask.value({"model": "gpt-4o"}) == {"model": "gpt-4o"}


def test_a_reason_that_is_a_sentence_is_text() -> None:
    mask = SecretMask(["budget", "hunter22"])
    assert mask.value({"reason": "budget"}) == {"reason": "budget"}
    assert mask.value({"reason": "the budget of hunter22"}) == {"reason": f"the {MASK} of {MASK}"}


def test_a_failure_is_replayed_as_it_was_whatever_the_environment_holds() -> None:
    failure = ModelFailure("server", "openai is away", provider="openai", details={"final": True, "status": 503})
    for value in ("model", "server", "final", "raised", "status", "openai"):
        masked = SecretMask([value]).value({"raised": written(failure)})
        with pytest.raises(ModelFailure) as caught:
            replayed(masked)
        assert (caught.value.code, caught.value.details) == ("server", failure.details)


def test_what_a_person_typed_holds_no_key_and_keeps_its_words() -> None:
    environ = {"FIRST": "the-team", "SECOND": "two", "OTHER_TOKEN": "tok-12345678", "OPENAI_API_KEY": "own-key"}
    secrets = RunSecrets(environ)
    secrets.keyring = lambda: ("from-the-ring",)
    typed = secrets.of(plan()).of_typed
    assert typed.free("the-team: tok-12345678, own-key, from-the-ring") == f"the-team: {MASK}, {MASK}, {MASK}"


def test_a_line_of_a_long_key_is_masked_alone() -> None:
    mask = SecretMask(["-----BEGIN-----\nMIIEvQIBADANBgkq\n-----END-----\n"])
    assert mask.text("it begins with MIIEvQIBADANBgkq") == f"it begins with {MASK}"


@pytest.mark.parametrize("cut", [VALUE_20[:10], VALUE_20[:19], VALUE_20[-10:], VALUE_20[1:], f"{VALUE_20[:12]}..."])
def test_what_a_cut_left_of_a_value_is_masked_too(cut: str) -> None:
    masked = SecretMask([VALUE_20]).text(f"it said: {cut}. And then {cut}")
    assert masked.count(MASK) == 2
    assert cut.strip(".") not in masked


@pytest.mark.parametrize(
    "value", ['S3CRET-va"lue/with+odd %chars', "wJalrX/tnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "pä-3f5a9c17d2b4"]
)
def test_nothing_of_a_value_is_left_though_json_and_addresses_write_it_otherwise(value: str) -> None:
    mask = SecretMask([value])
    assert mask.text(f"it said {value}.") == f"it said {MASK}."
    for safe in ("", "/", "/+", "/+%"):
        assert mask.text(f"it said {quote(value, safe=safe)}.") == f"it said {MASK}."


@pytest.mark.parametrize("cut", [VALUE_20[:10], VALUE_20[:14], VALUE_20[-10:], VALUE_20[6:]])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_half_of_a_value_is_masked_in_a_text_that_comes_in_pieces(cut: str, size: int) -> None:
    for text in (f"it said: {cut}", f"it said: {cut}. And more."):
        mask = SecretMask([VALUE_20]).stream()
        shown = "".join(mask.feed(text[at : at + size]) for at in range(0, len(text), size)) + mask.rest()
        assert MASK in shown
        assert VALUE_20[:10] not in shown
        assert VALUE_20[-10:] not in shown


def test_a_few_letters_of_a_value_are_no_part_of_it() -> None:
    text = f"{VALUE_20[:6]} and {VALUE_20[5:9]}"
    assert SecretMask([VALUE_20]).text(text) == text


def test_a_text_in_pieces_never_shows_a_secret_whatever_the_cuts() -> None:
    secrets = ("abca", "cabby", "abcabcX", "hunter2!", "unter")
    chance = random.Random(7)
    for _ in range(3000):
        words = chance.choices([*secrets, "ab", "c", "a", "hunt", "-", "cab", "X"], k=chance.randrange(1, 8))
        text = "".join(words)
        mask, shown, at = StreamMask(*secrets), "", 0
        while at < len(text):
            size = chance.randrange(1, 6)
            shown += mask.feed(text[at : at + size])
            at += size
        shown += mask.rest()
        assert not [secret for secret in secrets if secret in shown], (text, shown)
        if not any(secret in text for secret in secrets):
            assert shown == text
