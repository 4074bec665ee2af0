"""Pages for developers: every file, folder and module that they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md", *sorted((ROOT / "docs").rglob("[a-z]*.md"))]
TOPS = ("loop_ls", "tests", "vscode-client", "schemas", "scripts", "docs", "deploy", ".ci")

_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, TOPS))})/[\w./-]*")
_MODULE = re.compile(r"python -m ((?:loop_ls|tests)[\w.]*)")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def places(text: str) -> set[str]:
    """What is named inside code marks and fences, as paths from the root."""
    code = [*_CODE.findall(text), *re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)]
    named = {path.rstrip(".") for one in code for path in _PATH.findall(one) if not one.count("<")}
    modules = {module.replace(".", "/") for one in code for module in _MODULE.findall(one)}
    return named | modules


def there(place: str) -> bool:
    path = ROOT / place
    return path.exists() or path.with_name(path.name + ".py").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert sorted(place for place in places(text) if not there(place)) == []
    assert sorted(link for link in _LINK.findall(text) if not (page.parent / link).exists()) == []


def test_a_place_that_is_gone_is_noticed() -> None:
    named = places("see `loop_ls/rules/engine/checker.py`, `loop_ls/no_such_room/` and `python -m loop_ls.nowhere`")
    assert sorted(place for place in named if not there(place)) == ["loop_ls/no_such_room/", "loop_ls/nowhere"]


def test_the_table_of_folders_has_every_room() -> None:
    text = (ROOT / "docs" / "dev" / "architecture.md").read_text("utf-8")
    rooms = [
        path
        for top in ("", "engine/")
        for path in (ROOT / "loop_ls" / top).iterdir()
        if (path / "__init__.py").exists()
    ]
    missing = [
        path.relative_to(ROOT).as_posix() for path in rooms if f"`{path.relative_to(ROOT).as_posix()}/`" not in text
    ]
    assert sorted(missing) == []
