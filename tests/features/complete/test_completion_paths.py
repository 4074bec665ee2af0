"""Paths after `items: file://` and `input_file`: folder by folder, from where a run looks for them."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.complete.completion import complete

FILES = {
    "/w": [("data", True), ("notes.txt", False), (".git", True), ("flow.yaml", False)],
    "/w/data": [("items.jsonl", False), ("old list.json", False), ("more", True)],
}


def offered(ask: Any, value: str, key: str = "items") -> dict[str, str]:
    """Label and text of the files on offer."""
    if key == "items":
        text = (
            f"loops:\n  - name: each\n    mode: iterate\n    workflow: x\n    items: {value}\n    max_iterations: 3\n"
        )
    else:
        text = f"steps:\n  - name: e\n    embeddings:\n      input_file: {value}\n      provider: openai\n"
    asked = ask(text)
    found = complete(asked.workspace, asked.document, asked.at, None, lambda folder: FILES.get(folder, []))
    return {item.label: item.text for item in found.items if item.kind.value == "file"}


def test_the_scheme_is_offered_first(ask: Any) -> None:
    assert list(offered(ask, "$0")) == ["file://"]
    assert list(offered(ask, "fi$0")) == ["file://"]
    assert offered(ask, '"{{a}}$0"') == {}


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("file://$0", ["file://data/", "file://notes.txt"]),
        ("file://da$0", ["file://data/", "file://notes.txt"]),
        ("file://data/$0", ["file://data/more/", "file://data/items.jsonl", "file://data/old list.json"]),
        ('"file://data/$0"', ["file://data/more/", "file://data/items.jsonl", "file://data/old list.json"]),
        ("file://gone/$0", []),
    ],
)
def test_files_of_the_folder_that_is_typed(ask: Any, value: str, labels: list[str]) -> None:
    assert list(offered(ask, value)) == labels


def test_input_file_is_a_bare_path(ask: Any) -> None:
    assert list(offered(ask, "data/$0", "input_file")) == ["data/more/", "data/items.jsonl", "data/old list.json"]


def test_folders_ask_again_and_nothing_is_offered_without_a_disk(ask: Any) -> None:
    asked = ask("steps:\n  - name: e\n    embeddings:\n      input_file: $0\n")
    found = complete(asked.workspace, asked.document, asked.at, None, lambda folder: FILES.get(folder, []))
    assert {item.label: item.again for item in found.items if item.kind.value == "file"} == {
        "data/": True,
        "notes.txt": False,
    }
    assert [item for item in asked.items if item.kind.value == "file"] == []
