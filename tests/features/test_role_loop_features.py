"""Features in role-loop definitions: completion, hover, navigation, renaming, outline, lenses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.features.answers import Completions, Item, ShownRun, SymbolKind
from loop_ls.features.definition import definition
from loop_ls.features.highlight import highlight
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.linked_editing import linked
from loop_ls.features.references import references
from loop_ls.features.rename.answers import Refused, Rename
from loop_ls.features.rename.rename import prepare, rename
from loop_ls.features.semantic_tokens.token import TokenType
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.features.symbols.workspace_symbols import workspace_symbols
from loop_ls.formats.role_loop.keys import DEFINITION, PARAMETER, ROLE, TERMINATION, TERMINATIONS
from loop_ls.formats.role_loop.roles import ROLES
from loop_ls.formats.settings.model import settings_of
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.position import Position
from tests.features.conftest import Ask, Asked, replaced

PATH = "loops/build.json"

WHOLE = """\
{
  "name": "build",
  "description": "Builds a {{size}} house",
  "parameters": [
    {"name": "size", "description": "Size of it", "required": false, "default": "big"},
    {"name": "colour", "description": "Colour of it"}
  ],
  "roles": [
    {"name": "draw", "role": "plan", "prompt": "Draw a {{size}} house."},
    {"name": "make", "role": "coder", "prompt": "Build it {{colour}}.", "requires_artifact_from": 0},
    {"role": "reviewer", "prompt": "Say APPROVED, or what is wrong."}
  ],
  "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It is {{size}}", "max_review_rounds": 4}}
}
"""


def at(ask: Ask, text: str, occurrence: int = 0, source: str = WHOLE, settings: Any = None) -> Asked:
    """The cursor in the middle of a text of the definition."""
    place = -1
    for _ in range(occurrence + 1):
        place = source.index(text, place + 1)
    place += len(text) // 2
    return ask(f"{source[:place]}$0{source[place:]}", settings, False, PATH)


def completed(ask: Ask, source: str, settings: Any = None) -> Asked:
    return ask(source, settings, False, PATH)


def accepted(asked: Asked, label: str) -> str:
    """The text after an item and the edits that come along."""
    one = asked.item(label)
    text = replaced(asked.fixture.main.text, one.span or asked.completions.span, one.text)
    for edit in sorted(one.more, key=lambda edit: edit.span, reverse=True):
        text = replaced(text, edit.span, edit.text)
    return text


# -- completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{$0}", set(DEFINITION.keys) - {"termination_condition", "on_question"}),
        ('{"roles": [{$0}]}', set(ROLE.keys)),
        ('{"parameters": [{$0}]}', set(PARAMETER.keys)),
        ('{"termination_condition": {$0}}', set(TERMINATION.keys) - {"max_iterations", "hard"}),
        ('{"termination_condition": {"type": "goal_bound", "value": {$0}}}', {"goal_prompt", "max_iterations"}),
        ('{"termination_condition": {"value": {$0}, "type": "tool_bound"}}', {"tool", "operator", "threshold"}),
        ('{"approval": {$0}}', {"mode", "signals"}),
    ],
)
def test_keys_by_position(ask: Ask, source: str, expected: set[str]) -> None:
    assert expected <= set(completed(ask, source).labels)


def test_keys_that_are_written_are_not_offered_again(ask: Ask) -> None:
    labels = completed(ask, '{"roles": [{"role": "plan", $0 "prompt": "p"}]}').labels
    assert "role" not in labels
    assert "prompt" not in labels
    assert "order" in labels


def test_required_keys_come_first(ask: Ask) -> None:
    assert completed(ask, '{"roles": [{$0}]}').labels[:2] == ["role", "prompt"]


@pytest.mark.parametrize(
    "source",
    [
        '{"name": "a", $0}',
        '{"name": "a" $0}',
        '{$0 "name": "a"}',
        '{"name": "a", "desc$0"}',
        '{"name": "a",\n  "$0"\n}',
        '{"name": "a", "$0": "x"}',
        '{"name": "a"\n  desc$0\n}',
    ],
)
def test_an_accepted_key_gives_json_again(ask: Ask, source: str) -> None:
    text = accepted(completed(ask, source), "description")
    assert set(json.loads(text)) == {"name", "description"}


def test_roles_are_offered_with_what_they_may_do(ask: Ask) -> None:
    settings, _ = settings_of({"roles": {"critic": {"access": "readonly"}}})
    asked = completed(ask, '{"roles": [{"role": "$0"}]}', settings)
    assert set(asked.labels) == {*ROLES, "critic"}
    assert asked.item("coder").detail == "full, ≤ 48 steps"
    assert json.loads(accepted(asked, "coder")) == {"roles": [{"role": "coder"}]}


def test_ends_come_with_a_value(ask: Ask) -> None:
    asked = completed(ask, '{"termination_condition": {"type": "$0"}}')
    assert asked.labels == list(TERMINATIONS)
    for type_ in TERMINATIONS:
        end = json.loads(accepted(asked, type_))["termination_condition"]
        assert ("value" in end) is (type_ != "manual")


def test_a_value_that_is_there_stays(ask: Ask) -> None:
    asked = completed(ask, '{"termination_condition": {"type": "$0", "value": 3}}')
    end = json.loads(accepted(asked, "iteration_bound"))["termination_condition"]
    assert end == {"type": "iteration_bound", "value": 3}


def test_a_whole_end_is_sound(ask: Ask) -> None:
    source = '{"name": "a", "description": "d", "roles": [{"role": "reviewer", "prompt": "approve"}], $0}'
    for type_ in TERMINATIONS:
        asked = completed(ask, source)
        text = accepted(asked, f"termination_condition: {type_}")
        checked = ask(text + "$0", None, False, PATH)
        found = Checker().findings(checked.workspace, checked.document)
        expected = {"manual": {"RL021"}, "tool_bound": {"RL012"}}.get(type_, set())
        assert {one.rule for one in found} == expected, type_


@pytest.mark.parametrize("typed", ["{{$0", "{{$0}}", "{{si$0", "{{ $0 }}"])
def test_parameters_between_braces(ask: Ask, typed: str) -> None:
    source = WHOLE.replace("Draw a {{size}} house.", f"Draw a {typed} house.")
    asked = completed(ask, source)
    assert asked.labels == ["size", "colour"]
    assert asked.item("size").detail == "default big"
    assert "{{size}}" in accepted(asked, "size").replace("{{ size }}", "{{size}}").split("\n")[8]


def test_no_parameters_where_nothing_is_filled_in(ask: Ask) -> None:
    source = WHOLE.replace("Size of it", "Size {{$0")
    assert "colour" not in completed(ask, source).labels


def test_earlier_stages_of_an_artifact(ask: Ask) -> None:
    asked = completed(ask, WHOLE.replace('"requires_artifact_from": 0', '"requires_artifact_from": $0'))
    assert [(one.label, one.detail) for one in asked.items] == [("0", "draw")]


def test_a_whole_definition_for_an_empty_file(ask: Ask) -> None:
    asked = completed(ask, "$0")
    [one] = asked.items
    checked = ask(one.text + "$0", None, False, PATH)
    assert Checker().findings(checked.workspace, checked.document) == ()


def test_a_whole_stage(ask: Ask) -> None:
    asked = completed(ask, '{"roles": [{"role": "plan", "prompt": "p"}, $0]}')
    assert len(json.loads(accepted(asked, "stage"))["roles"]) == 2


# -- hover ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"description"', ["description", "key of a role-loop definition"]),
        ('"coder"', ["Access `full`", "At most 48 steps"]),
        ('"evaluation_bound"', ["Its approval", "until approved, at most 4 rounds"]),
        ('"termination_condition"', ["When the loop ends", "at most 4 rounds"]),
        ("{{size}}", ["parameter", "Size of it", "Default: `big`", "Used in 3 places"]),
        ("{{colour}}", ["Required at the start"]),
        ('"build"', ["plan → coder → reviewer", "until approved"]),
        ('_from": 0', []),
        ('"max_review_rounds"', ["Maximum rounds"]),
    ],
)
def test_hover(ask: Ask, text: str, words: list[str]) -> None:
    told = at(ask, text).told
    assert all(word in told for word in words), told


def test_hover_on_an_artifact_names_the_stage(ask: Ask) -> None:
    asked = completed(ask, WHOLE.replace('"requires_artifact_from": 0', '"requires_artifact_from": $00'))
    assert "`draw`" in asked.told


def test_UP_19_every_key_tells_something(ask: Ask) -> None:
    for key in ROLE.keys:
        value = "1" if key in ("order", "max_iterations", "requires_artifact_from") else '"x"'
        asked = ask(f'{{"roles": [{{"$0{key}": {value}}}]}}', None, False, PATH)
        assert f"`{key}`" in asked.told


# -- navigation -----------------------------------------------------------------------------------


def test_a_placeholder_leads_to_its_parameter(ask: Ask) -> None:
    assert at(ask, "{{size}}").targets == [f"{PATH}:5 size"]
    assert at(ask, "{{colour}}").targets == [f"{PATH}:6 colour"]


def test_an_artifact_leads_to_its_stage(ask: Ask) -> None:
    asked = completed(ask, WHOLE.replace('"requires_artifact_from": 0', '"requires_artifact_from": $00'))
    assert asked.targets == [f"{PATH}:9 draw"]


def test_a_role_of_the_project_leads_to_its_settings(ask: Ask) -> None:
    source = f"""
    #- {PATH}
    {{"roles": [{{"role": "cri$0tic", "prompt": "p"}}]}}
    #- .loop-ls.yaml
    roles:
      critic: {{access: readonly}}
    """
    assert ask(source, None, False, PATH).targets == [".loop-ls.yaml:2 critic"]


def test_references_and_highlights_of_a_parameter(ask: Ask) -> None:
    asked = at(ask, '"size"')
    found = references(asked.workspace, asked.document, asked.at)
    assert [asked.document.text.slice(one.span) for one in found] == ["size"] * 4
    assert len(references(asked.workspace, asked.document, asked.at, declaration=False)) == 3
    marks = highlight(asked.workspace, asked.document, asked.at)
    assert [one.writes for one in marks] == [True, False, False, False]


def test_rename_changes_every_home(ask: Ask) -> None:
    asked = at(ask, "{{size}}", 1)
    ready = prepare(asked.workspace, asked.document, asked.at)
    assert not isinstance(ready, Refused)
    done = rename(asked.workspace, asked.document, asked.at, "height")
    assert isinstance(done, Rename)
    text = asked.document.text
    for edit in reversed(done.edits[asked.document.uri]):
        text = text.edit(edit.span, edit.text)
    assert str(text) == WHOLE.replace('"size"', '"height"').replace("{{size}}", "{{height}}")


@pytest.mark.parametrize("new", ["Size", "colour", "a-b", "1st", ""])
def test_rename_refuses_what_would_mean_something_else(ask: Ask, new: str) -> None:
    asked = at(ask, "{{size}}")
    assert isinstance(rename(asked.workspace, asked.document, asked.at, new), Refused)


def test_nothing_to_rename_elsewhere(ask: Ask) -> None:
    asked = at(ask, "Draw a")
    assert prepare(asked.workspace, asked.document, asked.at) is None
    assert definition(asked.workspace, asked.document, Position(0, 0)) == ()


def test_a_parameter_is_typed_over_everywhere_at_once(ask: Ask) -> None:
    asked = at(ask, "{{size}}")
    spans = linked(asked.workspace, asked.document, asked.at)
    assert [asked.document.text.slice(span) for span in spans] == ["size"] * 4
    assert linked(asked.workspace, asked.document, Position(0, 0)) == ()


def test_tokens_tell_what_is_filled_in(ask: Ask) -> None:
    document = at(ask, "Draw a").document
    lines = document.text.lines
    found = [(lines[one.line][one.column : one.column + one.length], one.type) for one in tokens(document)]
    assert found.count(("size", TokenType.PARAMETER)) == 4
    assert found.count(("{{", TokenType.OPERATOR)) == 4
    assert ("reviewer", TokenType.FUNCTION) in found
    assert list(tokens(document)) == sorted(tokens(document), key=lambda one: (one.line, one.column))


# -- outline, search, lenses ----------------------------------------------------------------------


def test_outline(ask: Ask) -> None:
    found = [placed.symbol for placed in symbols(at(ask, "Draw a").document)]
    assert [(one.name, one.kind) for one in found] == [
        ("build", SymbolKind.LOOP),
        ("parameters", SymbolKind.SECTION),
        ("roles", SymbolKind.SECTION),
        ("termination_condition", SymbolKind.SETTING),
    ]
    assert found[0].detail == "3 stages, until approved, at most 4 rounds"
    assert [child.symbol.name for child in found[1].children] == ["size", "colour"]
    assert [(child.symbol.name, child.symbol.detail) for child in found[2].children] == [
        ("draw", "plan"),
        ("make", "coder"),
        ("reviewer", ""),
    ]


def test_search_over_the_workspace(ask: Ask) -> None:
    asked = at(ask, "Draw a")
    assert [one.name for one in workspace_symbols(asked.workspace, "build")] == ["build"]
    assert [(one.name, one.container) for one in workspace_symbols(asked.workspace, "colour")] == [("colour", "build")]


def run(**changes: Any) -> ShownRun:
    values: dict[str, Any] = {"run_id": "r1", "uri": "", "kind": "definition", "name": "build", "status": "running"}
    return ShownRun(**(values | changes))


def titles(ask: Ask, *runs: ShownRun) -> list[str]:
    asked = at(ask, "Draw a")
    return [one.title for one in lenses(asked.workspace, asked.document, runs)]


def test_lenses_before_a_run(ask: Ask) -> None:
    asked = at(ask, "Draw a")
    first, told = lenses(asked.workspace, asked.document)
    assert (first.title, told.title) == ("▶ Run loop", "3 stages · ≤ 4 iterations")
    assert first.command is not None
    assert first.command.name == "loopLs.run"
    assert first.command.argument["target"] == {"kind": "definition", "name": "build"}


def test_lenses_of_a_run(ask: Ask) -> None:
    going = run(iteration=2, max_iterations=4, elapsed_ms=5000)
    assert titles(ask, going) == ["⏸ Pause", "Open run", "⏹ Stop", "iteration 2/4 · 00:05"]
    done = run(status="completed", reason="approved", iteration=3)
    assert titles(ask, done) == ["▶ Run loop again", "Open run", "✓ approved in iteration 3 · 00:00"]
    assert titles(ask, run(status="completed", reason="max_iterations"))[2].startswith("◼ limit reached")
    assert titles(ask, run(kind="workflow")) == ["▶ Run loop", "3 stages · ≤ 4 iterations"]


def test_no_lens_without_a_name(ask: Ask) -> None:
    asked = ask('{"roles": []}$0', None, False, PATH)
    assert lenses(asked.workspace, asked.document) == ()


# -- nothing fails --------------------------------------------------------------------------------


def test_UP_15_every_feature_answers_at_every_offset_of_a_broken_text(ask: Ask) -> None:
    broken = WHOLE.replace('"plan", ', '"pl').replace("}}", "}", 1)
    asked = ask(broken + "$0", None, False, PATH)
    document = asked.document
    for number, line in enumerate(document.text.lines):
        for column in range(0, len(line) + 1, 3):
            _everything(asked, document, Position(number, column))


def _everything(asked: Asked, document: Any, place: Position) -> None:
    from loop_ls.features.complete.completion import complete, describe
    from loop_ls.features.hover.hover import hover

    found: Completions = complete(asked.workspace, document, place)
    items: tuple[Item, ...] = found.items
    for one in items[:3]:
        describe(asked.workspace, document, one.about)
    hover(asked.workspace, document, place)
    definition(asked.workspace, document, place)
    references(asked.workspace, document, place)
    highlight(asked.workspace, document, place)
    prepare(asked.workspace, document, place)
