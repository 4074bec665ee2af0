"""Whom somebody names in place of all that files name: the same for editors and for the engine."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import config
from loop_ls.engine.providers.known import KNOWN
from loop_ls.formats.common.providers import DEFAULT_MODELS
from loop_ls.formats.workflow.one_model import NoModel, OneModel, chosen_model

HOUSE: dict[str, Any] = {"house": {"kind": "openai", "baseUrl": "https://house.example/v1"}}
BOTH = pytest.mark.parametrize(
    "choose", [chosen_model, lambda *given: config.chosen_model(*given, {})], ids=["editor", "engine"]
)


def test_each_provider_that_works_by_its_name_has_a_default_model() -> None:
    assert set(DEFAULT_MODELS) == set(KNOWN)


@BOTH
@pytest.mark.parametrize(
    ("provider", "model", "settings", "found"),
    [
        (None, None, {}, None),
        (None, "m", {}, OneModel("m")),
        ("local", None, {}, OneModel("smollm2-135m-instruct", "local")),
        ("scripted", None, {}, OneModel("script", "scripted")),
        ("gemini", None, {}, OneModel("gemini-2.0-flash-exp", "gemini")),
        ("openai", None, {"openai": {"defaultModel": "mine"}}, OneModel("mine", "openai")),
        ("house", "m", HOUSE, OneModel("m", "house")),
    ],
)
def test_who_is_chosen(choose: Any, provider: Any, model: Any, settings: Any, found: Any) -> None:
    assert choose(provider, model, settings) == found


@BOTH
@pytest.mark.parametrize(
    ("provider", "model", "settings", "told", "hint"),
    [
        ("house", None, HOUSE, "`house` has no default model", "Set one"),
        ("opnai", "m", {}, "Unknown provider `opnai`; did you mean `openai`?", "add others under `providers`"),
        ("nobody", None, {"nobody": {"price": {}}}, "Unknown provider `nobody`", "with `kind` and `baseUrl`"),
    ],
)
def test_who_cannot_be_chosen(choose: Any, provider: str, model: Any, settings: Any, told: str, hint: str) -> None:
    with pytest.raises((NoModel, ModelFailure)) as caught:
        choose(provider, model, settings)
    assert told in caught.value.message
    assert hint in caught.value.hint
