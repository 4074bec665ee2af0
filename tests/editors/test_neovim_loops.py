"""Loops in Neovim without any plugin of ours: started, answered, read; in a current one and in Debian's 0.7."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from editors_flow import write_flow, write_helper
from editors_neovim import Neovim

Open = Callable[..., Neovim]
CURRENT = ("neovim.lua", "neovim_more.lua")
OLDER = ("neovim_older.lua",)
LENSES = "vim.lsp.codelens.get(vim.lsp.codelens.enable and {bufnr = 1} or 1)"
BUFFERS = (
    "vim.tbl_map(function(b) return vim.api.nvim_buf_get_name(b) .. '\\n' .. "
    "table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\\n') end, vim.api.nvim_list_bufs())"
)


def lenses(nvim: Neovim) -> list[str]:
    return [one["command"]["title"] for one in nvim.lua(LENSES)]


def ended(nvim: Neovim) -> str | None:
    """How the one run ended."""
    return next((one for one in nvim.run_state().values() if one.split()[0] in ("completed", "failed")), None)


def transcript(nvim: Neovim) -> str | None:
    return next((one for one in nvim.lua(BUFFERS) if "-transcript.md\n" in one), None)


def test_a_loop_is_run_and_read_by_its_lenses(open_in_neovim: Open, tmp_path: Path) -> None:
    nvim = open_in_neovim(write_flow(tmp_path / "poems"), *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("Open run")
    nvim.keys("11G<Bslash>l")  # the only command there: it runs
    assert nvim.until(lambda: ended(nvim)) == "completed condition_met"
    nvim.until(lambda: "Open run" in lenses(nvim))
    nvim.keys("11G<Bslash>l")
    text = nvim.until(lambda: transcript(nvim))
    assert "iteration 1 of 5: NO" in text
    assert "iteration 2 of 5: YES" in text
    assert "old pond" in text


def test_an_assistant_asks_for_its_message_and_is_approved_by_the_question(
    open_in_neovim: Open, tmp_path: Path
) -> None:
    nvim = open_in_neovim(write_helper(tmp_path / "poems"), *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("a haiku", "Show output", "Approve")
    nvim.keys("1G<Bslash>l")
    assert nvim.until(lambda: ended(nvim)) == "completed approved"
    message, first, second = nvim.asked()
    assert message == "message: "
    assert "waits for your decision on iteration 1: old pond" in first
    assert first.endswith("Approve | Reject | Show output")
    assert first == second
    assert any(one.endswith(".md\n```text\nold pond\n```") for one in nvim.lua(BUFFERS))


def test_what_was_put_aside_is_rejected_by_the_lens(open_in_neovim: Open, tmp_path: Path) -> None:
    nvim = open_in_neovim(write_helper(tmp_path / "poems"), *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("a haiku", "(nothing)")
    nvim.keys("1G<Bslash>l")
    nvim.until(lambda: "✗ Reject" in lenses(nvim))
    nvim.until(lambda: len(nvim.asked()) == 2)
    nvim.answer_by("Reject")
    nvim.keys("1G<Bslash>l")
    assert nvim.until(lambda: ended(nvim)) == "failed rejected"


def test_changes_are_asked_for_and_then_approved_by_commands(open_in_neovim: Open, tmp_path: Path) -> None:
    nvim = open_in_neovim(write_helper(tmp_path / "poems", revise=True), *CURRENT)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("a haiku")
    nvim.keys("1G<Bslash>l")
    nvim.until(lambda: len(nvim.asked()) == 2)
    nvim.command("LoopRevise make the end rhyme")
    again = nvim.until(lambda: nvim.asked()[2:])[0]
    assert "waits for your decision on iteration 2: a frog leaps in" in again
    nvim.command("LoopApprove")
    assert nvim.until(lambda: ended(nvim)) == "completed approved"


def test_an_older_neovim_runs_answers_and_tells_where_the_transcript_is(open_in_neovim: Open, tmp_path: Path) -> None:
    nvim = open_in_neovim(write_flow(tmp_path / "poems"), *OLDER, older=True)
    assert nvim.lua("vim.version().minor") == 7
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    assert any(one["code"] == "WF702" for one in nvim.until(lambda: nvim.lua("vim.diagnostic.get(0)")))
    nvim.answer_by("Run loop", "Open run")
    nvim.keys("11G<Bslash>l")
    assert nvim.until(lambda: ended(nvim)) == "completed condition_met"
    nvim.until(lambda: "Open run" in lenses(nvim))
    nvim.keys("11G<Bslash>l")
    told = nvim.until(lambda: [one for one in nvim.lua("told") if "transcript" in one])[0]
    assert "iteration 2 of 5: YES" in Path(told.removeprefix("See ").rstrip(".")).read_text("utf-8")


def test_an_older_neovim_answers_a_question(open_in_neovim: Open, tmp_path: Path) -> None:
    nvim = open_in_neovim(write_helper(tmp_path / "poems"), *OLDER, older=True)
    nvim.until(lambda: "▶ Run loop" in lenses(nvim))
    nvim.answer_by("Approve")
    nvim.command(
        "lua vim.lsp.buf_request(0, 'workspace/executeCommand', {command = 'loopLs.run', arguments = "
        "{{uri = vim.uri_from_bufnr(1), message = 'a haiku'}}}, function() end)"
    )
    assert nvim.until(lambda: ended(nvim)) == "completed approved"
    assert "1. Approve | 2. Reject | 3. Show output" in nvim.asked()[0]
