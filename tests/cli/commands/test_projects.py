"""One project of a file: `check`, `estimate` and `run` go by the nearest settings, wherever they are called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main
from tests.cli.conftest import CliProject

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\ndescription: x\nexecution: {{provider: small, model: any}}\n"
LOOP = HEAD.format("polish") + 'loops:\n  - {name: l, workflow: draft, max_iterations: 2, until: "done"}\n'
DRAFT = HEAD.format("draft") + 'steps:\n  - {name: improve, run: "Improve {{input}}"}\n'
SETTINGS = "providers:\n  small: {kind: scripted, script: [{say: fine}], price: {input: 1, output: 1}}\n"


@pytest.fixture
def mono(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a project in `svc`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "svc" / "deep").mkdir(parents=True)
    (tmp_path / "svc" / ".loop-ls.yaml").write_text(SETTINGS + "rules: {WF701: error, WF103: 'off'}\n")
    (tmp_path / "svc" / "polish.yaml").write_text(LOOP)
    (tmp_path / "svc" / "draft.yaml").write_text(DRAFT)
    (tmp_path / "svc" / "deep" / "other.yaml").write_text(LOOP.replace("polish", "other"))
    return tmp_path


def told(capfd: pytest.CaptureFixture[str], *words: str) -> list[tuple[str, str, str]]:
    main(["check", "--format", "json", *words])
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return [(one["path"].rpartition("/")[2], one["rule"], one["severity"]) for one in found["findings"]]


@pytest.mark.parametrize("words", [(), ("svc",), ("svc/polish.yaml", "svc/deep/other.yaml"), ("--root", ".", "svc")])
def test_check_says_the_same_from_every_folder(
    mono: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert sorted(told(capfd, *words)) == [("other.yaml", "WF701", "error"), ("polish.yaml", "WF701", "error")]


def test_check_below_a_project_sees_all_of_it(
    mono: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mono / "svc" / "deep")
    assert told(capfd) == [("other.yaml", "WF701", "error")]  # `draft` lies above, and is found


def test_settings_files_below_are_checked_too(mono: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (mono / "svc" / ".loop-ls.yaml").write_text("nonsense: 1\n")
    assert (".loop-ls.yaml", "LS002", "warning") in told(capfd)


def test_estimate_takes_the_prices_of_the_project(mono: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (("svc/polish.yaml",), ("--root", ".", "svc/polish.yaml")):
        assert main(["estimate", "--json", *words]) == 0
        assert json.loads(capfd.readouterr().out)["usd"] is not None


@pytest.mark.parametrize("price", ["{}", "{input: 3}", "{input: -3, output: -15}", "{input: 3, outptu: 15}"])
@pytest.mark.parametrize("address", ["https://x.example/v1", "http://127.0.0.1:9/v1"])
def test_a_faulty_price_is_no_price_and_nothing_is_said_to_be_free(
    mono: Path, capfd: pytest.CaptureFixture[str], price: str, address: str
) -> None:
    own = f"providers:\n  small: {{kind: openai, baseUrl: '{address}', price: {price}}}\n"
    (mono / "svc" / ".loop-ls.yaml").write_text(own)
    assert main(["estimate", "svc/polish.yaml"]) == 0
    shown = capfd.readouterr().out
    assert "Unknown price for `small` `any`" in shown
    assert "$" not in shown and "no cost" not in shown
    assert (".loop-ls.yaml", "LS008", "error") in told(capfd)


def test_a_run_goes_by_the_same_settings(alone: CliProject) -> None:
    alone.write("svc/.loop-ls.yaml", SETTINGS + "rules: {WF701: error}\n")
    alone.write("svc/polish.yaml", LOOP)
    alone.write("svc/draft.yaml", DRAFT)
    for words in ((), ("--root", ".")):
        done = alone.call("run", "svc/polish.yaml", "--input", "x", *words)
        assert done.returncode == 2
        assert "WF701" in done.stderr
    alone.write("svc/.loop-ls.yaml", SETTINGS + "rules: {WF701: 'off'}\n")
    done = alone.call("run", "svc/polish.yaml", "--input", "x", "--root", ".")
    assert "small" not in done.stderr
    assert done.returncode == 3, done.stderr  # the limit: the answers never meet the condition


def test_the_folder_of_the_demo_is_clean_after_it(alone: CliProject) -> None:
    done = alone.call("demo", "--all")
    assert done.returncode == 0, done.stderr
    for words in (("loop-ls-demo",), ("loop-ls-demo/rounds",)):
        checked = alone.call("check", *words)
        assert (checked.returncode, len(checked.stdout.splitlines())) == (0, 1), checked.stdout
