"""Providers against a real server on a real socket that fails on cue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelReply, ModelRequest, Waiting
from loop_ls.engine.providers import Providers, RunModels

KEY = "sk-test-0123456789abcdef"
MODELS = {"openai": "gpt-4o-mini", "anthropic": "claude-3-5-sonnet-20241022"}


@dataclass
class Asked:
    """One asker with everything it heard."""

    models: RunModels
    heard: list[str] = field(default_factory=list)
    waits: list[Waiting] = field(default_factory=list)

    async def __call__(self, provider: str = "openai", prompt: str = "Say hello.", **more: Any) -> ModelReply:
        request = ModelRequest(provider, more.pop("model", MODELS.get(provider, "m")), prompt, **more)
        return await self.models.ask(request, self.heard.append, self.waits.append)


@pytest.fixture
async def providers(llmock: Any) -> AsyncIterator[Providers]:
    environ = llmock.env() | {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    made = Providers(environ)
    yield made
    await made.aclose()


@pytest.fixture
def ask(providers: Providers) -> Asked:
    return Asked(providers.models())


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backoff without the waiting."""
    monkeypatch.setattr("loop_ls.engine.providers.limits.retry.FIRST_WAIT", 0.01)
