"""Each key and value of an assistant file and of the enhance settings, as completion and hover give them.

What is expected is written out here and not taken from the tables of the product: those cannot miss what they lack.
"""

from __future__ import annotations

import json

import pytest
import yaml

from loop_ls.features.complete.completion import complete, describe
from loop_ls.formats.settings.model import settings_of
from loop_ls.rules.engine.checker import Checker
from tests.features.conftest import Ask, Asked
from tests.features.test_role_loop_features import accepted

YAML, JSON, SETTINGS = "fixer.assistant.yaml", "fixer.assistant.json", ".loop-ls.yaml"
HEAD = "name: Fixer\npersona: You repair tests.\n"
TOP = (
    *("description", "purpose", "model", "provider", "permissionMode", "allowedTools", "memoryEnabled"),
    *("maxBudgetUsd", "id", "loopEnabled", "loopCriteria", "maxIterations", "approvalTimeoutSeconds"),
    *("maxTotalBudgetUsd", "maxDurationSeconds", "stallAfter", "retry", "isolate", "skills", "servers", "memory"),
)
CRITERIA = {
    None: {"type", "value", "argv", "timeoutSeconds", "cwd", "includeOutput", "lastLine", "inARow"},
    "regex": {"value", "lastLine", "inARow"},
    "test_pass": {"value", "argv", "timeoutSeconds", "cwd", "includeOutput", "inARow"},
    "manual": set(),
    "max_iterations": set(),
}
VALUES = {
    "purpose": ["writing", "coding", "analysis", "chat", "review", "research", "creative", "data", "general"],
    "provider": ["claude-code", "openai", "perplexity"],
    "permissionMode": ["plan", "default", "edit", "full"],
    "loopEnabled": ["false", "true"],
    "memoryEnabled": ["false", "true"],
    "maxIterations": ["10"],
    "isolate": ["worktree"],
}
TRUTH = {"false", "true"}


def asked(ask: Ask, source: str, path: str = YAML) -> Asked:
    return ask(source, None, False, path)


# -- keys -------------------------------------------------------------------------------------------


def test_keys_of_an_assistant(ask: Ask) -> None:
    assert set(asked(ask, f"{HEAD}$0").labels) == {*TOP}
    for label in ("name", "persona"):
        assert label in asked(ask, "description: x\n$0").labels
        assert asked(ask, "description: x\n$0").labels.index(label) < 2, "what is required comes first"


def test_keys_of_one_in_a_list(ask: Ask) -> None:
    labels = asked(ask, "assistants:\n  - name: a\n    persona: b\n    $0").labels
    assert {one for one in labels if not one.startswith("assistant")} == {*TOP}, "and one more assistant"
    assert set(asked(ask, '{"assistants": [{"name": "a", "persona": "b", $0}]}', JSON).labels) == {*TOP}


def test_keys_in_json(ask: Ask) -> None:
    assert set(asked(ask, '{"name": "a", "persona": "b", $0}', JSON).labels) == {*TOP}


@pytest.mark.parametrize("type_", list(CRITERIA))
def test_keys_of_a_criterion_are_those_of_its_type(ask: Ask, type_: str | None) -> None:
    written = f"type: {type_}\n  " if type_ else ""
    assert set(asked(ask, f"{HEAD}loopCriteria:\n  {written}$0").labels) == CRITERIA[type_]
    flow = f"type: {type_}, " if type_ else ""
    assert set(asked(ask, f"{HEAD}loopCriteria: {{{flow}$0}}").labels) == CRITERIA[type_]
    written = f'"type": "{type_}", ' if type_ else ""
    assert set(asked(ask, f'{{"loopCriteria": {{{written}$0}}}}', JSON).labels) == CRITERIA[type_]


def test_keys_of_a_retry(ask: Ask) -> None:
    assert set(asked(ask, f"{HEAD}retry:\n  $0").labels) == {"attempts", "backoffSeconds"}


def test_no_key_is_offered_that_the_checker_then_complains_about(ask: Ask) -> None:
    for source in (
        f"{HEAD}$0",
        f"{HEAD}loopEnabled: true\nloopCriteria:\n  type: test_pass\n  $0",
        "description: d\n$0",
    ):
        labels = asked(ask, source).labels
        assert labels
        for label in labels:
            text = accepted(asked(ask, source), label)
            checked = asked(ask, f"{text}$0")
            found = {one.rule for one in Checker().findings(checked.workspace, checked.document)}
            assert not {"AL001", "AL003"} & found, (label, text)


