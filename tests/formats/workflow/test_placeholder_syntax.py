"""How placeholders are written, and what a variable belongs to."""

import pytest

from loop_ls.formats.workflow.placeholder_syntax import is_name, mentions, names_in, producers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{input}} {{ input }}", ("input",)),
        ("{{Input}}", ("Input",)),
        ("{{input.x}}", ("input.x",)),
        ("{{input|up}}", ()),
        ("{{env.A}} next to {{input}}", ("env.A", "input")),
        ('{"a": {"b": 1}}', ()),
        ("{{}}", ()),
        ("\\{{input}}", ("input",)),
        ("{{draft-2}} {{überblick}} {{_x}}", ("draft-2", "überblick", "_x")),
        ("{{2x}} {{a b}} {{a[0]}} {{a.}} {{.a}}", ()),
        ("{{\n x \n}}", ("x",)),
    ],
)
def test_C5_what_is_a_placeholder(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", ("x",)),
        ("step.x", ("x", "step.x")),
        ("x.results", ("x.results", "x")),
        ("step.x.results", ("x.results", "step.x.results", "x")),
        ("x.other", ("x.other",)),
        ("input", ()),
        ("env.A", ("env.A",)),
        ("loop.output", ("loop.output",)),
        ("a.b", ("a.b",)),
    ],
)
def test_4_2_which_element_a_variable_belongs_to(name: str, expected: tuple[str, ...]) -> None:
    assert producers(name) == expected


def test_a_wrong_path_still_mentions_what_it_starts_with() -> None:
    assert mentions("draft.title") == ("draft.title", "draft")
    assert mentions("env.A") == ("env.A",)
    assert mentions("input.key") == ("input.key", "input")


def test_names() -> None:
    assert is_name("draft-2")
    assert is_name("a.b")
    assert not is_name("a b")
    assert not is_name("")
