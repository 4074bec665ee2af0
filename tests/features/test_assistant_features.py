"""Features in assistant files, YAML and JSON, and in the settings of a project."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from loop_ls.features.answers import ShownRun, SymbolKind
from loop_ls.features.complete.completion import complete, describe
from loop_ls.features.estimate.estimate import estimate
from loop_ls.features.hover.hover import hover
from loop_ls.features.inlay_hints.inlay_hints import inlays
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.features.symbols.workspace_symbols import workspace_symbols
from loop_ls.formats.assistant.keys import ASSISTANT, ASSISTANT_FILE, CRITERIA, CRITERIA_TYPES, PURPOSES, TOOLS
from loop_ls.formats.settings.keys import LEVELS, PROVIDER_KINDS, SETTINGS
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.position import Position, Span
from tests.features.conftest import Ask, Asked

YAML, JSON, SETTINGS_FILE = "fixer.assistant.yaml", "fixer.assistant.json", ".loop-ls.yaml"
ALL = Span(Position(0, 0), Position(99, 0))
HEAD = "name: Fixer\npersona: You repair tests.\n"
LOOP = (
    f"{HEAD}maxBudgetUsd: 0.5\nloopEnabled: true\nloopCriteria: {{type: regex, value: all green}}\nmaxIterations: 4\n"
)


def asked(ask: Ask, source: str, path: str = YAML, settings: Any = None) -> Asked:
    return ask(source, settings, False, path)


# -- completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{HEAD}$0", set(ASSISTANT.keys) - {"name", "persona"}),
        (f"{HEAD}loopCriteria:\n  $0", set(CRITERIA.keys)),
        (f"{HEAD}loopCriteria: {{$0}}", set(CRITERIA.keys)),
        (f"{HEAD}retry:\n  $0", {"attempts", "backoffSeconds"}),
        ("assistants:\n  - name: a\n    $0", set(ASSISTANT.keys) - {"name"}),
        (f"{HEAD}purpose: $0", set(PURPOSES)),
        (f"{HEAD}loopCriteria:\n  type: $0", set(CRITERIA_TYPES)),
        (f"{HEAD}loopEnabled: $0", {"true", "false"}),
        (f"{HEAD}model: $0", {"opus", "sonnet", "haiku"}),
        (f"{HEAD}allowedTools:\n  - $0", set(TOOLS)),
        (f"{HEAD}allowedTools: [$0]", set(TOOLS)),
        (f"{HEAD}maxIterations: $0", {"10"}),
        (f"{HEAD}loopCriteria:\n  type: test_pass\n  value: $0", {"npm test"}),
    ],
)
def test_keys_and_values(ask: Ask, source: str, expected: set[str]) -> None:
    assert expected <= set(asked(ask, source).labels)


def test_nothing_stands_beside_a_list(ask: Ask) -> None:
    labels = asked(ask, "assistants:\n  - {name: a, persona: b}\n$0").labels
    assert all(label.startswith("assistant: ") or label == "assistant" for label in labels), "one more, nothing else"
    assert "assistants" not in asked(ask, f"{HEAD}$0").labels


def test_written_keys_are_not_offered_again(ask: Ask) -> None:
    labels = asked(ask, f"{HEAD}$0\nmaxIterations: 3\n").labels
    assert not {"name", "persona", "maxIterations"} & set(labels)


@pytest.mark.parametrize("label", ["maxIterations", "loopEnabled", "purpose", "maxBudgetUsd"])
def test_an_accepted_key_gives_yaml_again(ask: Ask, label: str) -> None:
    one = asked(ask, f"{HEAD}$0\n")
    assert label in yaml.safe_load(one.accepted(label))


def test_whole_assistants_are_sound(ask: Ask) -> None:
    labels = [label for label in asked(ask, "$0").labels if label.startswith("assistant")]
    assert len(labels) == 6  # five snippets and the key `assistants`
    for label in labels:
        if label == "assistants":
            continue
        text = asked(ask, "$0").accepted(label).replace("npm test", "sh run.sh")
        checked = asked(ask, text + "$0")
        found = Checker().findings(checked.workspace, checked.document)
        assert [one.rule for one in found] == [], label


def test_a_whole_assistant_in_a_list(ask: Ask) -> None:
    one = asked(ask, "assistants:\n  $0")
    after = yaml.safe_load(one.accepted("assistant: until tests pass"))
    assert after["assistants"][0]["loopCriteria"]["type"] == "test_pass"


@pytest.mark.parametrize(
    ("path", "source", "offered"),
    [
        ("flow.cases.yaml", "tests:\n  - {name: a, vars: {$0}}", ["input", "tone"]),
        ("flow.cases.yaml", "tests:\n  - name: a\n    vars:\n      input: x\n      $0", ["tone"]),
        ("flow.cases.yaml", "tests:\n  - {name: a, without: [$0]}", ["heading"]),
        (SETTINGS_FILE, "enhance:\n  workflows:\n    flow: {verifiers: [$0]}", ["a"]),
        (SETTINGS_FILE, "enhance:\n  workflows:\n    flow:\n      verifiers:\n        - $0", ["a"]),
    ],
)
def test_names_of_the_loop_file_are_offered_beside_it(ask: Ask, path: str, source: str, offered: list[str]) -> None:
    flow = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  - {name: a, run: '{{input}} {{tone}}'}\n"
    checks = "#- flow.checks.yaml\nassert:\n  - {name: heading, type: contains, value: x}\n"
    assert asked(ask, f"#- flow.yaml\n{flow}{checks}#- {path}\n{source}", path).labels == offered


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("flow.checks.yaml", "assert:\n  - $0"),
        ("flow.checks.yaml", "assert:\n  $0"),
        ("flow.cases.yaml", "tests:\n  - $0"),
        (SETTINGS_FILE, "enhance:\n  fallbackPool:\n    - $0"),
    ],
)
def test_no_assistant_is_offered_in_a_list_of_something_else(ask: Ask, path: str, source: str) -> None:
    flow = "#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  - {name: a, run: b}\n"
    labels = asked(ask, f"{flow}#- {path}\n{source}", path).labels
    assert labels
    assert not [one for one in labels if one.startswith("assistant")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{$0}", set(ASSISTANT.keys)),
        ('{"loopCriteria": {$0}}', set(CRITERIA.keys)),
        ('{"loopCriteria": {"type": "$0"}}', set(CRITERIA_TYPES)),
        ('{"assistants": [{$0}]}', set(ASSISTANT.keys)),
        ('{"loopEnabled": $0}', {"true", "false"}),
        ('{"allowedTools": ["$0"]}', set(TOOLS)),
        ('{"model": "$0"}', {"opus"}),
    ],
)
def test_keys_and_values_in_json(ask: Ask, source: str, expected: set[str]) -> None:
    assert expected <= set(asked(ask, source, JSON).labels)


def test_a_whole_assistant_in_json(ask: Ask) -> None:
    [one] = asked(ask, "$0", JSON).items
    assert json.loads(one.text)["loopEnabled"] is True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$0", set(SETTINGS.keys)),
        ("providers:\n  house:\n    $0", {"kind", "baseUrl", "apiKeyEnv"}),
        ("providers:\n  house:\n    kind: $0", set(PROVIDER_KINDS)),
        ("judge:\n  $0", {"provider", "model", "local"}),
        ("judge:\n  provider: $0", {"ollama", "house"}),
        ("judge:\n  provider: house\n  model: $0", {"small"}),
        ("rules:\n  $0", {"WF115", "RL009", "AL019", "LS007"}),
        ("rules:\n  WF115: $0", set(LEVELS)),
        ("roles:\n  critic:\n    access: $0", {"readonly", "full"}),
    ],
)
def test_settings(ask: Ask, source: str, expected: set[str]) -> None:
    settings, _ = settings_of({"providers": {"house": {"models": ["small"]}}})
    assert expected <= set(asked(ask, source, SETTINGS_FILE, settings).labels)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (YAML, "$0"),
        (YAML, f"{HEAD}loopCriteria:\n  type: $0"),
        (JSON, "{$0}"),
        (SETTINGS_FILE, "$0"),
        (YAML, f"{HEAD}$0"),
    ],
)
def test_UP_19_every_item_is_documented(ask: Ask, path: str, source: str) -> None:
    one = asked(ask, source, path)
    assert one.items
    for item in one.items:
        assert describe(one.workspace, one.document, item.about), item


# -- hover ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", list(ASSISTANT_FILE.keys))
def test_UP_19_hover_on_every_key(ask: Ask, key: str) -> None:
    assert f"`{key}`" in asked(ask, f"$0{key}: x\n").told


@pytest.mark.parametrize("type_", CRITERIA_TYPES)
def test_hover_on_every_criterion(ask: Ask, type_: str) -> None:
    told = asked(ask, f"{HEAD}loopCriteria: {{type: $0{type_}}}\n").told
    assert "loop" in told.lower()


def test_hover_tells_what_a_loop_may_cost(ask: Ask) -> None:
    assert "at most 4 iterations × $0.50 = $2.00" in asked(ask, LOOP.replace("4\n", "$04\n")).told
    assert "Cost" in asked(ask, LOOP.replace("Fixer", "Fi$0xer")).told


def test_hover_in_settings(ask: Ask) -> None:
    assert "US dollars" in asked(ask, "limits:\n  budge$0tUsd: 5\n", SETTINGS_FILE).told
    assert "RL009" in asked(ask, "rules: {RL0$009: off}\n", SETTINGS_FILE).told
    assert "10 minutes" in asked(ask, "limits: {wallClock: 1$00m}\n", SETTINGS_FILE).told


def test_UP_15_a_broken_pattern_breaks_nothing_else(ask: Ask) -> None:
    source = LOOP.replace("all green", "'(DONE'")
    for key in ("name", "persona", "loopEnabled", "maxIterations"):
        assert f"`{key}`" in asked(ask, source.replace(f"{key}:", f"$0{key}:", 1)).told
    assert "model" in asked(ask, f"{source}$0").labels
    assert symbols(asked(ask, f"{source}$0").document)


# -- outline, lenses, hints -----------------------------------------------------------------------


def test_outline(ask: Ask) -> None:
    [one] = symbols(asked(ask, f"{LOOP}$0").document)
    assert (one.symbol.name, one.symbol.kind, one.symbol.detail) == ("Fixer", SymbolKind.LOOP, "≤ 4 iterations · regex")
    several = asked(ask, "assistants:\n  - {name: A, persona: p}\n  - {name: B, persona: p}\n$0")
    assert [placed.symbol.name for placed in symbols(several.document)] == ["A", "B"]
    assert [one.name for one in workspace_symbols(several.workspace, "B")] == ["B"]


def test_outline_of_settings(ask: Ask) -> None:
    one = asked(ask, "providers: {house: {kind: openai}}\nlimits: {maxIterations: 5}\n$0", SETTINGS_FILE)
    found = symbols(one.document)
    assert [placed.symbol.name for placed in found] == ["providers", "limits"]
    assert [child.symbol.name for child in found[0].symbol.children] == ["house"]


def run(**changes: Any) -> ShownRun:
    values: dict[str, Any] = {"run_id": "r1", "uri": "", "kind": "assistant", "name": "fixer", "status": "running"}
    return ShownRun(**(values | changes))


def test_UP_18_lenses_are_the_same_for_both_endings(ask: Ask) -> None:
    for path in (YAML, "fixer.assistant.yml"):
        one = asked(ask, f"{LOOP}$0", path)
        first, told = lenses(one.workspace, one.document)
        assert (first.title, told.title) == ("▶ Run loop", "≤ 4 iterations · regex · ≤ $2.00")
        assert first.command is not None
        assert first.command.argument["target"] == {"kind": "assistant", "name": "fixer"}


def test_no_lens_without_a_loop(ask: Ask) -> None:
    one = asked(ask, f"{HEAD}$0")
    assert lenses(one.workspace, one.document) == ()


def test_a_loop_that_waits_can_be_answered(ask: Ask) -> None:
    one = asked(ask, f"{LOOP}$0")
    waiting = run(status="waiting_approval", waiting=True, approval="loop-7", iteration=3, done=3, max_iterations=10)
    found = lenses(one.workspace, one.document, [waiting])
    assert [lens.title for lens in found[:2]] == ["✓ Approve", "✗ Reject"]
    assert found[0].command is not None
    assert found[0].command.argument == {"runId": "r1", "loopId": "loop-7", "approved": True}
    assert any("iteration 3/10" in lens.title for lens in found)


def test_lenses_of_several_assistants_keep_apart(ask: Ask) -> None:
    entry = "  - {name: %s, persona: p, loopEnabled: true}\n"
    one = asked(ask, "assistants:\n" + entry % "A" + entry % "B" + "$0")
    titles = [lens.title for lens in lenses(one.workspace, one.document, [run(name="b", iteration=1)])]
    assert titles[0] == "▶ Run loop"
    assert "⏹ Stop" in titles


def test_what_a_loop_may_cost_is_a_hint_and_no_finding(ask: Ask) -> None:
    one = asked(ask, f"{LOOP}$0")
    whole = Span(Position(0, 0), one.document.text.end)
    assert [hint.text for hint in inlays(one.workspace, one.document, whole)] == ["≤ $2.00 in total"]
    assert Checker().findings(one.workspace, one.document) == ()


@pytest.mark.parametrize(
    ("own", "total", "dollars"), [("0.5", "1.25", "$1.25"), ("0.5", "9", "$2.00"), ("", "1", "$1.00")]
)
def test_a_budget_of_the_whole_loop_bounds_it_everywhere(ask: Ask, own: str, total: str, dollars: str) -> None:
    text = (
        LOOP.replace("maxBudgetUsd: 0.5\n", f"maxBudgetUsd: {own}\n" if own else "") + f"maxTotalBudgetUsd: {total}\n"
    )
    one = asked(ask, f"{text}$0")
    assert lenses(one.workspace, one.document)[1].title.endswith(f" · ≤ {dollars}")
    assert [hint.text for hint in inlays(one.workspace, one.document, ALL)] == [f"≤ {dollars} in total"]
    found = estimate(one.workspace, one.document)
    assert found.usd is not None and found.usd.most == float(dollars[1:])
    assert ("`maxTotalBudgetUsd`" in found.why) is (dollars != "$2.00")


# -- nothing fails --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (YAML, LOOP.replace("regex", "[reg").replace("true", "tr")),
        (YAML, "assistants:\n  - &a {name: A\n  - <<: *a\n    loopCriteria: *b\n"),
        (JSON, '{"name": "A", "loopCriteria": {"type": "re\n "value": 5,}'),
        (SETTINGS_FILE, "providers: {a: {kind: open\nrules:\n  WF: [\n"),
    ],
)
def test_every_feature_answers_at_every_place_of_a_broken_text(ask: Ask, path: str, text: str) -> None:
    one = asked(ask, text + "$0", path)
    for number, line in enumerate(one.document.text.lines):
        for column in range(len(line) + 1):
            place = Position(number, column)
            for item in complete(one.workspace, one.document, place).items[:3]:
                describe(one.workspace, one.document, item.about)
            hover(one.workspace, one.document, place)
    symbols(one.document)
    lenses(one.workspace, one.document)


def test_the_limit_of_the_project_counts_wherever_it_is_lower(ask: Ask) -> None:
    document = asked(ask, LOOP).document
    for most, told, dollars in ((3, "3 iterations", "$1.50"), (9, "4 iterations", "$2.00")):
        settings = settings_of({"limits": {"maxIterations": most}})[0]
        world = Workspace.of(Roots("/w"), [document], settings)
        assert lenses(world, document)[1].title == f"≤ {told} · regex · ≤ {dollars}"
        assert [one.text for one in inlays(world, document, ALL)] == [f"≤ {dollars} in total"]
        shown = hover(world, document, Position(0, 7), settings)
        assert shown is not None
        assert f"≤ {told}" in shown.text
        assert f"at most {told} × $0.50 = {dollars}" in shown.text
        found = estimate(world, document)
        assert found.usd is not None
        assert (found.calls.most, found.usd.most) == (int(told[0]), float(dollars[1:]))
        assert f"at most {told} × $0.50 = {dollars}" in found.why
