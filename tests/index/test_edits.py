"""A document after edits equals one that is read afresh, and shares what an edit did not touch."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span
from tests.index.building import document, element, place, typed, workspace

BODY = """
execution: {provider: p, model: m}
env: {MODE: fast}
steps:
  - name: a
    run: |
      Hello {{input}} and {{topic}}.
  - name: b
    needs: [a]
    if: ${{ a == "x" }}
    run: "{{a}} {{step.a}} {{loop.iteration}}"
loops:
  - name: l
    workflow: other
    with:
      x: "{{b}}"
    max_iterations: 2
    until: says PASS
    accumulate: h
steps:
  - name: c
    needs: [l]
    template: {name: team/report, with: {all: "{{h}}"}}
"""

BITS = (
    *("a", "b", "l", "h", "x", "{{a}}", "{{c}}", "{{topic}}", "{{loop.output}}", "}}", "{{", ": ", "- ", "\n", "\n  "),
    *(
        "\n  - name: z\n    run: '{{c}}'\n",
        "\nsteps:\n",
        "\nloops:\n",
        "    needs: [c]\n",
        "name: a\n",
        "'",
        '"',
        "[",
        "]",
    ),
    *("  - {name: a, run: x}\n", "# note\n", "\t", "accumulate: a\n", "$schema: x\n", "execution_order: 1\n", "", ""),
)


def state(found: Document) -> dict[str, Any]:
    """Everything that a document says, in values that two documents can be compared by."""
    position = found.position
    return {
        "format": found.format,
        "name": found.name,
        "tops": [(top.name, found.absolute(top.piece, top.entry.key.span)) for top in found.head.tops],
        "env": sorted(found.env),
        "elements": [
            (e.kind, e.name, found.absolute(e.piece, e.span), e.node, [found.absolute(e.piece, u.span) for u in e.uses])
            for e in found.elements
        ],
        "names": {
            name: [(d.kind, position(d.element), d.span) for d in definitions]
            for name, definitions in found.names.items()
        },
        "mentions": {name: [position(e) for e in found.mentioning(name)] for name in found.mentioned()},
        "parameters": found.parameters,
        "references": found.references,
        "calling": [position(e) for e in found.calling],
        "order": found.graph.order(),
        "cycles": found.graph.cycles,
        "edges": [found.graph.targets(i) for i in range(len(found.graph))],
        "reach": [found.graph.dependencies(i) for i in range(len(found.graph))],
        "explicit": [
            [j for j in range(len(found.graph)) if found.graph.depends_explicitly(i, j)]
            for i in range(len(found.graph))
        ],
    }


def some_edit(found: Document, chance: random.Random) -> tuple[Span, str]:
    lines = found.text.lines
    first = chance.randrange(len(lines))
    last = min(len(lines) - 1, first + chance.choice((0, 0, 0, 0, 1, 4)))
    start = Position(first, chance.randint(0, len(lines[first])))
    end = max(start, Position(last, chance.randint(0, len(lines[last]))))
    return Span(start, start if chance.random() < 0.6 else end), chance.choice(BITS)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9))
@example(seed=67_108_863)  # chunks with equal order numbers
def test_a_document_after_edits_equals_one_read_afresh(seed: int) -> None:
    chance = random.Random(seed)
    found = document(BODY)
    for _ in range(12):
        if chance.random() < 0.7:
            found.graph.cycles  # noqa: B018 - what is known must be carried over rightly
        found = found.edit(*some_edit(found, chance))
        afresh = Document.open(found.uri, str(found.text))
        assert state(found) == state(afresh)


HEADS = (
    *("$schema: workflow/v2.0", "# $schema: workflow/v2.0", "$schema: other/v1", "- $schema: workflow/v2.0"),
    *("name: long", "  name: long", "execution: {}", "    execution: {}", "steps:", "    loops:", "x: [", "---", ""),
    *("  - name: a", "checks:", "  - contains: x", "'steps': []", "? name", ": long"),
)


@pytest.mark.parametrize("name", ["a.yaml", "a.checks.yaml", "a.cases.yaml", "roles/a.md", "a.json", "loops/a.json"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9), lines=st.sampled_from([0, 60]))
def test_a_document_is_after_edits_what_one_read_afresh_is(name: str, seed: int, lines: int) -> None:
    chance = random.Random(seed)
    found = Document.open(f"file:///w/{name}", "\n".join(["name: x"] + ["    - name: y"] * lines))
    for _ in range(12):
        first = chance.randrange(min(6, len(found.text.lines)))
        last = min(first + chance.choice((0, 0, 1, 3)), len(found.text.lines) - 1)
        new = "".join(f"{line}\n" for line in chance.sample(HEADS, chance.choice((0, 1, 1, 3))))
        found = found.edit(Span(Position(first, 0), Position(last, 0)), new)
        afresh = Document.open(found.uri, str(found.text))
        assert found.tree.is_read == afresh.tree.is_read
        assert state(found) == state(afresh)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_workspace_after_edits_equals_one_built_afresh(seed: int) -> None:
    chance = random.Random(seed)
    files = [document(BODY, "w"), document(BODY, "other", "/w/team/other.yaml"), document(BODY, "report", "/w/r.yaml")]
    found = workspace(*files)
    for _ in range(12):
        uri = chance.choice(list(found.documents))
        if chance.random() < 0.1:
            found = found.without(uri).with_document(
                document(BODY, chance.choice(("w", "other", "new")), f"/w/{_}.yaml")
            )
            continue
        one = found.documents[uri]
        found = found.with_document(one.edit(*some_edit(one, chance)))
    afresh = Workspace.of(found.roots, found.documents.values())
    assert found.keys == afresh.keys
    assert found.referring == afresh.referring


def test_an_edit_of_a_prompt_touches_one_element_and_nothing_else() -> None:
    before = document(BODY)
    graph = before.graph
    parameters, references = before.parameters, before.references
    after = typed(before, "Hello", "Good morning")
    assert [a is b for a, b in zip(before.elements, after.elements, strict=True)] == [False, True, True, True]
    assert after.graph is graph
    assert after.parameters is parameters
    assert after.head is before.head
    assert after.references is references


def test_an_edit_of_a_comment_outside_of_elements_changes_nothing() -> None:
    before = document("# first\n" + BODY)
    assert before.parameters and before.graph
    after = typed(before, "first", "second")
    assert after.elements is before.elements
    assert after.parameters is before.parameters
    assert after.graph is before.graph


def test_an_insertion_moves_what_follows_without_reading_it_again() -> None:
    before = document(BODY)
    line = place(before, "loops:").start.line
    after = before.edit(Span(Position(line, 0), Position(line, 0)), "  - {name: new, run: '{{b}}'}\n")
    assert [e.name for e in after.elements] == ["a", "b", "new", "l", "c"]
    assert element(after, "c") is element(before, "c")
    assert after.absolute(element(after, "c").piece, element(after, "c").span) == element_span(before, "c").shift(1)


def element_span(found: Document, name: str) -> Span:
    return found.absolute(element(found, name).piece, element(found, name).span)


def test_a_name_typed_letter_by_letter_ends_where_it_should() -> None:
    found = document(BODY)
    found.graph.cycles  # noqa: B018
    found = typed(found, "name: b", "name: bee")
    assert found.graph.cycles == ()
    assert "b" in found.parameters
    found = typed(found, "{{b}}", "{{bee}}")
    assert found.parameters == ("topic",)
    assert found.graph.targets(2) == (1,)
    found = typed(found, "needs: [a]", "needs: [a, c]")
    assert found.graph.cycles == ((1, 3, 2),)
    found = typed(found, "needs: [a, c]", "needs: [a]")
    assert found.graph.cycles == ()


def test_versions_count_up_or_are_told() -> None:
    before = document(BODY)
    assert typed(before, "Hello", "x").version == 1
    assert before.edit(place(before, "Hello"), "x", 9).version == 9
    assert before.version == 0
