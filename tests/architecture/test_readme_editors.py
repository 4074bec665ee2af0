"""The set-up that the README gives for an editor is the one that is tested in that editor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("language", "file"), [("lua", "neovim.lua"), ("elisp", "emacs.el")])
def test_the_readme_shows_the_tested_set_up(language: str, file: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    [shown] = re.findall(rf"^```{language}\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert shown == (ROOT / "tests" / "editors" / file).read_text("utf-8")
