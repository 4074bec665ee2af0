"""Role loops, assistants and settings in the index: recognised by name, read piece by piece, kept over edits."""

from __future__ import annotations

import json

import pytest

from loop_ls.formats.file_format import Format
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.placeholders import placeholders
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span

LOOP = json.dumps(
    {
        "name": "build",
        "parameters": [{"name": "size", "description": "{{no}}", "required": False, "default": "{{size}}"}],
        "roles": [{"role": "plan", "prompt": "{{size}} {{ size }}"}, {"role": "coder", "prompt": "x"}],
    },
    indent=1,
)


def document(text: str, path: str) -> Document:
    return Document.open(f"file:///w/{path}", text)


@pytest.mark.parametrize(
    ("path", "format_"),
    [
        ("loops/a.json", "role_loop"),
        ("deep/loops/a.json", "role_loop"),
        ("loops/deep/a.json", None),
        ("a.json", None),
        ("a.assistant.yaml", "assistant"),
        ("a.assistant.yml", "assistant"),
        ("a.assistant.json", "assistant"),
        ("assistant.yaml", None),
        (".loop-ls.yaml", "settings"),
    ],
)
def test_the_name_tells_the_format(path: str, format_: Format | None) -> None:
    assert document("{}", path).format == format_


def test_a_definition_has_its_parts() -> None:
    loop = document(LOOP, "loops/a.json").whole.role_loop
    assert loop.name == "build"
    assert [loop.role_of(stage) for stage in loop.stages] == ["plan", "coder"]
    assert loop.values == {"size": "{{size}}"}


def test_placeholders_know_where_they_stand() -> None:
    found = placeholders(document(LOOP, "loops/a.json"))
    assert [(one.name, one.exact, one.idle) for one in found] == [
        ("no", True, True),
        ("size", True, False),
        ("size", True, False),
        ("size", False, False),
    ]


def test_assistants_of_a_file() -> None:
    one = document("name: A b\npersona: p\n", "a.assistant.yaml").whole.assistants
    assert [each.key for each in one] == ["a-b"]
    several = document("assistants:\n  - {name: A, persona: p}\n  - {name: B, persona: p}\n", "a.assistant.yaml")
    assert [each.name for each in several.whole.assistants] == ["A", "B"]


def test_an_edit_reads_only_its_own_piece_again() -> None:
    text = "assistants:\n" + "".join(f"  - name: a{i}\n    persona: p\n" for i in range(5))
    before = document(text, "a.assistant.yaml")
    after = before.edit(Span(Position(1, 10), Position(1, 12)), "other")
    assert [each.name for each in after.whole.assistants] == ["other", "a1", "a2", "a3", "a4"]
    kept = [one.block is two.block for one, two in zip(before.whole.assistants, after.whole.assistants, strict=True)]
    assert kept == [False, True, True, True, True]


def test_a_definition_after_edits_is_the_one_read_afresh() -> None:
    shown = document(LOOP, "loops/a.json")
    for at, new in ((Position(1, 10), "re"), (Position(3, 0), "  "), (Position(8, 3), "{"), (Position(8, 3), "")):
        shown = shown.edit(Span(at, at), new)
        fresh = document(str(shown.text), "loops/a.json")
        assert shown.whole.role_loop.name == fresh.whole.role_loop.name
        assert len(shown.whole.role_loop.stages) == len(fresh.whole.role_loop.stages)
        assert shown.format == "role_loop"


def test_definitions_of_one_folder_are_neighbours() -> None:
    a, b = document(LOOP, "loops/a.json"), document(LOOP, "loops/b.json")
    other = document(LOOP, "x/loops/c.json")
    workspace = Workspace.of(Roots("/w"), [a, b, other])
    assert workspace.neighbours(a) == {b.uri}
    assert workspace.keys == {}
