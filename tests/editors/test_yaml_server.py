"""The real yaml-language-server beside ours, in Neovim: no `Unable to load schema`, and nothing said twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import needed
from editors_flow import CALLEE, SETTINGS
from editors_neovim import Neovim

Open = Callable[..., Neovim]
PLAIN = ("neovim.lua", "neovim_yamlls_as_it_comes.lua")
BESIDE = (*PLAIN, "neovim_yamlls.lua")
#: Wrong in every way that both can see: syntax, a repeated key, an alias of nothing, a key that there is not.
WRONG = CALLEE.replace("description: A draft.", "description: A draft.\ndescription: Two drafts.") + (
    "  - name: last\n    rum: x\n    run: *nothing\n    needs: [draft\n"
)
NONE = "# yaml-language-server: $schema=none\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    needed("LOOP_LS_YAML_SERVER")
    needed("LOOP_LS_NODE")
    folder = tmp_path / "poems"
    folder.mkdir()
    (folder / ".loop-ls.yaml").write_text(SETTINGS)
    (folder / "plain.yaml").write_text("a: 1\na: 2\n")
    return folder


def write(folder: Path, text: str) -> Path:
    (folder / "one_draft.yaml").write_text(text)
    return folder / "one_draft.yaml"


def found(nvim: Neovim, buffer: int = 1) -> list[dict[str, Any]]:
    diagnostics: list[dict[str, Any]] = nvim.lua(f"vim.diagnostic.get({buffer})")
    return diagnostics


def sources(nvim: Neovim, buffer: int = 1) -> set[str]:
    return {one["source"] for one in found(nvim, buffer)}


def in_a_plain_file(nvim: Neovim, folder: Path) -> list[dict[str, Any]]:
    """What is said of a file that is none of ours: the YAML server runs, and says it."""
    nvim.command(f"split {folder / 'plain.yaml'}")
    return nvim.until(lambda: found(nvim, nvim.lua("vim.fn.bufnr('plain.yaml')")))


def test_without_an_arrangement_the_schema_is_missed(open_in_neovim: Open, folder: Path) -> None:
    nvim = open_in_neovim(write(folder, CALLEE), *PLAIN)
    nvim.until(lambda: "YAML" in sources(nvim))
    assert any(one["message"].startswith("Unable to load schema") for one in found(nvim))


def test_UP_39_nothing_is_missed_and_nothing_said_twice(open_in_neovim: Open, folder: Path) -> None:
    nvim = open_in_neovim(write(folder, WRONG), *BESIDE)
    nvim.until(lambda: "loop-ls" in sources(nvim))
    [other] = in_a_plain_file(nvim, folder)
    assert (other["source"], other["message"]) == ("YAML", "Map keys must be unique")
    assert sources(nvim) == {"loop-ls"}
    said = [one["code"] for one in found(nvim)]
    assert {"WF001", "WF005", "WF006"} <= set(said)
    assert nvim.lua("#vim.lsp.get_clients({bufnr = 1})") == 1


def test_a_file_that_becomes_a_workflow_is_left_by_the_other_server(open_in_neovim: Open, folder: Path) -> None:
    nvim = open_in_neovim(write(folder, "name: draft\nname: again\n"), *BESIDE)
    nvim.until(lambda: sources(nvim) == {"YAML"})
    nvim.keys('ggO$schema: "workflow/v2.0"<Esc>')
    nvim.until(lambda: sources(nvim) == {"loop-ls"})
    assert "WF005" in [one["code"] for one in found(nvim)]


def test_with_a_comment_both_can_stay(open_in_neovim: Open, folder: Path) -> None:
    """Who wants the other server, too: a first line for it, and our two rules about plain YAML off."""
    (folder / ".loop-ls.yaml").write_text(SETTINGS + 'rules: {WF001: "off", WF005: "off"}\n')
    nvim = open_in_neovim(write(folder, NONE + WRONG), *PLAIN)
    nvim.until(lambda: sources(nvim) == {"loop-ls", "YAML"})
    said = [one["message"] for one in found(nvim)]
    assert not [one for one in said if "schema" in one]
    places = Counter(one["lnum"] for one in found(nvim) if one["severity"] == 1)
    assert set(places.values()) == {1}, found(nvim)
    assert "WF006" in [one["code"] for one in found(nvim)]
