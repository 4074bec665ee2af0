"""Role files: what is marked, and what is fine."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker


def found(keys: str, path: str = "roles/tester.md", body: str = "You test.", **others: str) -> list[tuple[str, str]]:
    """Rule and marked text of every finding."""
    document = Document.open(f"file:///w/{path}", f"---\n{keys}---\n{body}\n")
    more = [Document.open(f"file:///w/{name.replace('__', '/')}.md", text) for name, text in others.items()]
    workspace = Workspace.of(Roots("/w"), [document, *more])
    return [(one.rule, document.text.slice(one.span)) for one in Checker().findings(workspace, document)]


def test_what_is_fine() -> None:
    assert found("name: tester\ndescription: Tests\ntools: Read, Grep\nmodel: opus\n") == []
    assert found("access: readonly\nmaxSteps: 3\n") == []
    assert found("tools: [Read]\nisolate: worktree\nprovider: openai\n") == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("acces: full", ("RO002", "acces")),
        ("instructions: Test.", ("RO002", "instructions")),
        ("access: all", ("RO003", "all")),
        ("access: 5", ("RO003", "5")),
        ("name: a b", ("RO003", "a b")),
        ("maxSteps: 0", ("RO003", "0")),
        ("tools: [1]", ("RO003", "[1]")),
        ('description: "x', ("RO001", '"')),
    ],
)
def test_faults_of_keys(line: str, wanted: tuple[str, str]) -> None:
    [(rule, marked)] = found(f"{line}\n")
    assert rule == wanted[0]
    assert marked.startswith(wanted[1])


def test_keys_of_claude_code_are_fine_where_it_reads_them() -> None:
    keys = "name: tester\ndescription: x\ncolor: red\npermissionMode: plan\nskills: [a]\n"
    assert found(keys, ".claude/agents/tester.md") == []
    assert found("acess: full\n", ".claude/agents/tester.md") == [("RO002", "acess")]
    assert found("color: red\naccess: full\n") == [("RO002", "color")]


@pytest.mark.parametrize(
    "keys",
    [
        "name: tester\ndescription: Use this when: tests fail\n",
        'name: tester\ndescription: "Tests\n',
        "name: My Tester\ndescription: x\nkeyOfTomorrow: 5\n",
        "name: tester\ndescription: x\nmodel: 5\ntools:\n",
    ],
)
def test_claude_code_reads_its_agents_by_its_own_rules(keys: str) -> None:
    assert found(keys, ".claude/agents/tester.md") == []
    assert found(keys, ".claude/agents/tester.md", body="") == []
    assert found(keys) != [], "in a folder of ours it is a mistake"


@pytest.mark.parametrize("body", ["Hello", ""])
@pytest.mark.parametrize(
    "keys",
    [
        "title: Admins\nlayout: page\ntags: [a]\n",
        "title: Admins\ndescription: Who they are\nweight: 5\n",
        "\nA page that begins with a rule.\n\n",
    ],
)
def test_pages_of_other_programs_are_none_of_ours(keys: str, body: str) -> None:
    assert found(keys, body=body) == []


def test_a_role_without_instructions() -> None:
    assert found("description: x\n", body="\n \n") == [("RO004", "d")]


def test_a_role_that_another_file_sets_up_has_no_effect() -> None:
    other = "---\nname: tester\n---\nx\n"
    assert found("name: tester\n", roles__a=other) == [("RO005", "tester")]
    assert found("description: x\n", roles__a=other) == [("RO005", "d")], "by the name of its file"
    assert found("name: other\n", roles__a=other) == []
    assert found("name: tester\n", roles__z=other) == [], "it is the other one that has no effect"
    agent = ".claude/agents/tester.md"
    assert found("name: tester\n", agent, roles__z=other) == [("RO005", "tester")]
    assert found("name: tester\n", **{".claude__agents__a": other}) == []


def test_any_text_may_stand_below() -> None:
    body = "Key: {value\n---\n* `x\n%TAG\n\tTab: [\n"
    assert found("name: tester\n", body=body) == []
