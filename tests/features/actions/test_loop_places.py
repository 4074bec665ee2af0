"""A loop of a step becomes one of its own and back, and means the same."""

from __future__ import annotations

import pytest
import yaml

from loop_ls.features.actions.inline_loop import loop_places
from loop_ls.index.document import Document
from loop_ls.text.position import Position

HEAD = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\n"
LAST = '  - name: last\n    run: "Say {{refine}}"\n'
STEP = (
    "  - name: refine\n    loop:\n      # what it calls\n      workflow: draft\n"
    "      with:\n        topic: x\n      max_iterations: 3\n      until: |\n        It is\n\n        good\n"
)
LOOP = (
    "  - name: refine\n    # what it calls\n    workflow: draft\n"
    "    with:\n      topic: x\n    max_iterations: 3\n    until: |\n      It is\n\n      good\n"
)


def rewritten(text: str) -> str | None:
    document = Document.open("file:///w/flow.yaml", text)
    line = next(number for number, one in enumerate(text.split("\n")) if "name: refine" in one)
    found = loop_places(document, Position(line, 4))
    if not found:
        return None
    assert found[0].edits is not None
    for edit in reversed(found[0].edits()[document.uri]):
        document = document.edit(edit.span, edit.text)
    return str(document.text)


@pytest.mark.parametrize("eol", ["\r\n", "\r"])
def test_line_ends_stay_as_they_are(eol: str) -> None:
    document = Document.open("file:///w/flow.yaml", (HEAD + "steps:\n" + STEP + LAST).replace("\n", eol))
    [action] = loop_places(document, Position(4, 4))
    assert action.edits is not None
    for edit in reversed(action.edits()[document.uri]):
        document = document.edit(edit.span, edit.text)
    assert str(document.text) == (HEAD + "steps:\n" + LAST + "loops:\n" + LOOP).replace("\n", eol)


def test_a_loop_of_a_step_becomes_a_loop_of_its_own() -> None:
    text = rewritten(HEAD + "steps:\n" + STEP + LAST)
    assert text == HEAD + "steps:\n" + LAST + "loops:\n" + LOOP


def test_a_loop_of_its_own_becomes_that_of_a_step() -> None:
    text = rewritten(HEAD + "loops:\n" + LOOP + "steps:\n" + LAST)
    assert text is not None
    found, wanted = yaml.safe_load(text), yaml.safe_load("steps:\n" + STEP + LAST)
    assert "loops" not in found
    assert found["steps"] == wanted["steps"]
    assert "      # what it calls\n" in text


@pytest.mark.parametrize(
    "text",
    [
        # the step says more than a loop can
        "steps:\n  - {name: a, run: x}\n" + STEP.replace("    loop:", "    needs: [a]\n    loop:") + LAST,
        # its result is that of the workflow
        "steps:\n  - {name: a, run: x}\n" + STEP,
        # a step uses what the nearest loop above leaves behind
        "loops:\n" + LOOP + 'steps:\n  - name: last\n    run: "{{loop.output}}"\n',
        # flow style
        "steps:\n  - {name: refine, loop: {workflow: draft, max_iterations: 3, until: good}}\n" + LAST,
        # half typed
        "steps:\n" + STEP.replace("topic: x", "topic: [x") + LAST,
    ],
)
def test_nothing_is_offered_where_the_meaning_would_change(text: str) -> None:
    assert rewritten(HEAD + text) is None


@pytest.mark.parametrize("key", ["name: refine", "workflow: draft", "max_iterations: 3", "until: |", "It is", "good"])
@pytest.mark.parametrize("text", [HEAD + "steps:\n" + STEP + LAST, HEAD + "loops:\n" + LOOP + "steps:\n" + LAST])
def test_it_is_offered_on_every_line_that_makes_the_loop(text: str, key: str) -> None:
    document = Document.open("file:///w/flow.yaml", text)
    line = next(number for number, one in enumerate(text.split("\n")) if key in one)
    assert len(loop_places(document, Position(line, 8))) == 1


@pytest.mark.parametrize("key", ["topic: x", "with:", "name: last", "version:"])
def test_it_is_not_offered_elsewhere(key: str) -> None:
    text = HEAD + "loops:\n" + LOOP + "steps:\n" + LAST
    line = next(number for number, one in enumerate(text.split("\n")) if key in one)
    assert loop_places(Document.open("file:///w/flow.yaml", text), Position(line, 6)) == ()
