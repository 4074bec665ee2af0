"""What Claude Code says of the usage windows of an account: the fake says the same, and `usagePercent` holds by it."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.providers.support.recording_provider import RecordingProvider
from tests.engine.runners.support.cli_contract import WARNS_FROM, rate_limit_info
from tests.real_clis.agents import RealAgent, agents
from tests.real_clis.conftest import installed
from tests.real_clis.workplace import ENDS, SECONDS, Workplace, opened

#: Only who signed in with a subscription has windows.
SIGNED_IN = {"CLAUDE_CODE_OAUTH_TOKEN": "made-up"}
WORDS = ("--print", "--verbose", "--output-format", "stream-json", "--model", "sonnet")


def headers(used: float, resets: int) -> dict[str, str]:
    """With which the service tells them of the window of five hours."""
    own = {"utilization": str(used), "reset": str(resets), "status": "allowed"}
    if used >= WARNS_FROM:
        own |= {"status": "allowed_warning", "surpassed-threshold": str(WARNS_FROM)}
    told = {"status": "allowed", "reset": str(resets), "representative-claim": "five_hour"}
    told |= {f"5h-{name}": value for name, value in own.items()}
    return {f"anthropic-ratelimit-unified-{name}": value for name, value in told.items()}


@pytest.fixture
def claude(provider: RecordingProvider) -> RealAgent:
    found = installed(agents(provider.url)["claude-code"])
    kept = {name: value for name, value in found.environ.items() if name != "ANTHROPIC_API_KEY"}
    return RealAgent(found.speaks, found.program, found.model, environ={**kept, **SIGNED_IN})


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="loop-ls-real-", dir=Path.home(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.parametrize("used", [0.42, 0.93, 1.05])
def test_the_fake_tells_a_window_as_the_real_program_does(
    claude: RealAgent, provider: RecordingProvider, home: Path, used: float
) -> None:
    resets = int(time.time()) + 3600
    provider.headers = headers(used, resets)
    command, environ = [*claude.cli(), *WORDS], claude.environment(home)
    ended = subprocess.run(
        command, input="hi", text=True, capture_output=True, timeout=SECONDS, cwd=home, env=environ, check=True
    )
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    [told] = [event["rate_limit_info"] for event in events if event["type"] == "rate_limit_event"]
    assert told == rate_limit_info(used, resets)


async def test_a_run_waits_for_the_reset_of_the_window_of_the_real_program(
    claude: RealAgent, provider: RecordingProvider, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far below the share from which it warns."""
    resets = int(time.time()) + 3600
    provider.headers = headers(0.42, resets)
    provider.answer = lambda request: "Not yet."
    async with opened(home / "w", claude, provider, monkeypatch) as workplace:
        own = {"kind": "agent-cli", "cli": claude.recorded(workplace.log), "speaks": "claude-code", "usagePercent": 40}
        (workplace.root / ".loop-ls.yaml").write_text(json.dumps({"providers": {"claude-code": own}}))
        paused = await _paused(workplace)
        assert (paused["reason"], "42 % of its usage window" in paused["because"]) == ("exhausted", True), paused
        assert len(workplace.log.read_text().splitlines()) == 1, "the second iteration has not begun"


async def _paused(workplace: Workplace) -> dict[str, Any]:
    told = {"name": "Worker", "persona": "You work.", "provider": "claude-code", "model": "sonnet"}
    told |= {"loopEnabled": True, "maxIterations": 2, "loopCriteria": {"type": "regex", "value": "^APPROVED$"}}
    path = workplace.root / "worker.assistant.json"
    path.write_text(json.dumps(told))
    request = {"path": str(path), "target": {"kind": "assistant"}, "message": "Do it."}
    return await workplace.run(request, until=("paused", *ENDS))
