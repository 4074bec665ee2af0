"""A broken workflow that is mended in Neovim: the edit arrives as one undo step, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from editors_neovim import Neovim
from editors_rounds import BROKEN, MENDED, write_rounds

LIMIT = 90.0
LINES = "vim.api.nvim_buf_get_lines(1, 0, -1, false)"
START = (
    "lua vim.lsp.get_clients({bufnr = 1})[1]:request('workspace/executeCommand', "
    "{command = 'loopLs.enhance.start', arguments = {{uri = vim.uri_from_bufnr(1)}}}, "
    "function(err, answer) answered = answer or err end)"
)
LISTEN = (
    "lua ended = {} vim.lsp.handlers['loopLs/event'] = function(_, event) "
    "if event.kind == 'completed' then table.insert(ended, event.reason) end end"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_rounds(tmp_path / "reports")


@pytest.fixture
def nvim(open_in_neovim: Callable[..., Neovim], file: Path) -> Neovim:
    nvim = open_in_neovim(file, "neovim.lua")
    nvim.until(lambda: nvim.lua("#vim.lsp.get_clients({bufnr = 1})"), LIMIT)
    return nvim


def test_a_broken_workflow_converges_in_round_2(nvim: Neovim, file: Path) -> None:
    nvim.command(LISTEN)
    nvim.until(lambda: nvim.lua("vim.lsp.get_clients({bufnr = 1})[1].initialized or false"), LIMIT)
    nvim.command(START)
    assert nvim.until(lambda: nvim.lua("ended"), LIMIT) == ["converged"]
    assert nvim.lua(LINES) == MENDED.splitlines()
    assert file.read_text() == BROKEN  # a person saves it, nobody else
    nvim.command("undo")
    assert nvim.lua(LINES) == BROKEN.splitlines()
