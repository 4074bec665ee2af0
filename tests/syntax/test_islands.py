"""Placeholders and other signs in texts, with the places where they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loop_ls.syntax.nodes import Scalar
from loop_ls.syntax.placeholders import Island, environment_names, islands, template_tags
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text


def found(written: str) -> tuple[Text, Scalar]:
    """The text `a: written` and its value."""
    text = Text.of(f"a: {written}")
    (piece,) = read_yaml(text).pieces
    assert isinstance(piece.node, Scalar)
    return text, piece.node


def shown(written: str) -> list[tuple[str, str | None, str]]:
    """Kind, name, and what stands in the file at the place of each island."""
    text, scalar = found(written)
    return [(island.kind, island.name, text.slice(island.span)) for island in islands(text, scalar)]


@pytest.mark.parametrize(
    ("written", "name", "place"),
    [
        ("x {{a}} y", "a", "{{a}}"),
        ("x {{ loop.last.output }}", "loop.last.output", "{{ loop.last.output }}"),
        ("'it''s {{a}}'", "a", "{{a}}"),
        ('"\\t{{a}}"', "a", "{{a}}"),
        ('"\\u007b{a}\\x7D"', "a", "\\u007b{a}\\x7D"),
        ('"{{a\\u002eb}}"', "a.b", "{{a\\u002eb}}"),
        ('"x\\\n  {{a}}"', "a", "{{a}}"),
        ("|\n  x\n  {{a}} y\n", "a", "{{a}}"),
        (">-\n  x\n\n  y {{a}}\n", "a", "{{a}}"),
        ("x\n  y\n  {{a}}", "a", "{{a}}"),
        (">\n  {{\n  a }}\n", "a", "{{\n  a }}"),
        ("| # {{no}}\n  {{a}}\n", "a", "{{a}}"),
        ("x {{überblick}}", "überblick", "{{überblick}}"),
        ("x {{_x-1.y_2.3}}", "_x-1.y_2.3", "{{_x-1.y_2.3}}"),
        ("😀 {{a}}", "a", "{{a}}"),
        ("x {{b {{a}}", "a", "{{a}}"),
    ],
)
def test_a_variable_is_found_where_it_is_written(written: str, name: str, place: str) -> None:
    assert shown(written) == [("variable", name, place)]


@pytest.mark.parametrize(
    ("written", "kind", "place"),
    [
        ("x {{a | upper}}", "expression", "{{a | upper}}"),
        ("x {{a[0]}}", "expression", "{{a[0]}}"),
        ("x {{f(a)}}", "expression", "{{f(a)}}"),
        ("x {{a ? 1 : 2}}", "expression", "{{a ? 1 : 2}}"),
        ('x ${{ a == "v" }}', "expression", '{{ a == "v" }}'),
        ("x {{{a}}}", "triple", "{{{a}}}"),
        ("x {{a} b", "unclosed", "{{"),
        ("x {{a", "unclosed", "{{"),
        ("x {{}}", "other", "{{}}"),
        ("x {{1a}}", "other", "{{1a}}"),
        ("x {{a b}}", "other", "{{a b}}"),
        ("'{{\"a\": [1]}}'", "other", '{{"a": [1]}}'),
        ('\'{{"a": {"b": 1}}}\'', "other", '{{"a": {"b": 1}}'),
    ],
)
def test_anything_else_in_braces_is_named_for_what_it_is(written: str, kind: str, place: str) -> None:
    ((found_kind, _, found_place),) = shown(written)
    assert (found_kind, found_place) == (kind, place)


@pytest.mark.parametrize("written", ['x {"a": {"b": 1}}', "x }} {", "x { {a} }", "{{a}}"])
def test_no_double_braces_no_island(written: str) -> None:
    text = Text.of(f"a: {written}")
    node = read_yaml(text).pieces[0].node
    assert not isinstance(node, Scalar) or islands(text, node) == ()


def test_an_open_island_tells_what_was_typed_so_far() -> None:
    text, scalar = found("x {{ loop.la")
    (island,) = islands(text, scalar)
    assert (island.raw, text.slice(island.inner)) == (" loop.la", " loop.la")


def test_the_inner_place_is_between_the_braces() -> None:
    text, scalar = found("'{{ a }} {{{ b }}}'")
    assert [text.slice(island.inner) for island in islands(text, scalar)] == [" a ", " b "]


def test_a_dollar_in_front_is_noted() -> None:
    text, scalar = found("x ${{ a }} {{ b }}")
    assert [island.dollar for island in islands(text, scalar)] == [True, False]


def test_template_tags_are_found_one_by_one() -> None:
    text, scalar = found("|\n  {% if x %}\n  {{x}} {# why #}\n  {% endif\n")
    assert [text.slice(tag.span) for tag in template_tags(text, scalar)] == ["{% if x %}", "{# why #}", "{% endif"]


def test_names_of_the_environment_are_found_and_code_is_noted() -> None:
    text, scalar = found("|\n  ${HOME} $USER $5 $lower `$PATH` ${{x}}\n  ```\n  ${IN}\n  ```\n  $OUT\n")
    names = [(name.name, name.braced, name.code) for name in environment_names(text, scalar)]
    assert names == [
        ("HOME", True, False),
        ("USER", False, False),
        ("PATH", False, True),
        ("IN", True, True),
        ("OUT", False, False),
    ]
    assert [text.slice(name.span) for name in environment_names(text, scalar)][:2] == ["${HOME}", "$USER"]


STYLES: list[Callable[[str], str]] = [
    lambda body: "'" + body.replace("'", "''") + "'",
    lambda body: '"' + body.replace("\\", "\\\\").replace('"', '\\"').replace("e", "\\x65") + '"',
    lambda body: "|\n  " + body,
    lambda body: ">\n  " + body,
]


@given(st.lists(st.sampled_from(["{{", "}}", "{", "}", "a", "e.b", " ", "'", '"', "$", "\\", "|", "é"]), max_size=14))
def test_all_styles_tell_the_same(parts: list[str]) -> None:
    body = "x" + "".join(parts).rstrip()
    told = []
    for style in STYLES:
        text, scalar = found(style(body))
        told.append([_meaning(island) for island in islands(text, scalar)])
        for island in islands(text, scalar):
            assert text.slice(island.span).startswith(("{", "\\x"))
    assert all(other == told[0] for other in told[1:])


def _meaning(island: Island) -> tuple[str, str | None, str, bool]:
    return island.kind, island.name, island.raw, island.dollar