# -- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", list(VALUES))
@pytest.mark.parametrize("form", ["%s: $0", '%s: "$0"', "%s: $0 # why"])
def test_values(ask: Ask, key: str, form: str) -> None:
    one = asked(ask, HEAD + form % key)
    assert set(one.labels) == {*VALUES[key]}
    for label in VALUES[key]:
        assert str(yaml.safe_load(one.accepted(label))[key]).lower() == label


@pytest.mark.parametrize("key", list(VALUES))
def test_values_in_json(ask: Ask, key: str) -> None:
    one = asked(ask, f'{{"{key}": $0}}', JSON)
    assert set(one.labels) == {*VALUES[key]}
    for label in VALUES[key]:
        assert str(json.loads(accepted(one, label))[key]).lower() == label


def test_the_default_comes_first(ask: Ask) -> None:
    for key, first in {"provider": "claude-code", "permissionMode": "default", "loopEnabled": "false"}.items():
        assert asked(ask, f"{HEAD}{key}: $0").labels[0] == first


def test_types_of_criteria_tell_what_they_are(ask: Ask) -> None:
    for source, path in ((f"{HEAD}loopCriteria:\n  type: $0", YAML), ('{"loopCriteria": {"type": "$0"}}', JSON)):
        one = asked(ask, source, path)
        assert set(one.labels) == {"max_iterations", "regex", "test_pass", "manual"}
        assert all(item.detail for item in one.items)
        assert all(describe(one.workspace, one.document, item.about) for item in one.items)


def test_models_are_tiers_and_ids(ask: Ask) -> None:
    assert asked(ask, f"{HEAD}model: $0").labels[:3] == ["sonnet", "opus", "haiku"]


def test_tools_that_an_assistant_may_use(ask: Ask) -> None:
    tools = ["Read", "Write", "Edit", "Bash", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite", "TodoRead"]
    assert asked(ask, f"{HEAD}allowedTools: [$0]").labels == tools
    assert asked(ask, f"{HEAD}allowedTools: [Read, $0]").labels == tools[1:]
    assert asked(ask, '{"allowedTools": ["$0"]}', JSON).labels == tools


def test_servers_are_those_of_the_settings_and_skills_those_of_the_workspace(ask: Ask) -> None:
    """Others would be findings."""
    settings, _ = settings_of({"servers": {"tickets": {}, "search": {}}})

    def listing(folder: str) -> list[tuple[str, bool]]:
        here = [("pytest", True), ("review", True), ("README.md", False)]
        return {"/w/skills": here[:1], "/w/.claude/skills": here, "/w/.agents/skills": here[:1]}.get(folder, [])

    for source, path in ((f"{HEAD}%s: [$0]", YAML), (f"{HEAD}%s:\n  - $0", YAML), ('{"%s": ["$0"]}', JSON)):
        for key, names in {"servers": ["tickets", "search"], "skills": ["pytest", "review"]}.items():
            found = asked(ask, source % key, path)
            completed = complete(found.workspace, found.document, found.at, settings, listing)
            assert [one.label for one in completed.items] == names, (key, source)


def test_include_output_is_true_or_false(ask: Ask) -> None:
    assert set(asked(ask, f"{HEAD}loopCriteria:\n  type: test_pass\n  includeOutput: $0").labels) == TRUTH


# -- hover ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["name", "persona", *TOP, "assistants"])
def test_hover_on_every_field(ask: Ask, key: str) -> None:
    for source, path in ((f"$0{key}: 1\n", YAML), (f'{{"$0{key}": 1}}', JSON)):
        told = asked(ask, source, path).told
        assert f"**`{key}`**" in told
        assert len(told) > len(key) + 30


@pytest.mark.parametrize("key", sorted(CRITERIA[None]))
def test_hover_on_every_field_of_a_criterion(ask: Ask, key: str) -> None:
    assert f"**`{key}`**" in asked(ask, f"{HEAD}loopCriteria: {{$0{key}: 1}}\n").told


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        ("regex", ["anywhere in the output", "Case is ignored"]),
        ("test_pass", ["exit status 0 ends the loop", "without a shell"]),
        ("manual", ["A person", "reject fails it"]),
        ("max_iterations", ["Nothing ends the loop early"]),
    ],
)
def test_hover_on_every_criterion(ask: Ask, type_: str, words: list[str]) -> None:
    for source, path in (
        (f"{HEAD}loopCriteria: {{type: $0{type_}}}\n", YAML),
        (f'{{"loopCriteria": {{"type": "$0{type_}"}}}}', JSON),
    ):
        told = asked(ask, source, path).told
        assert all(word in told for word in words), told


# -- enhance ----------------------------------------------------------------------------------------

