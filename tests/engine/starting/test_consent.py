"""No text and no key goes anywhere that the user has not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.starting.consent import Consents, Endpoint, endpoints

ENVIRON = {"OPENAI_API_KEY": "sk-secret", "MY_KEY": "other-secret"}


def wanted(*names: str, **settings: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(each.provider, each.host, each.variable) for each in endpoints(names, settings, ENVIRON)]


def test_a_known_service_is_shown_with_its_host_and_its_variable() -> None:
    assert wanted("openai", "openai") == [("openai", "api.openai.com", "OPENAI_API_KEY")]


def test_a_model_on_this_machine_needs_no_consent_unless_the_project_chose_its_address() -> None:
    assert wanted("ollama", "unknown") == []
    assert wanted("ollama", ollama={"baseUrl": "http://127.0.0.1:9/v1"}) == [("ollama", "127.0.0.1:9", "")]


def test_a_script_in_the_place_of_a_known_service_sends_nothing() -> None:
    assert wanted("openai", openai={"kind": "scripted"}) == []
    assert wanted("openai", openai={"kind": "scripted", "apiKeyEnv": "MY_KEY"}) == []


def test_a_project_that_sends_a_known_key_to_another_place_is_shown_with_that_place() -> None:
    assert wanted("openai", openai={"baseUrl": "https://evil.test/v1"}) == [("openai", "evil.test", "OPENAI_API_KEY")]
    mine = {"kind": "openai", "baseUrl": "https://example.test/v1", "apiKeyEnv": "MY_KEY"}
    assert wanted("mine", mine=mine) == [("mine", "example.test", "MY_KEY")]


def test_variables_that_files_put_into_prompts_are_shown_for_every_place_they_would_go_to() -> None:
    found = endpoints(["openai", "ollama"], {}, ENVIRON, ["HOME", "MY_KEY"])
    assert [each.variable for each in found] == ["OPENAI_API_KEY", "HOME", "MY_KEY"]


def test_consent_is_asked_once_and_only_for_what_is_new(tmp_path: Path) -> None:
    first = Endpoint("openai", "https://user:pass@api.openai.com/v1", "OPENAI_API_KEY")
    second = Endpoint("mine", "https://example.test/v1")
    consents = Consents(tmp_path)
    with pytest.raises(Refused) as refused:
        consents.settle([first], None)
    shown = refused.value.answer()
    assert shown["code"] == "consent_required"
    assert shown["endpoints"] == [
        {
            "provider": "openai",
            "host": "api.openai.com",
            "url": "https://api.openai.com/v1",
            "variable": "OPENAI_API_KEY",
        }
    ]
    assert shown["programs"] == []
    consents.settle([first], shown["digest"])
    again = Consents(tmp_path)
    again.settle([first], None)
    with pytest.raises(Refused) as more:
        again.settle([first, second], None)
    assert [each["provider"] for each in more.value.details["endpoints"]] == ["mine"]
    assert "pass" not in (tmp_path / "consents.json").read_text()
    assert (tmp_path / "consents.json").stat().st_mode & 0o077 == 0


def test_a_digest_of_something_else_is_no_consent(tmp_path: Path) -> None:
    consents = Consents(tmp_path)
    with pytest.raises(Refused) as shown:
        consents.settle([Endpoint("a", "https://a.test")], None)
    with pytest.raises(Refused):
        consents.settle([Endpoint("a", "https://b.test")], shown.value.details["digest"])


def test_a_file_of_consents_that_cannot_be_read_means_asking_again(tmp_path: Path) -> None:
    (tmp_path / "consents.json").write_text("{")
    with pytest.raises(Refused):
        Consents(tmp_path).settle([Endpoint("a", "https://a.test")], None)
