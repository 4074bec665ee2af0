"""A line that is being typed costs one fault at its place; every other key and step stays."""

from __future__ import annotations

import pytest

from loop_ls.syntax.nodes import Mapping, Scalar
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text

BEFORE = """\
$schema: workflow/v2.0
name: poems
version: 1.0.0
execution:
  provider: ollama
  model: llama3.2
steps:
  - name: draft
    run: "Write about {{input}}"
  - name: polish
    needs: [draft]
    temperature: 0.3
    run: |
      Polish {{draft}}.
      Keep four lines.
  - name: title
    needs: [polish]
    run: Find a title for {{polish}}
"""
TOP = ["$schema", "name", "version", "execution", "steps"]
STEPS = ["draft", "polish", "title"]

TEMPERATURE = "    temperature: 0.3\n"
LAST = "    run: Find a title for {{polish}}\n"

#: what is replaced, by what, and the faults: line:column, both from 1, and code
HALF_TYPED = [
    pytest.param(TEMPERATURE, "    un\n" + TEMPERATURE, ["12:5 missing-colon"], id="word in a step"),
    pytest.param(LAST, LAST + "    un\n", ["19:5 missing-colon"], id="word behind the last key"),
    pytest.param("  model: ", "  te\n  model: ", ["6:3 missing-colon"], id="word in execution"),
    pytest.param("  provider: ", "  te\n  provider: ", ["5:3 missing-colon"], id="first word in execution"),
    pytest.param("steps:\n", "en\nsteps:\n", ["7:1 missing-colon"], id="word at top level"),
    pytest.param("$schema", "na\n$schema", ["1:1 missing-colon"], id="word in the first line"),
    pytest.param("- name: title\n", "- na\n    name: title\n", ["16:5 missing-colon"], id="word behind a dash"),
    pytest.param('"Write about {{input}}"', '"Write about', ["9:10 open-quote"], id="double quote open"),
    pytest.param("name: polish", "name: 'polish", ["10:11 open-quote"], id="single quote open"),
    pytest.param("provider: ollama", 'provider: "ollama', ["5:13 open-quote"], id="quote open in execution"),
    pytest.param(TEMPERATURE, '    "temp\n' + TEMPERATURE, ["12:5 open-quote"], id="quote open in a key"),
    pytest.param(TEMPERATURE, "    'temp'\n" + TEMPERATURE, ["12:5 missing-colon"], id="quoted key without colon"),
    pytest.param(TEMPERATURE, "\ttemperature: 0.3\n", ["12:1 tab"], id="tab"),
    pytest.param(TEMPERATURE, "  \ttemperature: 0.3\n", ["12:3 tab"], id="tab behind blanks"),
    pytest.param("  provider:", "\tprovider:", ["5:1 tab"], id="tab in the first line of a mapping"),
    pytest.param("[draft]", "[draft", ["11:12 open-bracket"], id="bracket open"),
    pytest.param("[draft]", "[draft, ", ["11:12 open-bracket"], id="bracket open behind a comma"),
    pytest.param(TEMPERATURE, "    with: {a: 1\n", ["12:11 open-bracket"], id="brace open"),
    pytest.param("[draft]", "[draft}", ["11:18 open-bracket"], id="wrong bracket"),
    pytest.param("[draft]", "[, draft]", ["11:13 stray-comma"], id="nothing before a comma"),
    pytest.param("[draft]", "[draft, , title]", ["11:20 stray-comma"], id="nothing between commas"),
    pytest.param("[draft]", "{a: 1,, b: 2}", ["11:18 stray-comma"], id="two commas in braces"),
    pytest.param("[draft]", '["draft" title]', ["11:21 missing-comma"], id="comma forgotten"),
    pytest.param("[draft]", "- draft", ["11:12 unexpected-text"], id="item on the line of its key"),
    pytest.param("Find a title for {{polish}}", "{{polish}} please", ["18:10 quotes-needed"], id="braces and text"),
    pytest.param("Find a title for {{polish}}", "Note: be short", ["18:10 quotes-needed"], id="colon in a text"),
    pytest.param("Find a title for {{polish}}", "@x", ["18:10 quotes-needed"], id="at sign"),
    pytest.param("Find a title for {{polish}}", "[note] be short", ["18:10 quotes-needed"], id="text in brackets"),
    pytest.param("Find a title for {{polish}}", '"a" and b', ["18:13 unexpected-text"], id="text behind a quote"),
    pytest.param("Find a title for {{polish}}", "| now\n      text", ["18:11 unexpected-text"], id="text behind a bar"),
    pytest.param("Find a title for {{polish}}", "> 5 words", ["18:10 quotes-needed"], id="greater than"),
    pytest.param("temperature: 0.3", "temperature: *", ["12:18 quotes-needed"], id="star"),
    pytest.param("temperature: 0.3", "temperature:0.3", ["12:16 missing-space"], id="space forgotten"),
    pytest.param(TEMPERATURE, "   temperature: 0.3\n", ["12:1 indentation"], id="one blank too few"),
    pytest.param(TEMPERATURE, "     temperature: 0.3\n", ["12:1 indentation"], id="one blank too many"),
    pytest.param("  - name: title", "   - name: title", ["16:1 indentation"], id="item one blank too far right"),
    pytest.param(
        "  - name: draft",
        "   - name: draft",
        ["9:1 indentation", "10:1 indentation"],
        id="first item one blank too far right",
    ),
    pytest.param("  - name: title", " - name: title", ["16:1 indentation"], id="item one blank too far left"),
    pytest.param("  - name: title", "- name: title", ["16:1 indentation"], id="item at the left margin"),
    pytest.param("  - name: title", "  -name: title", ["16:3 missing-space"], id="dash without blank"),
    pytest.param("  - name: draft", "  -name: draft", ["8:3 missing-space"], id="first dash without blank"),
    pytest.param(
        "      Polish {{draft}}.\n      Keep four lines.\n",
        "    Polish {{draft}}.\n    Keep four lines.\n",
        ["14:5 unexpected-text"],
        id="prompt indented too little",
    ),
    pytest.param("steps:\n", "steps:\n  dr\n", ["8:3 unexpected-text"], id="word in front of the first step"),
    pytest.param("steps:\n", "steps: x\n", ["7:8 unexpected-text"], id="word behind steps"),
    pytest.param("steps:\n", "steps: [\n", ["7:8 open-bracket"], id="bracket open behind steps"),
    pytest.param("steps:\n", "    name: x\nsteps:\n", ["7:1 indentation"], id="key indented too far"),
]

