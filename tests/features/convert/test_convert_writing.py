"""Whatever a prompt holds, the files that `convert` writes say the same."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml

from loop_ls.features.convert.gist import Converted, Gist, Parameter, Part, Ref
from loop_ls.features.convert.names import snake
from loop_ls.features.convert.writing import to_assistant, to_role_loop, to_workflow
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.formats.workflow.model import Workflow
from loop_ls.formats.workflow.read import read_workflow

TEXTS = (
    "a: b",
    "# no comment",
    "  led by blanks\nthen not",
    "two\n\n  indented\nlines",
    "tab\there",
    "yes",
    "12",
    "quotes \" and ' and \\",
    "fox 🦊 and é\nmore",
    "odd \x85 and \u2028 and \x7f\nmore",
    "- item\n- item",
    "| pipe",
    "{x}: {{}} {{ not a name }}",
)


def gist(text: str, until: str | None = "It is good") -> Gist:
    return Gist("my loop", text, (Part("work", (text,)),), None if until is None else (until,), 3)


@pytest.mark.parametrize("text", TEXTS)
def test_a_workflow_says_what_was_said(text: str) -> None:
    loop, round_ = (read_workflow(one) for one in to_workflow(gist(text, text)).files.values())
    assert isinstance(loop, Workflow)
    assert isinstance(round_, Workflow)
    assert loop.description == text
    assert loop.loops[0].until == text
    assert str(round_.steps[0].mode).rstrip("\n") == text


@pytest.mark.parametrize("text", TEXTS)
def test_an_assistant_says_what_was_said(text: str) -> None:
    (written,) = to_assistant(gist(text, None)).files.values()
    found = read_assistants(written)
    assert not isinstance(found, list), found
    assert found[0].persona.strip() == text.strip()
    assert found[0].description == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_role_loop_says_what_was_said(text: str) -> None:
    (written,) = to_role_loop(gist(text)).files.values()
    assert json.loads(written)["roles"][0]["prompt"] == text.strip()


@pytest.mark.parametrize("write", [to_workflow, to_role_loop])
def test_braces_that_meant_nothing_mean_nothing_afterwards(write: Callable[[Gist], Converted]) -> None:
    written, lost = write(gist("Say {{goal}} and {{ other }}", "{{goal}} is said"))
    text = "".join(written.values())
    assert "Say (goal) and (other)" in text
    assert "(goal) is said" in text
    assert [one for one in lost if "`{{goal}}`" in one]
    (plain,) = to_assistant(gist("Say {{goal}}")).files.values()
    assert "Say {{goal}}" in plain


def test_every_name_is_there_once() -> None:
    parts = tuple(
        Part(name, ("x", Ref("part", "Größe"))) for name in ("Größe", "grosse", "goal", "null", "日", "input")
    )
    parameters = tuple(Parameter(name, "") for name in ("goal", "previous", "input", "null", "null_2"))
    files = to_workflow(Gist("true", "On", parts, ("{{x}}",), 2, parameters)).files
    loop, round_ = (read_workflow(one) for one in files.values())
    assert isinstance(loop, Workflow)
    assert isinstance(round_, Workflow)
    steps = [one.name for one in round_.steps]
    assert steps == ["grosse", "grosse_2", "goal_3", "null_3", "part", "input_3"]
    assert [*loop.loops[0].arguments] == ["goal", "previous", "goal_2", "previous_2", "input_2", "null", "null_2"]
    assert [one.needs for one in round_.steps] == [(), *((name,) for name in steps[:-1])]
    assert str(round_.steps[5].mode).startswith("x{{grosse}}")
    for text in files.values():
        yaml.safe_load(text)
    assert yaml.safe_load(files["true.yaml"])["name"] == "true"


def test_every_parameter_of_a_role_loop_is_described() -> None:
    parameters = (Parameter("x", ""), Parameter("y", "How much", "3"))
    (text,) = to_role_loop(
        Gist("a", "d", (Part("work", (Ref("parameter", "x"),)),), None, 2, parameters)
    ).files.values()
    assert json.loads(text)["parameters"] == [
        {"name": "x", "description": "Value of x.", "required": True},
        {"name": "y", "description": "How much", "required": False, "default": "3"},
    ]


def test_half_a_character_becomes_one_that_yaml_takes() -> None:
    for write in (to_workflow, to_assistant):
        for text in write(gist("a \ud800 b")).files.values():
            yaml.safe_load(text)


def test_an_assistant_takes_a_hundred_iterations_and_says_so() -> None:
    files, lost = to_assistant(Gist("many", "d", (Part("work", ("x",)),), None, 250))
    assert "maxIterations: 100" in files["many.assistant.yaml"]
    assert any("250" in one for one in lost)


@pytest.mark.parametrize(
    ("word", "name"),
    [("My Loop-2", "my_loop_2"), ("2nd", "nd"), ("Über uns", "uber_uns"), ("aB", "a_b"), ("日本", "loop")],
)
def test_names_suit_every_format(word: str, name: str) -> None:
    assert snake(word) == name
