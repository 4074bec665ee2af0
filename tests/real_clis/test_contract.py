"""What the fakes refuse is what the real programs refuse: the same table, tried with both."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.providers.support.recording_provider import RecordingProvider
from tests.engine.runners.support.cli_contract import REFUSED
from tests.real_clis.agents import agents
from tests.real_clis.conftest import installed


@pytest.mark.parametrize("why", REFUSED)
def test_the_real_program_refuses_it_without_asking_its_model(
    provider: RecordingProvider, tmp_path: Path, why: str
) -> None:
    speaks, words, message = REFUSED[why]
    agent = installed(agents(provider.url)[speaks])
    agent.write_files(tmp_path)
    command = [*agent.cli(), *words]
    environ = {**agent.environment(tmp_path), "IS_SANDBOX": "1"}
    ended = subprocess.run(
        command, input=message, text=True, capture_output=True, timeout=100, cwd=tmp_path, env=environ
    )
    assert ended.returncode != 0, ended
    assert not provider.requests
