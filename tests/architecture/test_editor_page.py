"""The set-ups that the page of editors gives are those that are tested in these editors."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from loop_ls.cli.commands.explain import EDITORS
from loop_ls.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TESTED = ROOT / "tests" / "editors"
PAGE = EDITORS.read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "file",
    [
        *("neovim.lua", "neovim_more.lua", "neovim_yamlls.lua", "neovim_older.lua"),
        *("emacs.el", "emacs_lsp.el", "vim_ale.vim", "kate.json"),
    ],
)
def test_the_page_shows_what_is_tested(file: str) -> None:
    text = (TESTED / file).read_text("utf-8")
    assert [shown for _, shown in BLOCK.findall(PAGE)].count(text) == 1, f"editors.md does not hold {file}"


def test_what_is_not_tested_says_so_and_can_be_read() -> None:
    tested = {path.read_text("utf-8") for path in TESTED.iterdir() if path.is_file()}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[2:]:
        name = section.partition("\n")[0]
        for language, text in BLOCK.findall(section):
            if text in tested:
                continue
            assert "Not tested by us" in section, name
            if language == "json":
                json.loads(text)
            elif language == "toml":
                tomllib.loads(text)


def test_the_page_can_be_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "editors"]) == 0
    assert capfd.readouterr().out == PAGE
