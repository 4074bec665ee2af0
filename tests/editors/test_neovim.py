"""A person in Neovim, with the set-up of the README: findings, completion, hover, rename, the lens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from editors_flow import write_flow
from editors_neovim import Neovim

#: In Lua: the text of all floating windows.
FLOATS = (
    "vim.tbl_map(function(w) return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, false),"
    " '\\n') end, vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end,"
    " vim.api.nvim_list_wins()))"
)
LENSES = "#vim.lsp.codelens.get(vim.lsp.codelens.enable and {bufnr = 0} or 0)"


@pytest.fixture
def nvim(open_in_neovim: Callable[..., Neovim], tmp_path: Path) -> Neovim:
    nvim = open_in_neovim(write_flow(tmp_path / "poems"), "neovim.lua")
    nvim.until(lambda: diagnostics(nvim))
    return nvim


def diagnostics(nvim: Neovim) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = nvim.lua("vim.diagnostic.get(0)")
    return found


def line(nvim: Neovim, number: int) -> str:
    found: str = nvim.lua(f"vim.fn.getline({number})")
    return found


def test_findings_come_and_go(nvim: Neovim) -> None:
    assert any(one["code"] == "WF702" and one["lnum"] == 17 for one in diagnostics(nvim))
    nvim.keys('18G0f"C"The critic says ACCEPTED"<Esc>')
    nvim.until(lambda: "WF702" not in [one["code"] for one in diagnostics(nvim)])


def test_variables_are_offered_while_one_types(nvim: Neovim) -> None:
    nvim.keys('16Gonote: "{{loop.h')
    nvim.until(lambda: "loop.history" in [one["abbr"] for one in nvim.lua("vim.fn.complete_info({'items'})")["items"]])
    nvim.keys("<C-y><Esc>")
    nvim.until(lambda: "{{loop.history}}" in line(nvim, 17))


def test_hover_tells_what_a_variable_is(nvim: Neovim) -> None:
    nvim.keys("16G0/loop.last<CR>K")
    [text] = nvim.until(lambda: nvim.lua(FLOATS))
    assert "iteration 1: empty" in text


def test_rename_changes_every_use(nvim: Neovim) -> None:
    nvim.keys("11G$")
    nvim.command("lua vim.lsp.buf.rename('write')")
    nvim.until(lambda: line(nvim, 11) == "  - name: write")
    assert line(nvim, 20) == "    needs: [write]"
    assert line(nvim, 21) == '    run: "A title for {{write}}"'


def test_the_lens_runs_the_loop(nvim: Neovim) -> None:
    nvim.command(
        "lua ended = {} vim.lsp.handlers['loopLs/event'] = function(_, event) "
        "if event.kind == 'completed' then table.insert(ended, event.reason) end end"
    )
    nvim.until(lambda: nvim.lua(LENSES))
    nvim.keys("11G")
    nvim.command("lua vim.ui.select = function(items, _, chosen) chosen(items[1], 1) end")
    nvim.keys("<Bslash>l")
    assert nvim.until(lambda: nvim.lua("ended")) == ["condition_met"]