#: what reads well, though a rule will have to say something about it
NO_FAULT = [
    pytest.param(LAST, LAST + "  -\n", id="dash alone"),
    pytest.param(LAST, LAST + "  - na\n", id="dash and word"),
    pytest.param(LAST, "    run:\n", id="key without value"),
    pytest.param(LAST, "    run: |\n", id="bar alone"),
    pytest.param(LAST, "    run: {{polish}}\n", id="braces alone"),
    pytest.param(TEMPERATURE, TEMPERATURE + TEMPERATURE, id="key twice"),
]


@pytest.mark.parametrize(("old", "new", "faults"), HALF_TYPED)
def test_one_fault_and_nothing_lost(old: str, new: str, faults: list[str]) -> None:
    tree = read_yaml(Text.of(BEFORE.replace(old, new)))
    assert faults_of(tree) == faults
    assert (top_of(tree), steps_of(tree)) == (TOP, STEPS)


@pytest.mark.parametrize(("old", "new"), NO_FAULT)
def test_what_reads_well_is_no_fault(old: str, new: str) -> None:
    tree = read_yaml(Text.of(BEFORE.replace(old, new)))
    assert faults_of(tree) == []
    assert (top_of(tree), steps_of(tree)) == (TOP, STEPS)


@pytest.mark.parametrize(("old", "new", "faults"), HALF_TYPED)
def test_the_other_keys_of_the_step_stay(old: str, new: str, faults: list[str]) -> None:
    tree = read_yaml(Text.of(BEFORE.replace(old, new)))
    written = {"name", "needs", "run"}
    if old not in ("[draft]", TEMPERATURE):
        written.add("temperature")
    assert written <= set(keys_of(tree, "polish"))


def test_a_word_without_its_colon_is_a_key_without_value() -> None:
    tree = read_yaml(Text.of(BEFORE.replace(TEMPERATURE, "    un\n")))
    assert keys_of(tree, "polish") == ["name", "needs", "un", "run"]


def test_an_open_text_ends_with_its_line() -> None:
    step = step_of(read_yaml(Text.of(BEFORE.replace('"Write about {{input}}"', '"Write about {{in'))), "draft")
    run = step.get("run")
    assert run is not None
    assert isinstance(run.value, Scalar)
    assert run.value.text == "Write about {{in"
    assert run.value.span.end == (1, 26)


def test_an_open_list_keeps_its_items() -> None:
    step = step_of(read_yaml(Text.of(BEFORE.replace("[draft]", "[draft, ti"))), "polish")
    needs = step.get("needs")
    assert needs is not None
    assert [item.text for item in needs.value.items] == ["draft", "ti"]  # type: ignore[union-attr]


def test_faults_say_what_to_write() -> None:
    tree = read_yaml(Text.of(BEFORE.replace("temperature: 0.3", "temperature:0.3")))
    (fault,) = (fault for piece in tree.pieces for fault in piece.faults)
    assert fault.message == "Missing space after `temperature:`."


def test_what_only_libyaml_refuses_is_told_in_its_words() -> None:
    tree = read_yaml(Text.of("name: x\nenv:\n  a: b\x07c\n"))
    assert [(fault.code, fault.span.start) for piece in tree.pieces for fault in piece.faults] == [("syntax", (1, 6))]


def faults_of(tree: Tree) -> list[str]:
    places = [
        (piece_fault.shift(tree.start_of(piece)).span.start, piece_fault.code)
        for piece in tree.pieces
        for piece_fault in piece.faults
    ]
    return [f"{line + 1}:{column + 1} {code}" for (line, column), code in places]


def top_of(tree: Tree) -> list[str]:
    return [piece.key.text for piece in tree.pieces if piece.key and piece.key.text in TOP]


def steps_of(tree: Tree) -> list[str]:
    found = []
    for piece in tree.pieces:
        if piece.kind == "item" and isinstance(piece.node, Mapping):
            name = piece.node.get("name")
            if name is not None and isinstance(name.value, Scalar):
                found.append(name.value.text)
    return found


def step_of(tree: Tree, name: str) -> Mapping:
    for piece in tree.pieces:
        if piece.kind == "item" and isinstance(piece.node, Mapping):
            entry = piece.node.get("name")
            if entry is not None and isinstance(entry.value, Scalar) and entry.value.text == name:
                return piece.node
    raise AssertionError(name)


def keys_of(tree: Tree, name: str) -> list[str]:
    return [entry.key.text for entry in step_of(tree, name).entries]
