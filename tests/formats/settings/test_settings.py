"""The settings of a project and of its user."""

import pytest

from loop_ls.formats.settings.model import Problem, read_settings, settings_of
from loop_ls.formats.workflow.model import Target

FULL = """\
workflowRoots: [flows, "services/*/flows"]
rules: {WF115: off, WF502: warning}
providers:
  local-box:
    kind: openai
    baseUrl: http://127.0.0.1:8080/v1
    apiKeyEnv: BOX_KEY
    defaultModel: small
    models: [small, large]
judge: {provider: local-box, model: large, local: true}
assist: {provider: openai, model: gpt-4o}
roles: {critic: {access: readonly}}
servers: {files: {command: [npx, server]}}
limits: {maxIterations: 20, budgetUsd: 1.5, wallClock: 10m}
enhance:
  maxRounds: 4
  workflows:
    team/review: {enabled: true}
    team/other: {enabled: false}
engine: {port: 4100, teardownOnDisconnect: false}
"""


def problems(text: str) -> list[tuple[str, int, int]]:
    return [(p.code, p.span.start.line, p.span.start.column) for p in read_settings(text)[1] if p.span is not None]


def test_every_value_is_typed() -> None:
    settings, found = read_settings(FULL)
    assert found == ()
    assert settings.workflow_roots == ("flows", "services/*/flows")
    assert settings.rules == {"WF115": "off", "WF502": "warning"}
    assert settings.providers["local-box"].models == ("small", "large")
    assert settings.providers["local-box"].api_key_env == "BOX_KEY"
    assert settings.judge == Target("local-box", "large")
    assert settings.judge_locally
    assert settings.assist == Target("openai", "gpt-4o")
    assert settings.limits.wall_clock == 600
    assert settings.limits.budget_usd == 1.5
    assert settings.enhanced == {"team/review"}
    assert settings.engine.port == 4100
    assert settings.engine.teardown_on_disconnect is False
    assert settings.roles == ("critic",)
    assert settings.servers == ("files",)


def test_without_a_word_there_are_defaults() -> None:
    settings, found = read_settings("# nothing\n")
    assert found == ()
    assert settings.judge is None
    assert settings.engine.teardown_grace_ms == 60_000


def test_a_judge_that_only_decides_locally_names_no_model() -> None:
    settings, _ = read_settings("judge: {local: true}\n")
    assert settings.judge is None
    assert settings.judge_locally


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workflowRoot: [a]\n", [("LS002", 0, 0)]),
        ("judge:\n  provder: x\n", [("LS002", 1, 2)]),
        ("providers:\n  x:\n    knd: openai\n", [("LS002", 2, 4)]),
        ("engine: {port: high}\n", [("LS003", 0, 15)]),
        ("engine: {port: 70000}\n", [("LS003", 0, 15)]),
        ("rules: {WF115: loud}\n", [("LS003", 0, 15)]),
        ("workflowRoots: flows\n", [("LS003", 0, 15)]),
        ("enhance: {maxRounds: 21}\n", [("LS003", 0, 21)]),
        ("limits: {wallClock: 10}\n", [("LS003", 0, 20)]),
        ("- a\n", [("LS001", 0, 0)]),
        ("judge: {\n", [("LS001", 0, 7)]),
    ],
)
def test_LS_problems_have_a_rule_and_a_place(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert problems(text) == expected


def test_LS002_suggests_the_nearest_key() -> None:
    (found,) = read_settings("judge:\n  provder: x\n")[1]
    assert found.message == "Unknown key `provder` in `judge`; did you mean `provider`?"


def test_a_bad_value_is_left_out_and_the_rest_counts() -> None:
    settings, _ = read_settings("engine: {port: high, teardownGraceMs: 5}\nrules: {A: loud, B: error}\n")
    assert settings.engine.port is None
    assert settings.engine.teardown_grace_ms == 5
    assert settings.rules == {"B": "error"}


def test_the_file_of_the_project_wins_over_the_editor_key_by_key() -> None:
    editor = {"judge": {"provider": "a", "model": "b"}, "rules": {"WF115": "off"}, "engine": {"port": 1}}
    file = {"judge": {"model": "c"}, "rules": {"WF116": "error"}}
    settings, found = settings_of(editor, file)
    assert found == ()
    assert settings.judge == Target("a", "c")
    assert settings.rules == {"WF115": "off", "WF116": "error"}
    assert settings.engine.port == 1


@pytest.mark.parametrize("value", [None, 5, "x", [], [1], {"a": {"b": []}}])
@pytest.mark.parametrize("key", ["workflowRoots", "rules", "providers", "judge", "limits", "engine", "enhance", "no"])
def test_an_editor_may_send_anything(key: str, value: object) -> None:
    settings, found = settings_of({key: value})
    assert settings.engine is not None
    assert all(isinstance(problem, Problem) for problem in found)


def test_what_a_provider_understands_beyond_the_table_is_handed_on() -> None:
    settings, found = read_settings("providers: {p: {kind: scripted, answers: [a, b]}}\n")
    assert [problem.code for problem in found] == ["LS002"]
    assert settings.raw["providers"]["p"]["answers"] == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "taken"),
    [(5.0, 5), (1e1, 10), (5.5, None), (float("inf"), None), (float("nan"), None), (True, None), ("5", None)],
)
def test_a_whole_number_is_one_however_it_is_written(value: object, taken: int | None) -> None:
    settings, problems = settings_of({"enhance": {"maxRounds": value}})
    assert (settings.raw["enhance"].get("maxRounds"), bool(problems)) == (taken, taken is None)
