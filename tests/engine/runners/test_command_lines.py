"""What agent programs are told, per caller and access, is what the real ones were seen to take.

Whoever changes these words runs `tests/real_clis` with `LOOP_LS_RECORD=1`, which tries them with the real programs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runners.resolve import runner_for
from loop_ls.engine.runners.runner import Assignment
from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox
from loop_ls.testing.models import ScriptedModels
from tests.engine.providers.support.recording_provider import RecordingProvider
from tests.engine.runners.support import agents as support
from tests.real_clis.agents import RealAgent, agents
from tests.real_clis.command_lines import recorded
from tests.real_clis.workplace import CALLERS, opened

FAKE = Path(support.__file__).with_name("fake_agent.py")
UNKNOWN = RecordingProvider()  # nobody asks it


class FakeAgent(RealAgent):
    """In the place of a real program."""

    answer = "APPROVED"

    def recorded(self, log: Path) -> list[str]:
        return [sys.executable, str(FAKE), self.speaks, str(log), self.answer]


class FakeJudge(FakeAgent):
    answer = "YES"


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("speaks", ["claude-code", "codex", "opencode"])
async def test_the_words_are_those_that_the_real_program_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speaks: str, caller: str
) -> None:
    if caller.startswith("readonly") and isinstance(find_sandbox(), NoSandbox):
        pytest.skip("no sandbox here, so that agents are offered no read-only shell")
    UNKNOWN.url = "http://127.0.0.1:9"
    kind = FakeJudge if caller == "judge" else FakeAgent
    like = agents(UNKNOWN.url)[speaks]
    agent = kind(like.speaks, like.program, like.model, like.environ)
    async with opened(tmp_path, agent, UNKNOWN, monkeypatch) as workplace:
        end = await workplace.work(caller)
        assert end["kind"] == "completed", end
        assert workplace.words == recorded(speaks, caller)["words"]


@pytest.mark.parametrize("model", ["--attach=http://evil.test:4096", "--share", "-f/etc/passwd", "-"])
@pytest.mark.parametrize("speaks", ["claude-code", "codex", "opencode"])
async def test_a_model_that_the_program_could_take_for_an_option_starts_nobody(
    tmp_path: Path, speaks: str, model: str
) -> None:
    """Nobody was asked about that option: opencode would send the message elsewhere, or a file with it."""
    log = tmp_path / "log"
    own = {"kind": "agent-cli", "cli": [sys.executable, str(FAKE), speaks, str(log), "fine"], "speaks": speaks}
    runner = runner_for(speaks, {speaks: own}, ScriptedModels())
    with pytest.raises(Failure, match="cannot start with `-`"):
        await runner.run(Assignment("Do it.", folder=str(tmp_path), model=model))
    assert not log.exists()
