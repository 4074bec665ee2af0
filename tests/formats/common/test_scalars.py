"""What a written scalar means where something other than text is expected."""

import pytest

from loop_ls.formats.common.typed_mapping import Field
from loop_ls.formats.workflow.keys import EXECUTION, LOOP, STEP, WORKFLOW
from tests.formats.reading import field

WHOLE = EXECUTION.keys["max_tokens"]
NUMBER = EXECUTION.keys["temperature"]
FLAG = EXECUTION.keys["parallel"]
WORDS = STEP.keys["needs"]
TEXT = WORKFLOW.keys["version"]
ITEMS = LOOP.keys["items"]


def outcome(one: Field) -> object:
    return one.fault or one.value


@pytest.mark.parametrize("written", ["1.0", "1", "true", "on", "1:30", "2024-01-01", "'x'", "0777", "1e3"])
def test_text_keeps_its_written_form(written: str) -> None:
    assert field(TEXT, written).value == written.strip("'")


@pytest.mark.parametrize("written", ["", "~", "null"])
def test_nothing_is_the_empty_text(written: str) -> None:
    found = field(TEXT, written)
    assert found.value == ""
    assert found.empty


def test_an_empty_text_in_quotes_is_a_value() -> None:
    assert not field(TEXT, '""').empty


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *(("5", 5), ("-3", -3), ("5.0", 5), ("0x10", 16), ("1_000", 1000), ("5.7", "fraction"), ('"5"', "quoted")),
        *(("five", "type"), ("[5]", "type"), ("true", "type"), ("", None), ("9" * 4400, "type"), ("1e400", "type")),
    ],
)
def test_whole_numbers(written: str, expected: object) -> None:
    assert outcome(field(WHOLE, written)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [("0.7", 0.7), ("1", 1.0), (".5", 0.5), ("1e-1", 0.1), ('"0.7"', "quoted"), ("hot", "type"), (".nan", "type")],
)
def test_numbers(written: str, expected: object) -> None:
    assert outcome(field(NUMBER, written)) == expected


@pytest.mark.parametrize("written", ["true", "True", "yes", "ON"])
def test_words_for_true(written: str) -> None:
    assert field(FLAG, written).value is True


@pytest.mark.parametrize("written", ["false", "No", "off"])
def test_words_for_false(written: str) -> None:
    assert field(FLAG, written).value is False


@pytest.mark.parametrize(("written", "fault"), [("1", "type"), ('"true"', "quoted"), ("maybe", "type")])
def test_what_is_no_boolean(written: str, fault: str) -> None:
    assert field(FLAG, written).fault == fault


def test_a_single_word_is_no_list() -> None:
    assert field(WORDS, "fetch").fault == "bare"


def test_a_list_of_words_keeps_written_forms_and_places() -> None:
    found = field(WORDS, "[fetch, 1.0, 'two words']").value
    assert isinstance(found, tuple)
    assert [word.text for word in found] == ["fetch", "1.0", "two words"]  # type: ignore[union-attr]


def test_a_mapping_among_words_is_a_fault_of_that_item_alone() -> None:
    found = field(WORDS, "[fetch, {a: b}]")
    assert [fault.kind for fault in found.faults] == ["type"]
    assert found.faults[0].node.span.start.column > found.span.start.column
    assert len(found.value) == 1  # type: ignore[arg-type]


def test_items_are_one_text() -> None:
    assert field(ITEMS, "[a, b]").fault == "type"


@pytest.mark.parametrize("written", ["{{x}}", "{{ x }}"])
def test_braces_without_quotes_are_told_as_such(written: str) -> None:
    assert field(TEXT, written).fault == "braces"


def test_a_mapping_with_values_is_no_forgotten_pair_of_quotes() -> None:
    assert field(TEXT, "{a: b}").fault == "type"


def test_a_tag_decides_what_quotes_would() -> None:
    assert field(WHOLE, "!!str 5").fault == "quoted"
