"""A broken workflow that is mended in Neovim: the edit arrives as one undo step, and nothing else changes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import stop_engine
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


#: The edit has arrived, and Neovim answers nothing any more: before it took it, or after.
HANGS = (
    "lua vim.lsp.handlers['workspace/applyEdit'] = function(_, asked, context) {taken} "
    "vim.fn.writefile({{'here'}}, '{mark}') while true do vim.uv.sleep(1000) end end"
)
TAKES = "vim.lsp.util.apply_workspace_edit(asked.edit, vim.lsp.get_client_by_id(context.client_id).offset_encoding)"


@pytest.mark.parametrize("taken", ["", TAKES], ids=["before it took the edit", "after it took the edit"])
def test_a_neovim_that_is_killed_before_it_answers_leaves_the_edit_to_the_next_one(
    open_in_neovim: Callable[..., Neovim], server_program: str, tmp_path: Path, file: Path, taken: str
) -> None:
    """Nobody saved anything: the next Neovim has the old text, is sent the same edit, and the loop goes on. What
    was paid is not paid again."""
    settings = file.with_name(".loop-ls.yaml")
    settings.write_text(settings.read_text() + "enhance: {ackTimeoutSeconds: 120}\n")
    data, mark = tmp_path / "data", tmp_path / "mark"
    own = {"LOOP_LS_DATA_DIR": str(data)}
    try:
        first = open_in_neovim(file, "neovim.lua", **own)
        first.until(lambda: first.lua("(vim.lsp.get_clients({bufnr = 1})[1] or {}).initialized or false"), LIMIT)
        first.command(HANGS.format(taken=taken, mark=mark))
        first.command(START)
        first.until(mark.exists, LIMIT)
        first.kill()
        assert file.read_text() == BROKEN
        second = open_in_neovim(file, "neovim.lua", **own)
        second.until(lambda: second.lua(LINES) == MENDED.splitlines(), LIMIT)

        def asked(*words: str) -> Any:
            command = [server_program, "runs", *words, "--json"]
            told = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, cwd=file.parent, env={**os.environ, **own}
            )
            return told.stdout

        def run() -> Any:
            [only] = json.loads(asked())["runs"]
            return only if "endedAt" in only else None

        ended = second.until(run, LIMIT)
        assert (ended["status"], ended["reason"]) == ("completed", "converged")
        kinds = [json.loads(line)["kind"] for line in asked("events", ended["runId"]).splitlines()]
        assert (kinds.count("round_started"), kinds.count("planner_started")) == (2, 1)
        assert (kinds.count("edit_sent"), kinds.count("edit_acknowledged")) == (1, 1)
        second.command("undo")
        assert second.lua(LINES) == BROKEN.splitlines()
        assert file.read_text() == BROKEN
    finally:
        stop_engine(server_program, data)
