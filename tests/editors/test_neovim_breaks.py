"""What goes wrong around an editor: killed servers and engines, two windows, odd texts, files that are gone."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import stop_engine
from editors_flow import ANSWERS, WORKFLOW, write_flow, write_helper
from editors_neovim import Neovim

Open = Callable[..., Neovim]
CURRENT = ("neovim.lua", "neovim_more.lua")
LENSES = "vim.lsp.codelens.get(vim.lsp.codelens.enable and {bufnr = 1} or 1)"
#: Slow enough to be caught while it runs.
SLOW = "delay: 1\n" + ANSWERS


def lenses(nvim: Neovim) -> list[str]:
    return [one["command"]["title"] for one in nvim.lua(LENSES)]


def codes(nvim: Neovim) -> list[str]:
    return [one["code"] for one in nvim.lua("vim.diagnostic.get(1)")]


def state(nvim: Neovim) -> str | None:
    """How the newest run that was told of stands."""
    return next(reversed(list(nvim.run_state().values())), None)


def text(nvim: Neovim) -> str:
    lines: list[str] = nvim.lua("vim.api.nvim_buf_get_lines(1, 0, -1, false)")
    return "\n".join(lines) + "\n"


def floats(nvim: Neovim) -> list[str]:
    found: list[str] = nvim.lua(
        "vim.tbl_map(function(w) return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, "
        "false), '\\n') end, vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, "
        "vim.api.nvim_list_wins()))"
    )
    return found


def test_a_killed_server_comes_back_with_the_file_and_shows_the_run_that_went_on(
    open_in_neovim: Open, tmp_path: Path
) -> None:
    file = write_flow(tmp_path / "poems")
    file.with_name("haiku.answers.yaml").write_text(SLOW)
    nvim = open_in_neovim(file, *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by()
    nvim.keys("11G<Bslash>l")
    nvim.until(lambda: state(nvim))
    [server] = nvim.servers()
    os.kill(server, signal.SIGKILL)
    nvim.until(lambda: not nvim.lua("#vim.lsp.get_clients() > 0"))
    nvim.command("edit")
    nvim.until(lambda: "WF702" in codes(nvim))
    nvim.until(lambda: state(nvim) == "completed condition_met")
    nvim.until(lambda: "Open run" in lenses(nvim))


def test_a_killed_engine_is_started_again_and_the_run_goes_on_and_says_so(
    open_in_neovim: Open, tmp_path: Path, server_program: str
) -> None:
    data, file = tmp_path / "own", write_flow(tmp_path / "poems")
    file.with_name("haiku.answers.yaml").write_text("delay: 2\n" + ANSWERS)
    nvim = open_in_neovim(file, *CURRENT, LOOP_LS_DATA_DIR=str(data))
    try:
        nvim.until(lambda: "▶ Run loop" in lenses(nvim))
        nvim.answer_by()
        nvim.keys("11G<Bslash>l")
        nvim.until(lambda: any("iteration" in one and "≤" not in one for one in lenses(nvim)))
        os.kill(json.loads((data / "engine.json").read_text())["pid"], signal.SIGKILL)
        nvim.until(lambda: state(nvim) == "completed condition_met")
        nvim.until(lambda: any("recovered after a restart" in one for one in lenses(nvim)))
    finally:
        nvim.close()
        stop_engine(server_program, data)


def test_two_windows_ask_and_the_first_answer_counts(open_in_neovim: Open, tmp_path: Path) -> None:
    file = write_helper(tmp_path / "poems")
    first, second = open_in_neovim(file, *CURRENT), open_in_neovim(file, *CURRENT)
    for one in (first, second):
        one.until(lambda one=one: "▶ Run loop" in lenses(one))
    second.answer_by("(puts it aside)")
    first.answer_by("a haiku", "(puts it aside)")
    first.keys("1G<Bslash>l")
    second.until(lambda: "✓ Approve" in lenses(second))
    second.answer_by("Approve")
    second.keys("1G<Bslash>l")
    for one in (first, second):
        one.until(lambda one=one: state(one) == "completed approved")
        one.until(lambda one=one: "▶ Run loop again" in lenses(one))


def test_a_file_that_is_deleted_while_its_loop_runs(open_in_neovim: Open, tmp_path: Path) -> None:
    file = write_flow(tmp_path / "poems")
    file.with_name("haiku.answers.yaml").write_text(SLOW)
    nvim = open_in_neovim(file, *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("Open run")
    nvim.keys("11G<Bslash>l")
    nvim.until(lambda: state(nvim))
    file.unlink()
    nvim.until(lambda: state(nvim) == "completed condition_met")
    nvim.until(lambda: "Open run" in lenses(nvim))
    nvim.keys("11G<Bslash>l")
    buffers = "vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())"
    nvim.until(lambda: any("-transcript.md" in one for one in nvim.lua(buffers)))


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_signs_outside_of_the_plane_and_ends_of_lines(open_in_neovim: Open, tmp_path: Path, end: str) -> None:
    """Columns count bytes, units or characters, whatever stands before; a rename keeps every other byte."""
    odd = (
        WORKFLOW.replace("subject: frogs", 'subject: "🐸é🐸 frogs"')
        .replace('before: "{{loop.last.output}}"', 'before: "🐸🐸 {{loop.last.output}}"')
        .replace('"A title for {{compose}}"', '"𝔸 title 🐸 for {{compose}}"')
    )
    file = write_flow(tmp_path / "poems")
    file.write_bytes(odd.replace("\n", end).encode())
    nvim = open_in_neovim(file, *CURRENT)
    nvim.until(lambda: "WF702" in codes(nvim))
    [found] = [one for one in nvim.lua("vim.diagnostic.get(1)") if one["code"] == "WF702"]
    assert (found["lnum"], found["col"]) == (17, odd.splitlines()[17].index("{{loop.output}}"))
    nvim.keys("16G0/last.output<CR>K")
    assert "iteration 1: empty" in nvim.until(lambda: floats(nvim))[0]
    nvim.keys("<Esc>11G$")
    nvim.command("lua vim.lsp.buf.rename('write')")
    renamed = (
        odd.replace("name: compose", "name: write").replace("[compose]", "[write]").replace("{{compose}}", "{{write}}")
    )
    nvim.until(lambda: text(nvim) == renamed)
    nvim.keys("16G$i {{loop.h")
    nvim.until(lambda: "loop.history" in [one["abbr"] for one in nvim.lua("vim.fn.complete_info({'items'})")["items"]])
    nvim.keys("<C-y><Esc>")
    wanted = renamed.replace('{{loop.last.output}}"', '{{loop.last.output}} {{loop.history}}"')
    nvim.until(lambda: text(nvim) == wanted)
    nvim.command("write")
    assert file.read_bytes() == wanted.replace("\n", end).encode()


def test_a_buffer_without_a_name_harms_nothing(open_in_neovim: Open, tmp_path: Path) -> None:
    """Neovim calls it `file://` and looks for its findings under `/`, so there is nothing to see there."""
    nvim = open_in_neovim(write_flow(tmp_path / "poems"), *CURRENT)
    nvim.until(lambda: "WF702" in codes(nvim))
    nvim.command("enew")
    nvim.command("set filetype=yaml paste")
    nvim.keys("i" + WORKFLOW.replace("\n", "<CR>") + "nmae: x<Esc>")
    nvim.command(
        "lua vim.lsp.get_clients()[1]:request('workspace/executeCommand', {command = 'loopLs.run', "
        "arguments = {{uri = vim.uri_from_bufnr(0)}}}, function(_, answer) answered = answer end)"
    )
    answer: dict[str, Any] = nvim.until(lambda: nvim.lua("answered"))
    assert answer["ok"] is False
    nvim.command("buffer! 1")
    nvim.keys('18G0f"C"The critic says ACCEPTED"<Esc>')
    nvim.until(lambda: "WF702" not in codes(nvim))


def test_a_file_typed_from_nothing_ends_as_it_would_have_been_read(open_in_neovim: Open, tmp_path: Path) -> None:
    folder = tmp_path / "poems"
    write_flow(folder)
    (folder / "haiku.yaml").write_text("")
    nvim = open_in_neovim(folder / "haiku.yaml", *CURRENT)
    nvim.until(lambda: nvim.lua("#vim.lsp.get_clients() > 0"))
    nvim.command("set paste")
    third = len(WORKFLOW) // 3
    nvim.keys("i")
    for piece in (WORKFLOW[:third], WORKFLOW[third : 2 * third], WORKFLOW[2 * third :]):
        nvim.keys(piece.replace("\n", "<CR>"))
        nvim.until(lambda piece=piece: text(nvim).endswith(piece + "\n"))
    nvim.keys("<BS><Esc>")
    nvim.until(lambda: text(nvim) == WORKFLOW)
    other = open_in_neovim(write_flow(tmp_path / "other"), *CURRENT)
    wanted = other.until(lambda: sorted(codes(other)))
    nvim.until(lambda: sorted(codes(nvim)) == wanted)
    assert len(nvim.servers()) == 1
