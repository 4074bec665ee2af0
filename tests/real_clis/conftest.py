"""Claude Code, Codex and opencode themselves, each against a provider on loopback, with a home and keys of its own.

Needs what `.ci/setup-agents` prepares; without it these tests fail with a sentence that says so. The ring is left out
of the usual run: see tests/README.md.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.engine.providers.support.recording_provider import RecordingProvider
from tests.real_clis.agents import RealAgent, agents
from tests.real_clis.workplace import Workplace, opened

NAMES = ("claude-code", "codex", "opencode")


@pytest.fixture
def provider() -> Iterator[RecordingProvider]:
    with RecordingProvider().serving() as made:
        yield made


def installed(agent: RealAgent) -> RealAgent:
    there = os.environ.get("LOOP_LS_AGENTS", "")
    if not there or not Path(there, agent.program).exists():
        sentence = "LOOP_LS_AGENTS names no folder of agent programs: run .ci/setup-agents and source its agents.env"
        pytest.fail(sentence, pytrace=False)
    return agent


@pytest.fixture(params=NAMES)
def agent(request: pytest.FixtureRequest, provider: RecordingProvider) -> RealAgent:
    return installed(agents(provider.url)[request.param])


@pytest.fixture
async def workplace(
    agent: RealAgent, provider: RecordingProvider, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workplace]:
    # Codex makes no helpers of its sandbox for a home below the folder of temporary files.
    with tempfile.TemporaryDirectory(prefix="loop-ls-real-", dir=Path.home(), ignore_cleanup_errors=True) as folder:
        async with opened(Path(folder), agent, provider, monkeypatch) as made:
            yield made
