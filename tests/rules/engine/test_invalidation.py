"""What an edit makes worth asking again: nothing that has to be asked is missing, and nothing more is asked."""

from __future__ import annotations

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.engine.invalidation import changed_topics, difference
from loop_ls.testing.fixture import HEAD
from loop_ls.text.position import Position, Span

TEXT = (
    HEAD.format(name="flow")
    + """\
env: {TONE: dry}
execution: {provider: ollama, model: llama3.2, servers: [files]}
steps:
  - {name: a, run: "{{input}}"}
  - {name: b, run: "{{a}} {{more}}"}
  - {name: c, needs: [b], run: "{{b}}"}
loops:
  - {name: l, workflow: draft, max_iterations: 3, until: "It says READY", accumulate: all}
"""
)
#: Who runs before whom, and what follows from it.
ORDER = "graph cycles parameters "


def topics(old: str, new: str, text: str = TEXT) -> set[str]:
    """The topics of an edit, `name:a` for `("name", "a")`."""
    before = Document.open("file:///ws/flow.yaml", text)
    for number, _ in enumerate(before.elements):
        assert before.graph.dependencies(number) is not None  # an edit takes over what is there already
    assert before.parameters is not None
    at = text.index(old)
    start = Position(text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1)
    last = old.rpartition("\n")[2]
    end = Position(start.line + old.count("\n"), len(last) + (0 if "\n" in old else start.column))
    after = before.edit(Span(start, end), new)
    gone, come = difference(before.elements, after.elements)
    lost, fresh = difference(before.tree.pieces, after.tree.pieces)
    found = changed_topics(before, after, gone, come, (*lost, *fresh))
    return {topic if isinstance(topic, str) else ":".join(topic) for topic in found if isinstance(topic, str | tuple)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("3, until", "4, until", "models place:l place:all"),
        ('{{more}}"', '{{more}}!"', "models place:b users:more"),
        ('{{more}}"', '"', ORDER + "models place:b mentions:more users:more"),
        ("{{a}} {{more}}", "{{input}} {{more}}", ORDER + "models place:b users:more mentions:a mentions:input"),
        ('"{{b}}"', '"{{b.x}}"', ORDER + "models place:c last mentions:b mentions:b.x"),
        (
            "name: c",
            "name: d",
            ORDER + "models last names place:c place:d name:c name:d mentions:c mentions:d",
        ),
        (
            '  - {name: c, needs: [b], run: "{{b}}"}\n',
            "",
            ORDER + "models last names shape place:b place:c name:c mentions:a mentions:b mentions:more users:more",
        ),
        ("b, run", "b, execution_order: 2, run", ORDER + "models place:b name:b users:more"),
        ("3, until", "3, on_failure: continue, until", "models place:l place:all name:l name:all"),
        ("draft,", "draft, mode: iterate,", "models graph place:l place:all name:l name:all"),
        (
            "accumulate: all",
            "accumulate: every",
            ORDER + "models names place:l place:all place:every name:all name:every",
        ),
        ("accumulate: all", "accumulate: a", ORDER + "models names place:l place:all place:a name:all name:a"),
        ('{name: a, run: "{{input}}"}', "a", ORDER + "models names odd shape place:a name:a mentions:input users:a"),
        ("dry", "wet", "pieces shape top:env"),
        ("TONE", "TUNE", "pieces shape top:env env mentions:env"),
        ("llama3.2", "llama3.3", "pieces shape models top:execution execution:model execution:servers"),
        ("ollama", "ollama, parallel: true", "pieces shape models top:execution execution:parallel execution:servers"),
        (", servers: [files]", "", "pieces shape models top:execution execution:servers"),
        ("A fixture", "A flow", "pieces shape top:description"),
        ("steps:\n", "steps: # x\n", "pieces shape top:steps"),
        (
            "loops:\n",
            '  - {name: d, run: "x"}\nloops:\n',
            ORDER + "last models names shape mentions:b name:d place:c place:d",
        ),
        (
            "{{a}} {{more}}",
            "{{a}} {{more}} {{env.TONE}}",
            ORDER + "models mentions:env mentions:env.TONE place:b users:more",
        ),
        ('[b], run: "{{b}}"', '[b], run: "x"', ORDER + "last models mentions:b place:c"),
        ("env: {TONE: dry}\n", "", "env mentions:env models pieces shape execution:servers top:env top:execution"),
        ("env: {", "author: me\nenv: {", "pieces shape top:author top:env"),
        ("steps:\n", "steps: *none\n", "faults pieces shape top:steps"),
        (
            "loops:\n",
            "---\nloops:\n",
            ORDER + "faults models names pieces shape name:all name:l place:all place:l top:loops",
        ),
    ],
)
def test_an_edit_makes_worth_asking_what_it_changed(old: str, new: str, expected: str) -> None:
    assert topics(old, new) == set(expected.split())


@pytest.mark.parametrize("new", ["", "- a\n", "a"])
def test_another_root_makes_worth_asking_what_is_wrong_with_the_file(new: str) -> None:
    assert "faults" in topics(TEXT, new)


def test_a_first_step_makes_worth_asking_for_its_name() -> None:
    text = HEAD.format(name="flow") + "steps: []\nloops:\n  - {name: l, workflow: draft}\n"
    first = HEAD.format(name="flow") + "steps:\n"
    assert {"models", "names", "name:a"} <= topics("steps:\n", "steps:\n  - {name: a, run: x}\n", first)
    assert "names" not in topics("steps: []", "steps: [] # none", text)


def test_an_edit_in_a_circle_makes_worth_asking_where_it_stands() -> None:
    """Although nobody waits for anybody else than before."""
    text = HEAD.format(name="flow") + 'steps:\n  - {name: a, run: "{{b}}"}\n  - {name: b, run: "{{a}}"}\n'
    assert {"cycles", "graph"} & topics("{{b}}", "Of {{b}}", text) == {"cycles"}
    assert {"cycles", "graph"} & topics("{{a}}", "Of {{a}}") == set()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "axc", ("b", "x")),
        ("abc", "xbc", ("a", "x")),
        ("abc", "abx", ("c", "x")),
        ("abc", "ac", ("b", "")),
        ("ac", "abc", ("", "b")),
        ("aa", "aaa", ("", "a")),
        ("abcd", "axyd", ("bc", "xy")),
        ("", "a", ("", "a")),
        ("ab", "ab", ("", "")),
        ("abc", "xyz", ("abc", "xyz")),
    ],
)
def test_what_differs_lies_between_what_is_common(old: str, new: str, expected: tuple[str, str]) -> None:
    gone, come = difference(tuple(old), tuple(new))
    assert ("".join(gone), "".join(come)) == expected
