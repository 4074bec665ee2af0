"""Whatever a prompt holds, the files that `convert` writes say the same."""

from __future__ import annotations

import json

import pytest

from loop_ls.features.convert.gist import Gist, Part
from loop_ls.features.convert.writing import snake, to_assistant, to_role_loop, to_workflow
from loop_ls.formats.assistant_read import read_assistants
from loop_ls.formats.read import read_workflow
from loop_ls.formats.workflow import Workflow

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
    "{{goal}}: {x}",
)


def gist(text: str, until: str | None = "It is good") -> Gist:
    return Gist("my loop", text, (Part("work", (text,)),), until, 3)


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


@pytest.mark.parametrize(("word", "name"), [("My Loop-2", "my_loop_2"), ("2nd", "nd"), ("ü", "loop"), ("aB", "a_b")])
def test_names_suit_every_format(word: str, name: str) -> None:
    assert snake(word) == name
