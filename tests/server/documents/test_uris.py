"""One document has one key, whatever the platform of the editor (UP-27)."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.server.documents import uris
from loop_ls.server.documents.folders import canonical


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("file:///c%3A/My%20Flows/a.yaml", "file:///C:/My Flows/a.yaml"),
        ("file:///d:/lists/%C3%BC%20x.json", "file:///D:/lists/ü x.json"),
        ("file:///home/a%2Bb/x.yaml", "file:///home/a+b/x.yaml"),
        ("FILE:///home/x.yaml", "file:///home/x.yaml"),
        ("vscode-remote://ssh-remote%2Bhost/w/a.yaml", "vscode-remote://ssh-remote+host/w/a.yaml"),
        ("file://Server/share/a.yaml", "file://server/share/a.yaml"),
    ],
)
def test_UP_27_two_spellings_are_one_document(a: str, b: str) -> None:
    assert uris.key(a) == uris.key(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("file:///home/A.yaml", "file:///home/a.yaml"),
        ("untitled:Untitled-1", "untitled:Untitled-2"),
        ("git:/w/a.yaml?HEAD", "git:/w/a.yaml?index"),
        ("file:///w/a%23b", "file:///w/a#b"),
    ],
)
def test_different_documents_have_different_keys(a: str, b: str) -> None:
    assert uris.key(a) != uris.key(b)


@pytest.mark.parametrize("path", ["/home/me/My Flows/a.yaml", "/w/ü x/100%.yaml", "/w/a#b?c.yaml", "/"])
def test_a_path_survives_the_way_there_and_back(path: str) -> None:
    assert uris.to_path(uris.from_path(path)) == Path(path)


@pytest.mark.parametrize(
    "uri",
    [
        *("untitled:Untitled-1", "git:/w/a.yaml", "vscode-remote://h/w", "", "file:", "file://[", "file:///a%00b", "x"),
        *("\ud800", "untitled:\ud800.yaml", "file:///w/\ud800.yaml"),
    ],
)
def test_UP_27_what_is_no_file_has_no_path_and_no_exception(uri: str) -> None:
    assert uris.to_path(uri) is None
    assert isinstance(uris.key(uri), str)
    assert isinstance(canonical(uri), str)


def test_bytes_that_are_no_text_survive() -> None:
    assert uris.from_path("/w/\udcff.yaml") == "file:///w/%FF.yaml"
    assert uris.to_path("file:///w/%FF.yaml") == Path("/w/\udcff.yaml")


def test_the_file_behind_links_is_found(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    real = uris.from_path((tmp_path / "real" / "a.yaml").resolve())
    assert uris.real(uris.from_path(tmp_path / "link" / "a.yaml")) == real
    assert uris.real("untitled:a") == "untitled:a"
    circle = uris.from_path(tmp_path / "round" / "a.yaml")
    assert isinstance(uris.real(circle), str)


def test_UP_27_an_unsaved_document_is_one_however_it_is_escaped() -> None:
    one, other = "untitled:new%20ü", "untitled:new%20%C3%BC"
    assert canonical(one) == canonical(other)
    assert canonical("untitled:Untitled-1") == "untitled:Untitled-1"
    assert canonical("vscode-remote://h/w/a.yaml") == "vscode-remote://h/w/a.yaml"


@pytest.mark.parametrize(
    ("uri", "view"),
    [
        ("git:/w/a.yaml?%7B%22path%22%7D", True),
        ("gitlens://abc/w/a.yaml", True),
        ("output:extension-output", True),
        ("file:///w/git/a.yaml", False),
        ("untitled:git", False),
        ("vscode-remote://ssh/w/a.yaml", False),
        ("vscode-notebook-cell:/w/a.ipynb#1", False),
    ],
)
def test_what_is_only_shown_beside_a_file_is_told_apart(uri: str, view: bool) -> None:
    assert uris.is_view(uri) is view