KNOBS = {
    "maxRounds": "3",
    "budgetCapUsd": "5.00",
    "convergenceMode": "strict",
    "pauseBetweenRounds": "false",
    "plannerProvider": "inherit",
    "plannerModel": "inherit",
    "onFixation": "abort",
    "maxOpsPerRound": "8",
    "maxEditedStepsPerRound": "5",
    "ackTimeoutSeconds": "30",
    "plannerTimeoutSeconds": "120",
    "plannerAttempts": "2",
    "pauseTimeoutSeconds": "0",
    "excerptChars": "2000",
    "files": None,
    "fallbackPool": None,
    "transientBackoffSeconds": "5",
    "applyWhenHeadless": "false",
    "onGiveUp": "keep",
    "unknownPriceUsdPerCall": "0.05",
    "minPassRate": "0.7",
    "confidence": "0.9",
    "confirmRuns": "1",
    "minibatch": "3",
    "acceptProbability": "0.8",
    "holdoutRuns": "2",
    "maxTrialsPerText": "30",
    "maxTrials": "60",
}
FLOW = """\
#- report.yaml
$schema: workflow/v2.0
name: report
version: 1.0.0
steps: [{name: a, run: b}]
#- .loop-ls.yaml
"""


def test_knobs_of_enhance_loops(ask: Ask) -> None:
    assert set(asked(ask, "enhance:\n  $0", SETTINGS).labels) == {*KNOBS, "workflows"}


def test_knobs_of_one_workflow_and_its_switch(ask: Ask) -> None:
    labels = asked(ask, "enhance:\n  workflows:\n    report:\n      $0", SETTINGS).labels
    assert set(labels) == {*KNOBS, "enabled", "verifiers"}
    assert labels[0] == "enabled"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("enhance:\n  workflows:\n    $0", "    report: "),
        ("enhance:\n  workflows:\n    rep$0", "    report: "),
        ("enhance:\n  workflows: {$0}", "  workflows: {report: }"),
    ],
)
def test_the_workflows_that_may_be_improved(ask: Ask, source: str, line: str) -> None:
    one = ask(FLOW + source, None, False, SETTINGS)
    assert one.labels == ["report"]
    assert one.accepted_line("report").rstrip() == line.rstrip()


def test_a_workflow_that_has_its_entry_is_not_offered_again(ask: Ask) -> None:
    assert (
        ask(f"{FLOW}enhance:\n  workflows:\n    report: {{enabled: true}}\n    $0", None, False, SETTINGS).labels == []
    )


@pytest.mark.parametrize("knob", [name for name, default in KNOBS.items() if default is not None])
@pytest.mark.parametrize("place", ["enhance:\n  ", "enhance:\n  workflows:\n    report:\n      "])
def test_the_default_of_every_knob_is_offered(ask: Ask, knob: str, place: str) -> None:
    one = asked(ask, f"{place}{knob}: $0", SETTINGS)
    assert one.labels[0] == KNOBS[knob]
    checked = asked(ask, one.accepted(one.labels[0]) + "$0", SETTINGS)
    assert Checker().findings(checked.workspace, checked.document) == ()


@pytest.mark.parametrize(
    ("knob", "values"),
    [
        ("convergenceMode", ["strict", "lenient"]),
        ("onFixation", ["abort", "warn"]),
        ("onGiveUp", ["keep", "revert", "best"]),
        ("pauseBetweenRounds", ["false", "true"]),
        ("applyWhenHeadless", ["false", "true"]),
    ],
)
def test_all_values_of_a_knob(ask: Ask, knob: str, values: list[str]) -> None:
    assert asked(ask, f"enhance:\n  {knob}: $0", SETTINGS).labels == values


def test_planners_are_providers_and_their_models(ask: Ask) -> None:
    settings, _ = settings_of({"providers": {"house": {"models": ["small"]}}})
    one = ask("enhance:\n  plannerProvider: $0", settings, False, SETTINGS)
    assert one.labels[:2] == ["inherit", "house"]
    assert "anthropic" in one.labels
    one = ask("enhance:\n  plannerProvider: house\n  plannerModel: $0", settings, False, SETTINGS)
    assert one.labels == ["inherit", "small"]


@pytest.mark.parametrize("source", ["enhance:\n  fallbackPool:\n    - $0", "enhance:\n  fallbackPool: [{$0}]"])
def test_an_entry_of_the_pool_is_a_provider_and_a_model(ask: Ask, source: str) -> None:
    assert {"provider", "model"} <= set(asked(ask, source, SETTINGS).labels)


@pytest.mark.parametrize("knob", [*KNOBS, "workflows"])
def test_hover_on_every_knob(ask: Ask, knob: str) -> None:
    told = asked(ask, f"enhance:\n  $0{knob}: 1\n", SETTINGS).told
    assert f"**`{knob}`**" in told
    default = KNOBS.get(knob)
    assert default is None or f"default `{default}`" in told
