"""The notation that the tests of rules, features and server are written in."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.testing.fixture import differences, read_fixture
from loop_ls.text.position import Position, Span, span


@dataclass(frozen=True)
class One:
    rule: str
    severity: int
    span: Span
    message: str


def test_notes_and_cursor_are_taken_out_of_the_text() -> None:
    fixture = read_fixture("""
        name: a
        steps: [x$0yz]
              # ^^^ error: WF007 text expected
        version: 1
    """)
    file = fixture.main
    assert file.text == "name: a\nsteps: [xyz]\nversion: 1\n"
    assert fixture.cursor is not None
    assert fixture.cursor.position == Position(1, 9)
    assert [str(e) for e in file.expected] == ["2:9-12 error: WF007 text expected"]


def test_a_snippet_gets_the_usual_head_named_after_its_file() -> None:
    file = read_fixture("steps: []", path="flows/tidy-notes.yaml").main
    assert file.text.startswith("$schema: workflow/v2.0\nname: tidy_notes\n")
    assert "model: llama3.2" in file.text


def test_a_whole_file_is_left_alone() -> None:
    assert read_fixture("name: x\nsteps: []\n").main.text == "name: x\nsteps: []\n"


def test_file_headers_divide_a_fixture() -> None:
    fixture = read_fixture("""
        #- a.yaml
        x: 1
        #- sub/b.yaml
        y: $02
    """)
    assert list(fixture.texts) == ["a.yaml", "sub/b.yaml"]
    assert fixture.main.path == "sub/b.yaml"


def test_notes_work_inside_block_texts_and_several_may_follow_one_line() -> None:
    file = read_fixture("""
        run: |
          {% if %} {{x}}
          ^ warning: WF505
                   ^^^^^ information: WF502
          more
    """).main
    assert file.text == "run: |\n  {% if %} {{x}}\n  more\n"
    assert [(e.rule, e.column, e.end_column) for e in file.expected] == [("WF505", 2, None), ("WF502", 11, 16)]


def test_missing_and_surplus_findings_are_both_differences() -> None:
    file = read_fixture("""
        a: bc
         # ^^ error: WF007 number
    """).main
    right = One("WF007", 1, span(0, 3, 0, 5), "wants a number")
    assert differences(file, [right]) == []
    wrong = One("WF007", 2, span(0, 3, 0, 5), "wants a number")
    assert differences(file, [wrong]) == [
        "flow.yaml: missing 1:4-6 error: WF007 number",
        "flow.yaml: surplus 1:4-6 warning: WF007 wants a number",
    ]
    assert differences(file, [right, right]) == ["flow.yaml: surplus 1:4-6 error: WF007 wants a number"]
