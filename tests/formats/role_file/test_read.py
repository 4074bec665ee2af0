"""Role files: which count, what they say of a role, and how an editor follows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loop_ls.formats.role_file.read import read_role
from loop_ls.index.disk.discovery import discover, load_settings
from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span

KEYS = "name: tester\ndescription: Tests everything\naccess: readonly\nmodel: big\nmaxSteps: 7\n"
FILE = f"---\n{KEYS}---\nYou test: {{a\n\n---\n* x\n"


def test_keys_stand_above_the_instructions() -> None:
    assert read_role(FILE, "roles/other.md") == (
        "tester",
        {
            "description": "Tests everything",
            "access": "readonly",
            "model": "big",
            "maxSteps": 7,
            "instructions": "You test: {a\n\n---\n* x",
        },
    )
    assert read_role("---\n{}\n---\nHi.", "roles/other.md") == ("other", {"instructions": "Hi."})


@pytest.mark.parametrize(
    ("tools", "found", "access"),
    [
        ("Read, Grep", ["Read", "Grep"], "readonly"),
        ("Read, Task, TodoWrite", ["Read", "Task", "TodoWrite"], "readonly"),
        ("Read, TodoWrite, Write", ["Read", "TodoWrite", "Write"], "full"),
        ("[Read, Bash]", ["Read", "Bash"], "full"),
        ("Read, mcp__tickets__find", ["Read", "mcp__tickets__find"], "full"),
        ("[]", [], "minimal"),
    ],
)
def test_access_follows_from_the_tools_where_nothing_else_is_said(tools: str, found: Any, access: str) -> None:
    assert read_role(f"---\ntools: {tools}\n---\nx", "a.md") == (
        "a",
        {"instructions": "x", "tools": found, "access": access},
    )
    given = read_role(f"---\ntools: {tools}\naccess: readonly-shell\n---\nx", "a.md")
    assert given is not None and given[1]["access"] == "readonly-shell"


@pytest.mark.parametrize(
    ("model", "found"),
    [("inherit", {}), ("opus", {"model": "opus", "provider": "claude-code"}), ("gpt-5", {"model": "gpt-5"})],
)
def test_models_of_agents_of_claude_code(model: str, found: Any) -> None:
    assert read_role(f"---\nmodel: {model}\n---\n", "a.md") == ("a", found)


@pytest.mark.parametrize(
    "text", ["", "You test.", "name: a\n---\nx", "---\nname: a\nx", " ---\nname: a\n---\n", "---\nname: a b\n---\n"]
)
def test_what_is_no_role(text: str) -> None:
    assert read_role(text, "roles/a.md") is None


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        *(("roles/a.md", True), (".claude/agents/a.md", True), ("app/roles/a.md", True)),
        *(("roles/web/a.md", False), ("roles/a.yaml", False), ("a.md", False), ("agents/a.md", False)),
    ],
)
def test_files_of_these_names_count(path: str, ours: bool) -> None:
    assert (Document.open(f"file:///w/{path}", FILE).format == "role_file") is ours
    assert Document.open(f"file:///w/{path}", "# Roles\n\nNot one.\n").format != "role_file"


def test_an_edit_may_make_a_role_of_a_text_and_a_text_of_a_role() -> None:
    document = Document.open("file:///w/roles/a.md", FILE)
    assert document.tree.faults == ()
    body = document.edit(Span(Position(7, 0), Position(7, 3)), "They")
    assert (body.format, body.tree.faults) == ("role_file", ())
    opened = body.edit(Span(Position(0, 0), Position(0, 3)), "# Roles")
    assert (opened.format, opened.tree.is_read) == (None, False)
    again = opened.edit(Span(Position(0, 0), Position(0, 7)), "---")
    assert again.format == "role_file"
    assert again.whole.parts.get("name") is not None


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_they_are_a_layer_of_the_settings(tmp_path: Path) -> None:
    write(tmp_path, ".claude/agents/tester.md", "---\nname: tester\ntools: Read\n---\nClaude.")
    write(tmp_path, ".claude/agents/only.md", "---\nname: only\ntools: Read\n---\nClaude.")
    write(tmp_path, "roles/tester.md", "---\nname: tester\naccess: full\nmaxSteps: 3\n---\nOurs.")
    write(tmp_path, "roles/z.md", "---\nname: tester\n---\nThe second of one folder.")
    write(tmp_path, "roles/README.md", "# Roles")
    write(tmp_path, ".loop-ls.yaml", "roles: {tester: {maxSteps: 5}}\n")
    roles = load_settings(str(tmp_path))[0].raw["roles"]
    assert set(roles) == {"tester", "only"}
    own = {"access": "full", "maxSteps": 5, "instructions": "Ours."}
    assert roles["tester"] == {**own, "file": "roles/tester.md"}, "consent names it"
    assert (roles["only"]["access"], roles["only"]["file"]) == ("readonly", ".claude/agents/only.md")


def test_a_link_out_of_the_project_is_no_role(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md", FILE)
    (tmp_path / "project/roles").mkdir(parents=True)
    (tmp_path / "project/roles/a.md").symlink_to(tmp_path / "outside/a.md")
    assert "roles" not in load_settings(str(tmp_path / "project"))[0].raw


def test_agents_of_claude_code_are_found_and_nothing_else_below_a_dot(tmp_path: Path) -> None:
    write(tmp_path, ".claude/agents/a.md", FILE)
    write(tmp_path, ".claude/settings.yaml", "$schema: workflow/v2.0\n")
    write(tmp_path, ".claude/agents/a.assistant.yaml", "name: a\n")
    write(tmp_path, "sub/.claude/agents/b.md", FILE)
    write(tmp_path, "roles/c.md", FILE)
    paths = (one.path for one in discover(str(tmp_path)).workspace.documents.values())
    found = sorted(path.removeprefix(f"{tmp_path}/") for path in paths)
    assert found == [".claude/agents/a.md", "roles/c.md"]
