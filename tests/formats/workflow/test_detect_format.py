"""Which files are ours."""

import pytest

from loop_ls.formats.registry import claimed
from loop_ls.formats.workflow.detect_format import could_be_ours, names_schema, recognise
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text


def kind(text: str, path: str = "/w/a.yaml") -> str | None:
    return recognise(path, read_yaml(Text.of(text)))


@pytest.mark.parametrize("written", ["workflow/v2.0", '"workflow/v2.0"', "'workflow/v2.0'", "&s workflow/v2.0"])
def test_a_workflow_says_so(written: str) -> None:
    assert kind(f"$schema: {written}\n") == "workflow"


@pytest.mark.parametrize("written", ["workflow/v2", "Workflow/v2.0", "workflow/v1.0", "", "[workflow/v2.0]"])
def test_another_schema_is_none_of_ours(written: str) -> None:
    assert kind(f"$schema: {written}\nname: a\n") is None


@pytest.mark.parametrize("section", ["steps:\n  - name: x\n", "loops: [{name: x}]\n", "steps: []\n"])
def test_WF002_a_lookalike_has_name_execution_and_a_list(section: str) -> None:
    assert kind(f"name: a\nexecution: {{provider: p}}\n{section}") == "lookalike"


@pytest.mark.parametrize(
    "text",
    [
        "name: a\nexecution: {}\n",
        "name: a\nsteps:\n  - run: x\n",
        "name: a\nexecution: fast\nsteps: []\n",
        "execution: {}\nsteps: []\n",
        "name: a\nexecution: {}\nsteps: {a: b}\n",
        "on: push\njobs: {}\n",
        "",
    ],
)
def test_WF002_other_files_are_left_alone(text: str) -> None:
    assert kind(text) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/w/.loop-ls.yaml", "settings"),
        ("/w/x.assistant.yaml", "assistant"),
        ("/w/x.assistant.yml", "assistant"),
        ("/w/x.assistant.json", "assistant"),
        ("/w/loops/x.json", "role_loop"),
        ("/w/loops/deeper/x.json", None),
        ("/w/x.json", None),
        ("/w/assistant.yaml", None),
    ],
)
def test_names_that_settle_the_format(path: str, expected: str | None) -> None:
    assert claimed(path) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("$schema: workflow/v2.0", True),
        ("  - $schema: 'workflow/v2.0'  # x", True),
        ('"$schema": workflow/v2.0', True),
        ("# $schema: workflow/v2.0", False),
        ("- - $schema: workflow/v2.0", False),
        ("$schema: workflow/v2.01", False),
        ("x: $schema: workflow/v2.0", False),
    ],
)
def test_WF003_a_line_that_says_what_a_broken_text_wants_to_be(line: str, expected: bool) -> None:
    assert names_schema(["first", line, "last"]) is expected


def glance(text: str) -> bool:
    read = Text.of(text)
    return could_be_ours(read.lines[:200], read.mentions)


OURS = (
    "$schema: workflow/v2.0\n",
    "a: b\n" * 900 + "$schema: workflow/v2.0\n",
    "name: a\nexecution: {provider: p}\nsteps: []\n",
    "# c\n\n---\n  'name': a\n  \"execution\":\n    x: y\n  loops:\n  - a\n",
    "---  # c\nsteps:\n- x\n? name\n: a\n? execution\n: {}\n",
    "{name: a, execution: {}, steps: [x]}\n",
    "--- !!map\nname: a\nexecution: {}\nsteps: [x]\n",
    "%YAML 1.1\n---\nname: a\nexecution: {}\nsteps: [x]\n",
)


@pytest.mark.parametrize("text", OURS)
@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_a_glance_never_misses_a_file_that_is_ours(text: str, eol: str) -> None:
    text = text.replace("\n", eol)
    assert kind(text) is not None
    assert glance(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "on: push\njobs:\n  build:\n    name: a\n    execution: b\n    steps: []\n",
        "workflow:\n  name: a\n  execution: {}\n  steps:\n  - x\n",
        "name: a\nexecution: fast\nstages: []\n",
    ],
)
def test_a_glance_passes_over_what_says_the_words_elsewhere(text: str) -> None:
    assert not glance(text)
