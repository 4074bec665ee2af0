"""Formatting changes blanks and empty lines, and provably nothing else (UP-21)."""

from __future__ import annotations

import random

import pytest
import yaml

from loop_ls.features.formatting import formatting
from loop_ls.index.document import Document
from loop_ls.text.lines import Text

HEAD = "$schema: workflow/v2.0\nname: x\n"


def formatted(text: str) -> str:
    document = Document.open("file:///w/x.yaml", text)
    found: Text = document.text
    for edit in reversed(formatting(document)):
        found = found.edit(edit.span, edit.text)
    return str(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("version:   1.0.0  \n", "version: 1.0.0\n"),
        ("version: 1.0.0", "version: 1.0.0\n"),
        ("version: 1.0.0\n\n\n\n", "version: 1.0.0\n"),
        ("version: 1.0.0\n\n\n\nsteps: []\n", "version: 1.0.0\n\nsteps: []\n"),
        ("steps:\n  - {name: a,run: b,   needs:  [c,d ,e]}\n", "steps:\n  - {name: a, run: b, needs: [c, d, e]}\n"),
        ("version: 1.0.0   # why  \n", "version: 1.0.0   # why\n"),
        ("steps:\n  - name:  a\n    run:    |  \n      x\n", "steps:\n  - name: a\n    run: |\n      x\n"),
        ("a: &x   1\nb: *x\n", "a: &x   1\nb: *x\n"),
    ],
)
def test_blanks_and_empty_lines(before: str, after: str) -> None:
    assert formatted(HEAD + before) == HEAD + after


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_UP_21_the_last_line_ends_as_the_others_do(eol: str) -> None:
    text = (HEAD + "version:   1.0.0").replace("\n", eol)
    assert formatted(text) == (HEAD + "version: 1.0.0\n").replace("\n", eol)


UP_21 = """\
$schema: workflow/v2.0
name: x
steps:
  - name: code
    run: |2-
        keep   these   blanks  \t
      ```json
      {"a": {{input}}}
      ```


    # comment that belongs to the next step
  - {name: next,   run: "x"}
  - name: more
    run: >+
      folded   text


    if: "a   b
      c  "
  - name: plain
    run: one   two
      three
"""


def test_UP_21_texts_and_comments_stay_as_they_are() -> None:
    text = formatted(UP_21)
    assert yaml.safe_load(text) == yaml.safe_load(UP_21)
    assert "        keep   these   blanks  \t\n" in text
    assert '    # comment that belongs to the next step\n  - {name: next, run: "x"}\n' in text


def test_UP_21_the_second_time_nothing_happens() -> None:
    once = formatted(UP_21)
    assert once != UP_21
    assert formatted(once) == once


@pytest.mark.parametrize(
    "broken", ["steps:   [\n", 'version:   "1\nsteps: []\n', "steps:\n\t- name:   a\n", "version:   1\n---\nx:   1\n"]
)
def test_UP_21_a_file_that_cannot_be_read_is_left_alone(broken: str) -> None:
    assert formatted(HEAD + broken) == HEAD + broken


def test_files_of_others_are_left_alone() -> None:
    assert formatted("a:   1\n") == "a:   1\n"


@pytest.mark.parametrize("seed", range(150))
def test_UP_21_whatever_is_typed_values_and_idempotence_hold(seed: int) -> None:
    chance = random.Random(seed)
    text = UP_21
    for _ in range(4):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice([" ", "  ", "\n", "\n\n", ",", "# x", "   ", "\n  ", "'", '"']) + text[at:]
    once = formatted(text)
    assert formatted(once) == once
    try:
        before = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    assert yaml.safe_load(once) == before
