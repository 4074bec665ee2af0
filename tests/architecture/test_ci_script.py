"""The script of the build server: red where tests did not run to a result, and nothing passes by an old report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parents[2] / ".ci"
PYTHON = f"{sys.executable} -m pytest -p no:cacheprovider"
PASSES, FAILS = "def test_a(): pass\n", "def test_a(): assert False\n"


def ran(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins are most of the time that these small runs take
    words = ["bash", str(CI / "pytest"), "suite", "bash", "-euo", "pipefail", "-c", command]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False)


def project(folder: Path, text: str) -> Path:
    (folder / "test_it.py").write_text(text, "utf-8")
    return folder


def test_what_passes_is_green(tmp_path: Path) -> None:
    assert ran(project(tmp_path, PASSES), PYTHON).returncode == 0


def test_a_command_that_breaks_before_the_tests_is_red_whatever_an_earlier_run_left(tmp_path: Path) -> None:
    folder = project(tmp_path, PASSES)
    assert ran(folder, PYTHON).returncode == 0
    assert ran(folder, f"false && {PYTHON}").returncode == 1
    assert ran(folder, "true").returncode == 1


@pytest.mark.parametrize(
    "text", ["", FAILS, "import pytest\n@pytest.mark.skip\n" + PASSES], ids=["none", "fails", "skips"]
)
def test_no_test_that_passed_is_red(tmp_path: Path, text: str) -> None:
    assert ran(project(tmp_path, text), PYTHON).returncode == 1


def test_a_test_that_would_pass_at_a_second_try_is_red(tmp_path: Path) -> None:
    flaky = "from pathlib import Path\ndef test_a():\n    tried = Path('tried')\n    was = tried.exists()\n"
    told = ran(project(tmp_path, flaky + "    tried.touch()\n    assert was\n"), PYTHON)
    assert told.returncode == 1 and "1 failed" in told.stdout
    assert (tmp_path / "tried").exists()


def test_skipped_tests_are_listed_with_their_reason(tmp_path: Path) -> None:
    text = f"import pytest\n{PASSES}@pytest.mark.skip(reason='no such disk')\ndef test_b(): pass\n"
    told = ran(project(tmp_path, text), PYTHON)
    assert told.returncode == 0 and "skipped: test_it::test_b: no such disk" in told.stdout


def test_a_run_whose_first_part_fails_is_red_and_does_nothing_more(tmp_path: Path) -> None:
    """The script itself, with parts in its place that leave a trace."""
    folder = tmp_path / "clone"
    (folder / ".ci").mkdir(parents=True)
    (folder / ".ci" / "run").write_bytes((CI / "run").read_bytes())
    for name in sorted(path.name for path in CI.iterdir() if path.name != "run"):
        part = folder / ".ci" / name
        part.write_text(f"#!/bin/sh\necho {name} >> {folder}/trace\n" + ("exit 1\n" if name == "bare" else ""))
        part.chmod(0o755)
    (folder / "README.md").write_text("<!-- command: tests -->\n```sh\nfalse\n```\n<!-- end -->\n")
    (folder / ".ci" / "pytest").write_text((CI / "pytest").read_text())
    told = subprocess.run(
        ["bash", str(folder / ".ci" / "run")], capture_output=True, text=True, timeout=100, check=False
    )
    assert told.returncode != 0, told.stdout
    assert (folder / "trace").read_text().split()[-1] == "bare"
