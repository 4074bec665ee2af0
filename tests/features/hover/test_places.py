"""Hover and definition at places that are no key and no name: bare braces, dashes, the text of a condition."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.highlight import highlight
from loop_ls.features.hover.hover import hover
from loop_ls.features.rename.rename import Rename, rename
from loop_ls.formats.settings.model import read_settings
from loop_ls.index.disk.roots import Roots
from loop_ls.index.workspace import Workspace

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
steps:
  - name: draft
    run: "About {{input}}"
  - name: bare
    run: %s
  -
    name: below
    run: "x"
loops:
  - name: refine
    workflow: polish
    with: {text: {{draft}}}
    max_iterations: 3
    until: "%s"
#- polish.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: review, run: "Start with PASS or FAIL: {{text}}"}
"""


@pytest.mark.parametrize("run", ["{{ dr$0aft }}", "{{dr$0aft}}", "{{ step.dr$0aft }}", "{{ draft$0 }} # why"])
def test_braces_without_quotes_are_the_variable_that_they_mean(ask: Any, run: str) -> None:
    asked = ask(FLOW % (run, "Fine"))
    assert asked.targets == ["flow.yaml:5 draft"]
    assert "From the run step `draft`" in asked.told


def test_bare_braces_in_arguments_know_the_loop(ask: Any) -> None:
    source = FLOW.replace("{text: {{draft}}}", "{text: {{loop.last.$0output}}}") % ("x", "Fine")
    assert "The output of the previous iteration" in ask(source).told
    assert ask(source).targets == ["flow.yaml:13 refine"]


@pytest.mark.parametrize("run", ["{ a: {{ dr$0aft }} }", "[{{ dr$0aft }}]", "{{ nobo$0dy } }"])
def test_other_braces_are_left_alone(ask: Any, run: str) -> None:
    assert "draft" not in ask(FLOW % (run, "Fine")).told


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("$0- name: draft", "draft"),
        ("-$0 name: bare", "bare"),
        ("-$0\n    name: below", "below"),
        ("$0- name: refine", "refine"),
    ],
)
def test_a_dash_stands_for_its_step_or_loop(ask: Any, mark: str, name: str) -> None:
    source = FLOW % ("b", "Fine")
    asked = ask(source.replace(mark.replace("$0", ""), mark))
    assert asked.told.startswith(f"**`{name}`** — ")
    assert asked.hover is not None
    assert asked.document.text.slice(asked.hover.span) == "-"


def test_dashes_of_other_lists_say_nothing(ask: Any) -> None:
    assert ask('steps:\n  - name: a\n    needs:\n      $0- b\n    run: "x"\n').told == ""


def test_the_text_of_until_shows_the_question_and_what_to_write(ask: Any) -> None:
    told = ask(FLOW % ("b", "It is $0good enough for us")).told
    assert '```text\nEvaluate this condition: "It is good enough for us"\n\nOutput to evaluate:\n' in told
    assert "Answer with YES if condition is met, NO if not met.\n```" in told
    assert "at most 3 iterations" in told
    assert "- The review starts with PASS (`review` is told to write it" in told


def test_a_condition_that_names_the_word_of_its_callee_gets_no_advice(ask: Any) -> None:
    told = ask(FLOW % ("b", "The review $0starts with PASS")).told
    assert "Evaluate this condition" in told
    assert "the called workflow provides" not in told


def test_where_the_engine_looks_itself_there_is_no_question(ask: Any) -> None:
    asked = ask(FLOW % ("b", "The review $0says PASS"))
    workspace = Workspace.of(Roots("/w"), asked.documents.values(), read_settings("judge: {local: true}\n")[0])
    found = hover(workspace, asked.document, asked.at)
    assert found is not None
    assert "The engine looks for the text itself" in found.text
    assert "Evaluate this condition" not in found.text


@pytest.mark.parametrize("written", ["{{ dr$0aft }}", "{{draft$0}} # remark", "{{ step.dr$0aft }}"])
def test_bare_braces_are_renamed_with_all_others(ask: Any, written: str) -> None:
    """Else the name would be wrong as soon as the quotes are there."""
    asked = ask(FLOW % (written, "Says {{draft}}"))
    found = rename(asked.workspace, asked.document, asked.at, "plan")
    assert isinstance(found, Rename)
    edits = found.edits[asked.document.uri]
    assert [asked.document.text.slice(edit.span) for edit in edits] == ["draft"] * 4
    shown = highlight(asked.workspace, asked.document, asked.at)
    assert sorted(one.span for one in shown) == [one.span for one in edits]


@pytest.mark.parametrize("condition", ["{{draft}} == 'PA$0SS'", "{{draft}} is PA$0SS", "al$0ways"])
def test_the_text_of_an_if_tells_what_it_may_say(ask: Any, condition: str) -> None:
    told = ask(FLOW % (f'"x"\n    if: "{condition}"', "Fine")).told
    assert told.startswith("**`if`**")
    assert "{{x}} == 'yes'" in told
