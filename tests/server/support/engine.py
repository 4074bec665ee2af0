"""The real engine in tests: scripted answers, and the end of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.processes import forked

#: Beside `flow.yaml` as `flow.answers.yaml`: three iterations, YES in the third.
ANSWERS = """\
answers:
  - when: {purpose: judge}
    say: ["NO", "NO", "YES"]
  - when: {step: write}
    say: [one risk, two risks, three risks]
"""
#: The same, but it takes its time and never says YES.
SLOW = ANSWERS.replace("answers:", "delay: 0.3\nanswers:", 1).replace('["NO", "NO", "YES"]', '["NO"]')


def stop_engine(data: Path) -> None:
    command = [sys.executable, "-m", "loop_ls", "engine", "stop", "--data-dir", str(data)]
    forked.run(command, 60, stdout=subprocess.DEVNULL)


def engine_process(data: Path) -> int:
    """The process that has the data folder now."""
    found: int = json.loads((data / "engine.json").read_text())["pid"]
    return found
