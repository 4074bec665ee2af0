"""What is read without libyaml is what libyaml reads, and common files need it for hardly anything."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from loop_ls.syntax.nodes import Mapping, Sequence
from loop_ls.syntax.yaml import fast_path
from loop_ls.syntax.yaml.compose import compose
from loop_ls.text.fault import Fault
from tests.syntax.flat import flat_node
from tests.syntax.incremental.test_cut_equals_whole import documents
from tests.syntax.odd_lines import document

relaxed = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

parts = st.sampled_from(
    [
        *("a: x", "b:", "- c: d", "- e", "-", "  f: 'g'", "    h: i", "  - j: k", "  - l", "# m", "  # n", ""),
        *(
            '  o: "p # q"',
            "  r: |",
            "    s",
            "      t",
            "   u",
            "  v: |-",
            " ",
            "      ",
            "w: [x, y]",
            "z: x  # remark",
        ),
        *("a: -1", "a: b:c", "a: b#c", "a:b", "- #c", "a:  {{x}} y", "a: x {{y}}", "a: x, y]", "é: ü", "k: ü z"),
    ]
)


def check(lines: list[str], more: bool) -> None:
    node = fast_path.read(lines, more)
    if node is not None:
        assert flat_node(node) == flat_node(compose(lines, more).node)


@relaxed
@given(st.lists(parts, max_size=9), st.booleans())
@example(["a: |", "  x", "", "  y", "", ""], True)
@example(["a: |", "  x"], False)
@example(["steps:", "- a: |", "    x", "- b: 1"], True)
@example(["a:", "  b: 1", "  c:", "d: 1"], True)
@example(["   - #'a b': &x"], True)
def test_lines_of_common_shapes(lines: list[str], more: bool) -> None:
    check(lines, more)


@relaxed
@given(documents(), st.booleans())
def test_documents(text: str, more: bool) -> None:
    check(text.split("\n"), more)


@relaxed
@given(st.integers(0, 2**32), st.booleans())
def test_odd_texts(seed: int, more: bool) -> None:
    check(document(random.Random(seed)).splitlines(), more)


def test_a_common_step_is_read_without_libyaml() -> None:
    step = """\
  - name: polish  # a remark
    needs: [draft, title]
    temperature: 0.3
    if: "{{draft}}"
    run: |
      Polish {{draft}}:

        - keep four lines
      Thanks.
    loop:
      workflow: dev/cycle
      with:
        previous: '{{loop.last.output}}'
      until: Tests pass
"""
    assert fast_path.read(step.split("\n"), True) is not None


def test_a_word_that_is_going_to_be_a_key_is_read_and_noted() -> None:
    half: list[Fault] = []
    node = fast_path.read(["- name: a", "  with:", "    ite", "    k: v", "  un", "  run: b"], True, half)
    assert isinstance(node, Sequence)
    item = node.items[0]
    assert isinstance(item, Mapping)
    assert [entry.key.text for entry in item.entries] == ["name", "with", "un", "run"]
    assert [(fault.code, fault.span.start) for fault in half] == [("missing-colon", (2, 4)), ("missing-colon", (4, 2))]


@pytest.mark.parametrize(
    "lines", [["a:", "  word"], ["a: b", "  word"], ["word"], ["- a", "  word"], ["a: b", "two words"]]
)
def test_a_word_that_may_be_a_text_is_not(lines: list[str]) -> None:
    assert fast_path.read(lines, True, []) is None


@pytest.mark.parametrize(
    "line",
    [
        *(
            "a: &x b",
            "a: *x",
            "a: !t b",
            "a: >\n  b",
            "a: b\n  c",
            "a: {b: c}",
            'a: "b\\n"',
            "a: b: c",
            "<<: x",
            "'a': b",
        ),
        *(
            "a: ''''",
            "a:\tb",
            "a: \x07",
            "a: @b",
            "? a",
            "a: |2\n  b",
            "a: |\n\n   \n  b",
            "a: [b",
            "- - a",
            "a: |\nb: c",
        ),
    ],
)
def test_anything_else_is_left_to_libyaml(line: str) -> None:
    assert fast_path.read(line.split("\n"), True) is None
