"""The fields of an assistant's loop: read, refused, and written into files of every layout."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.actions.loop_setup import loop_problems, loop_values, with_loop
from loop_ls.index.document import Document

OFF = """\
# who repairs tests
name: Fixer # short
persona: |
  You repair tests.

model: sonnet
"""
ON = """\
name: Fixer
persona: p
loopEnabled: true   # since May
loopCriteria:
  # what ends it
  type: regex       # not a test yet
  value: 'DONE|READY' # the words
maxIterations: 10   # ten
purpose: coding
"""
LIST = """\
assistants:
  - name: Fixer
    persona: p
  - {name: Writer, persona: p, loopEnabled: true, loopCriteria: {type: manual}}
"""
JSON = """\
{
  "name": "Fixer",
  "persona": "p",
  "loopEnabled": true,
  "loopCriteria": { "type": "test_pass", "value": "npm test" },
  "maxIterations": 10
}
"""


def opened(text: str, name: str = "a.assistant.yaml") -> Document:
    return Document.open(f"file:///w/{name}", text)


def saved(text: str, key: str = "fixer", name: str = "a.assistant.yaml", **values: Any) -> str:
    document = opened(text, name)
    one = next(each for each in document.whole.assistants if each.key == key)
    wanted = {**loop_values(one), **values}
    assert loop_problems(wanted) == []
    result = with_loop(document, key, wanted)
    again = next(each for each in opened(result, name).whole.assistants if each.key == key)
    if wanted["loopEnabled"]:
        shown = loop_values(again)
        value = {"regex": "pattern", "test_pass": "command"}.get(wanted["type"])
        same = ("loopEnabled", "type", "maxIterations", *([value] if value else []))
        assert {name: shown[name] for name in same} == {name: wanted[name] for name in same}
    return result


@pytest.mark.parametrize(
    ("text", "name"),
    [(OFF, "a.assistant.yaml"), (ON, "a.assistant.yaml"), (LIST, "a.assistant.yml"), (JSON, "a.assistant.json")],
)
def test_saving_what_holds_changes_nothing(text: str, name: str) -> None:
    assert saved(text, name=name) == text


def test_on_writes_the_switch_and_the_criterion_below_what_is_there() -> None:
    result = saved(OFF, loopEnabled=True, type="test_pass", command="pytest -q", maxIterations=5)
    assert result == OFF + (
        "loopEnabled: true\nloopCriteria:\n  type: test_pass\n  value: pytest -q\nmaxIterations: 5\n"
    )


def test_AB_144_off_takes_the_criterion_away_and_keeps_the_limit_and_comments() -> None:
    assert saved(ON, loopEnabled=False) == (
        "name: Fixer\npersona: p\nloopEnabled: false   # since May\nmaxIterations: 10   # ten\npurpose: coding\n"
    )


def test_only_what_changed_is_written() -> None:
    assert saved(ON, maxIterations=20) == ON.replace("maxIterations: 10 ", "maxIterations: 20 ")
    assert saved(ON, pattern="GREEN") == ON.replace("'DONE|READY'", "'GREEN'")


def test_a_command_is_not_the_pattern_that_stood_there() -> None:
    """The original shares one typed value between the criteria, so a pattern became the command."""
    shown = loop_values(opened(ON).whole.assistants[0])
    assert (shown["pattern"], shown["command"]) == ("DONE|READY", "")
    assert loop_problems({**shown, "type": "test_pass"})[0]["name"] == "command"
    result = saved(ON, type="test_pass", command="npm test")
    assert "type: test_pass       # not a test yet\n  value: 'npm test' # the words" in result
    assert "# what ends it" in result


@pytest.mark.parametrize("type_", ["manual", "max_iterations"])
def test_a_criterion_without_a_value_has_none(type_: str) -> None:
    result = saved(ON, type=type_)
    assert f"type: {type_}" in result
    assert "value" not in result
    assert "# what ends it" in result


def test_an_assistant_of_a_list_in_block_and_in_flow_style() -> None:
    first = saved(LIST, loopEnabled=True, type="regex", pattern="a: b", maxIterations=3)
    assert first.startswith(
        "assistants:\n  - name: Fixer\n    persona: p\n    loopEnabled: true\n    loopCriteria:\n"
        '      type: regex\n      value: "a: b"\n    maxIterations: 3\n  - {name: Writer'
    )
    second = saved(LIST, "writer", type="regex", pattern="x, y")
    assert 'loopCriteria: {type: regex, value: "x, y"}}' in second
    assert saved(LIST, "writer", loopEnabled=False).endswith("loopEnabled: false}\n")


def test_json_stays_json_with_its_layout() -> None:
    def name(**values: Any) -> str:
        return saved(JSON, name="a.assistant.json", **values)

    assert name(type="regex", pattern='say "DONE"') == JSON.replace(
        '"test_pass", "value": "npm test"', '"regex", "value": "say \\"DONE\\""'
    )
    assert name(loopEnabled=False) == JSON.replace("true", "false").replace(
        '  "loopCriteria": { "type": "test_pass", "value": "npm test" },\n', ""
    )
    bare = '{\n  "name": "Fixer",\n  "persona": "p"\n}\n'
    assert saved(bare, name="a.assistant.json", loopEnabled=True, type="manual", maxIterations=1) == (
        '{\n  "name": "Fixer",\n  "persona": "p",\n  "loopEnabled": true,\n'
        '  "loopCriteria": {"type": "manual"},\n  "maxIterations": 1\n}\n'
    )


def test_a_text_that_looks_like_a_number_stays_a_text() -> None:
    assert 'value: "404"' in saved(OFF, loopEnabled=True, type="regex", pattern="404")


def test_windows_line_ends_stay() -> None:
    result = saved(OFF.replace("\n", "\r\n"), loopEnabled=True, type="regex", pattern="DONE")
    assert result.count("\n") == result.count("\r\n")


def test_an_empty_criterion_is_filled() -> None:
    assert "loopCriteria: {type: regex, value: DONE}" in saved(
        "name: Fixer\npersona: p\nloopEnabled: true\nloopCriteria: {}\n", type="regex", pattern="DONE"
    )


def test_words_of_a_command_stay_and_its_other_keys_too() -> None:
    text = "name: Fixer\npersona: p\nloopEnabled: true\nloopCriteria: {type: test_pass, argv: [npm, test], cwd: a}\n"
    assert saved(text.replace("test_pass", "regex, value: x"), maxIterations=3).endswith("maxIterations: 3\n")
    assert "argv: [npm, test], cwd: a" in saved(text, type="regex", pattern="x")


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"type": "regex", "pattern": ""}, "pattern"),
        ({"type": "regex", "pattern": "(a"}, "pattern"),
        ({"type": "test_pass", "command": "  "}, "command"),
        ({"type": "regexp"}, "type"),
        ({"maxIterations": 0}, "maxIterations"),
        ({"maxIterations": 101}, "maxIterations"),
        ({"maxIterations": True}, "maxIterations"),
    ],
)
def test_what_is_wrong_is_named(values: dict[str, Any], name: str) -> None:
    shown = loop_values(opened(OFF).whole.assistants[0])
    assert [one["name"] for one in loop_problems({**shown, "loopEnabled": True, **values})] == [name]
