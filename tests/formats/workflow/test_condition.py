"""The forms of `if`."""

import pytest

from loop_ls.formats.workflow.condition import parse_condition


def test_C9_a_single_variable_is_a_test_of_truth() -> None:
    found = parse_condition(" {{ a }} ")
    assert (found.kind, found.name) == ("truth", "a")
    assert " {{ a }} "[found.at] == "a"


@pytest.mark.parametrize(
    "text", ['${{ a == "yes" }}', "${{a=='yes'}}", '${{ a.result == "yes" }}', "{{a}} == 'yes'", '{{ a }}=="yes"']
)
def test_C9_comparisons(text: str) -> None:
    found = parse_condition(text)
    assert (found.kind, found.name, found.operator, found.value) == ("compare", "a", "==", "yes")
    assert text[found.at] == "a"


def test_WB_064_not_equal() -> None:
    assert parse_condition("{{a}} != 'NO'").operator == "!="


def test_WB_063_only_the_expression_form_drops_result() -> None:
    assert parse_condition("{{a.result}} == 'x'").name == "a.result"


def test_a_loop_variable_and_a_constant_can_be_compared() -> None:
    assert parse_condition("${{ loop.iteration == 3 }}").name == "loop.iteration"
    assert parse_condition("{{env.MODE}} == 'fast'").name == "env.MODE"


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("{{a}} && {{b}}", "&&"),
        ("{{a}} || {{b}}", "||"),
        ("${{ a == 'x' && b == 'y' }}", "&&"),
        ("{{a}} contains 'x'", "contains"),
        ("contains({{a}}, 'x')", "contains("),
        ("{{n}} > 3", ">"),
        ("!{{a}}", "!{{"),
        ("not {{a}}", "not"),
        ("'x' == {{a}}", "=="),
    ],
)
def test_WF213_operators_that_nobody_supports(text: str, operator: str) -> None:
    found = parse_condition(text)
    assert found.kind == "text"
    assert found.unsupported == operator


@pytest.mark.parametrize("text", ["true", "false", "0", "", "always", "<none>", "a, b and more {{x}} here."])
def test_WF213_other_texts_are_plain(text: str) -> None:
    found = parse_condition(text)
    assert found.kind == "text"
    assert found.unsupported == ""


def test_UP_07_a_doubled_quote_stands_for_one() -> None:
    assert parse_condition("{{a}} == 'it''s fine'").value == "it's fine"
