"""Inside braces: exactly the variables that exist there, best first, each with what it is."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.answers import ItemKind
from loop_ls.features.complete.completion import describe
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
env:
  TONE: friendly
steps:
  - name: plan
    run: "Plan {{input}} for {{audience}}"
  - name: hits
    rag: {server: docs, query: "{{plan}}"}
  - name: later
    needs: [refine]
    run: "Say: %(step)s"
  - name: last
    needs: [later]
    if: "%(if)s"
    run: "x {{later}}"
loops:
  - name: refine
    workflow: polish
    with:
      text: "{{plan}}"
      previous: "%(with)s"
    max_iterations: 3
    until: "%(until)s"
    accumulate: drafts
  - name: each
    workflow: polish
    mode: iterate
    items: "{{plan}}"
    with:
      one: "%(iterate)s"
    max_iterations: 3
#- polish.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: review, run: "Review {{text}} of {{previous}}"}
"""
PLACES = {"step": "{{plan}}", "if": "{{later}}", "with": "{{loop.last.output}}", "until": "Says PASS", "iterate": "x"}


def findings(asked: Any, text: str) -> set[str]:
    """The rules that speak up when the file has this text."""
    changed = Document.open(asked.document.uri, text)
    others = [one for one in asked.documents.values() if one.uri != changed.uri]
    workspace = Workspace.of(Roots("/w"), [changed, *others])
    return {one.rule for one in Checker().findings(workspace, changed)}


def at(ask: Any, place: str, text: str = "{{$0}}") -> Any:
    return ask(FLOW % {**PLACES, place: text})


def test_D_in_the_with_of_a_refine_loop_loop_variables_come_first(ask: Any) -> None:
    labels = at(ask, "with").labels
    assert labels[:3] == ["loop.last.output", "loop.iteration", "loop.history"]
    assert "loop.output" not in labels, "WF507 asks for `loop.last.output` then"
    assert {"input", "plan", "hits", "hits.results", "audience", "env.TONE"} <= set(labels)
    assert not {"later", "last", "refine", "drafts", "loop.index"} & set(labels), "they come later, or not at all"


def test_D_each_loop_variable_tells_its_meaning_and_first_value(ask: Any) -> None:
    asked = at(ask, "with")
    assert asked.item("loop.last.output").detail == 'the output of the previous iteration ("" in the first)'
    assert asked.item("loop.iteration").detail == "the number of this iteration, from 1 (1 in the first)"
    told = describe(asked.workspace, asked.document, asked.item("loop.history").about) or ""
    assert "iteration 1: empty · iteration 2: output 1 · iteration 3: `output 1---output 2`" in told


def test_D_in_an_iterate_loop_there_are_those_of_its_mode(ask: Any) -> None:
    labels = at(ask, "iterate").labels
    assert labels[:3] == ["loop.current", "loop.index", "loop.count"]
    assert "loop.last.output" not in labels and "loop.iteration" not in labels


def test_D_in_items_there_are_the_results_before_the_loop(ask: Any) -> None:
    source = FLOW.replace('items: "{{plan}}"', 'items: "{{$0}}"')
    labels = ask(source % PLACES).labels
    assert {"input", "plan", "hits", "hits.results", "audience", "env.TONE"} <= set(labels)
    assert not {"each", "loop.last.output", "loop.history"} & set(labels)


def test_D_in_a_step_results_of_what_it_waits_for_come_before_others(ask: Any) -> None:
    labels = at(ask, "step").labels
    assert labels.index("refine") < labels.index("each")
    assert {"drafts", "loop.iteration", "loop.output", "input", "env.TONE", "audience"} <= set(labels)
    assert not {"later", "last", "loop.last.output", "loop.history"} & set(labels)
    assert "adds a dependency" in at(ask, "step").item("each").detail


def test_D_in_until_nothing_is_offered_that_would_be_found_there(ask: Any) -> None:
    asked = at(ask, "until", "The output of {{$0}} is right")
    assert asked.labels[0] == "env.TONE"
    assert {"input", "plan", "audience"} <= set(asked.labels)
    for label in asked.labels:
        found = findings(asked, asked.accepted(label))
        assert "WF702" not in found, label


def test_a_result_of_the_loop_itself_or_of_its_callee_is_not_offered_in_until(ask: Any) -> None:
    source = FLOW.replace('until: "%(until)s"', 'until: "{{$0}} is {{review}}"')
    assert not {"refine", "drafts", "review", "polish"} & set(ask(source % PLACES).labels)


@pytest.mark.parametrize("place", ["with", "iterate", "step", "until"])
def test_no_offer_brings_a_finding_about_variables(ask: Any, place: str) -> None:
    asked = at(ask, place)
    before = findings(asked, at(ask, place, "x").fixture.main.text)
    for label in asked.labels:
        assert findings(asked, asked.accepted(label)) <= before | {"WF502", "WF513", "WF301"}, label


@pytest.mark.parametrize(
    ("typed", "label"), [("{{st$0", "step.plan"), ("{{step.$0", "step.plan"), ("{{step.pl$0}}", "step.plan")]
)
def test_the_other_spelling_of_a_result_is_completed(ask: Any, typed: str, label: str) -> None:
    asked = at(ask, "step", typed)
    assert label in asked.labels
    assert asked.accepted_line(label) == '    run: "Say: {{step.plan}}"'
    assert describe(asked.workspace, asked.document, asked.item(label).about)


def test_the_other_spelling_stays_out_of_the_way_until_it_is_typed(ask: Any) -> None:
    assert not [label for label in at(ask, "step", "{{$0}}").labels if label.startswith("step.")]


