"""The script of the build server: red where tests did not run to a result, and nothing passes by an old report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "pytest"
PYTHON = f"{sys.executable} -m pytest -p no:cacheprovider"


def ran(folder: Path, command: str) -> int:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins are most of the time that these small runs take
    words = ["bash", str(SCRIPT), "suite", "bash", "-euo", "pipefail", "-c", command]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, timeout=100, check=False).returncode


def project(tmp_path: Path, text: str) -> Path:
    (tmp_path / "test_it.py").write_text(text, "utf-8")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(shutil.which(sys.executable) or sys.executable)
    return tmp_path


def test_what_passes_is_green(tmp_path: Path) -> None:
    assert ran(project(tmp_path, "def test_a(): pass\n"), PYTHON) == 0


def test_a_command_that_breaks_before_the_tests_is_red_whatever_an_earlier_run_left(tmp_path: Path) -> None:
    folder = project(tmp_path, "def test_a(): assert False\n")
    assert ran(folder, PYTHON) == 1
    (folder / "test_it.py").write_text("def test_a(): pass\n", "utf-8")
    assert ran(folder, f"false && {PYTHON}") == 1


def test_no_test_at_all_is_red(tmp_path: Path) -> None:
    assert ran(project(tmp_path, ""), PYTHON) == 1


def test_a_test_that_fails_twice_is_red_and_named(tmp_path: Path) -> None:
    folder = project(tmp_path, "def test_a(): assert False\n")
    assert ran(folder, PYTHON) == 1
    assert "test_a" in (folder / ".ci-reports" / "second-tries.txt").read_text("utf-8")


def test_many_failures_are_red_at_once(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_a(n): assert False\n"
    folder = project(tmp_path, text)
    assert ran(folder, PYTHON) == 1
    assert not (folder / ".ci-reports" / "second-tries.txt").exists()
