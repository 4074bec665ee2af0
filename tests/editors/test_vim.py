"""A person in Vim with ALE and the set-up of the documentation, on the screen of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import HERE, installed
from editors_flow import write_flow, write_helper
from editors_terminal import Terminal


@pytest.fixture
def vim(editor_environment: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    installed("tmux")
    setup = tmp_path / "vimrc"
    plain = "set nocompatible nobackup noswapfile viminfo= noshowcmd encoding=utf-8\n"
    setup.write_text(plain + (HERE / "vim_ale.vim").read_text("utf-8"))
    write_helper(tmp_path / "poems")
    file = write_flow(tmp_path / "poems")
    answers = "providers:\n  scripted: {kind: scripted}\n  openai: {kind: scripted}\n"
    (tmp_path / "poems" / ".loop-ls.yaml").write_text(answers)
    # -N -u: no set-up of this machine; the file is named last
    terminal = Terminal(f"{installed('vim.nox')} -u {setup} {file}", {**editor_environment, "LANG": "C.UTF-8"})
    yield terminal
    terminal.close()


def choose(vim: Terminal, wanted: str) -> None:
    """Pick a code action at the cursor from ALE's menu."""
    vim.typed(":ALECodeAction\n")
    screen = vim.until(wanted, "Type number")
    [number] = re.findall(rf"^(\d+)[:.)] .*{re.escape(wanted)}", screen, re.MULTILINE)
    vim.typed(f"{number}\n")


def test_vim_shows_completes_hovers_and_runs(vim: Terminal) -> None:
    vim.until("Don't use")
    vim.typed('16Go        note: "{{lo')
    vim.keys("C-x", "C-o")
    vim.until("loop.history")
    vim.keys("C-e", "Escape")
    vim.typed("dd/loop.last\n:ALEHover\n")
    vim.until("iteration 1: empty")
    vim.typed(":pclose\n:silent! only\n11G")
    choose(vim, "Run loop `compose`")
    vim.until("condition met in iteration 2")
    choose(vim, "Open run")
    told = vim.until_it(lambda screen: "-transcript.md" in screen, "the place of the transcript")
    [path] = re.findall(r"See (\S+\.md)", told)
    assert "iteration 2 of 5: YES" in Path(path).read_text("utf-8")