def test_D_in_if_with_and_without_braces_of_its_own(ask: Any) -> None:
    assert "later" in at(ask, "if").labels
    asked = at(ask, "if", "${{ la$0 == 'x' }}")
    assert asked.accepted_line("later") == "    if: \"${{ later == 'x' }}\""


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("{{$0}}", '      previous: "{{loop.history}}"'),
        ("{{lo$0}}", '      previous: "{{loop.history}}"'),
        ("{{lo$0op.x}}", '      previous: "{{loop.history}}"'),
        ("{{ loop.h$0 }}", '      previous: "{{ loop.history }}"'),
        ("{{lo$0", '      previous: "{{loop.history}}"'),
        ("a {{lo$0} b", '      previous: "a {{loop.history}} b"'),
        ("{$0}", '      previous: "{{loop.history}}"'),
        ("{$0", '      previous: "{{loop.history}}"'),
        ("{{plan}} {{$0", '      previous: "{{plan}} {{loop.history}}"'),
    ],
)
def test_half_typed_braces(ask: Any, typed: str, line: str) -> None:
    asked = at(ask, "with", typed)
    assert asked.labels[0].startswith("loop.")
    assert asked.accepted_line("loop.history") == line


@pytest.mark.parametrize("typed", ["{{lo$0", "{{lo$0}}", "{{$0}} # why", "{$0}", "{$0", "{{lo$0}"])
def test_plain_braces_get_the_quotes_that_make_them_a_text(ask: Any, typed: str) -> None:
    asked = ask(FLOW.replace('"%(with)s"', "%(with)s") % {**PLACES, "with": typed})
    tail = " # why" if "#" in typed else ""
    assert asked.accepted_line("loop.history") == f'      previous: "{{{{loop.history}}}}"{tail}'


def test_plain_text_that_only_holds_braces_needs_none(ask: Any) -> None:
    asked = ask(FLOW.replace('"%(with)s"', "%(with)s") % {**PLACES, "with": "see {{lo$0}} there"})
    assert asked.accepted_line("loop.history") == "      previous: see {{loop.history}} there"


def test_in_block_texts(ask: Any) -> None:
    source = FLOW.replace('run: "Say: %(step)s"', "run: |\n      Say:\n      %(step)s\n\n      end")
    asked = ask(source % {**PLACES, "step": "- {{re$0"})
    assert asked.accepted_line("refine") == "      - {{refine}}"


def test_the_word_that_is_being_typed_is_no_parameter_yet(ask: Any) -> None:
    assert "audi" not in at(ask, "with", "{{audi$0}}").labels
    assert "audience" in at(ask, "with", "{{audience$0}}").labels


def test_where_the_loop_cannot_be_read(ask: Any) -> None:
    source = FLOW.replace("    max_iterations: 3\n    until", "    max_iterations: [3\n    until")
    labels = ask(source % {**PLACES, "with": "{{$0}}"}).labels
    assert "loop.last.output" in labels and "plan" in labels


@pytest.mark.parametrize("where", ["name: {{$0}}", "description: a {{$0}}", "needs: [{{$0}}]", "model: {{$0"])
def test_nothing_where_placeholders_are_not_filled_in(ask: Any, where: str) -> None:
    items = ask(f"steps:\n  - name: a\n    {where}\n").items
    assert not [item for item in items if item.kind is ItemKind.VARIABLE]


@pytest.mark.parametrize("text", ["{{plan}}$0", "{{plan}} $0 {{plan}}", "plan$0", "{{ plan x$0 }}"])
def test_nothing_outside_of_braces(ask: Any, text: str) -> None:
    assert at(ask, "step", text).labels == []


@pytest.mark.parametrize("text", ["$0", ""])
def test_an_empty_argument_is_filled_with_a_fitting_variable(ask: Any, text: str) -> None:
    source = FLOW.replace('"%(with)s"', "$0") if not text else FLOW
    asked = ask(source % {**PLACES, "with": text})
    assert asked.labels[0] == "{{loop.last.output}}"
    assert asked.items[0].preselect
    assert asked.accepted_line("{{loop.last.output}}") == '      previous: "{{loop.last.output}}"'


def test_UP_05_in_a_callee_the_arguments_of_its_callers(ask: Any) -> None:
    asked = ask((FLOW % PLACES).replace("Review {{text}}", "Review {{$0}}"))
    assert {"text", "previous", "one", "item", "input"} <= set(asked.labels)
    assert {"loop.last.output", "loop.index"} <= set(asked.labels), "both kinds of loops call it"
    assert asked.item("text").detail == "an argument from `flow`"


def test_D_nothing_twice_and_nothing_of_other_files(ask: Any) -> None:
    labels = at(ask, "step").labels
    assert len(labels) == len(set(labels))
    assert "review" not in labels


@pytest.mark.parametrize(
    "damage",
    [
        "    needs: [\n",
        '    run: "\n',
        "\t x\n",
        "    {{x}}: y\n",
        "  nonsense\n",
        "    a: b: c\n",
        "    - - [ {\n",
        "  - {name: [\n",
    ],
)
def test_damage_elsewhere_changes_nothing_here(ask: Any, damage: str) -> None:
    whole = at(ask, "with").labels
    source = FLOW.replace("  - name: last\n", f"  - name: hurt\n{damage}  - name: last\n")
    broken = ask(source % {**PLACES, "with": "{{$0}}"}).labels
    assert [label for label in broken if label not in ("hurt", "x")] == whole
