"""`loop-ls convert`: what is written is sound, and what got lost is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main

FLOW = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: Goes on until it is done
execution: {provider: anthropic, model: claude-sonnet-4, temperature: 0.2}
env: {TONE: calm}
steps:
  - {name: outline, run: "Outline {{input}}"}
loops:
  - name: polish
    workflow: draft
    with: {topic: "{{input}}", plan: "{{outline}}", before: "{{loop.last.output}}", tone: "{{env.TONE}}"}
    max_iterations: 4
    until: "The text says READY"
    accumulate: all_of_it
  - name: each
    workflow: draft
    with: {topic: "{{loop.current}}", plan: b, before: c, tone: d}
    mode: iterate
    items: "[1]"
    max_iterations: 1
"""
DRAFT = """\
$schema: workflow/v2.0
name: draft
version: 1.0.0
description: One round
execution: {provider: anthropic, model: claude-sonnet-4}
steps:
  - {name: review_it, needs: [write], run: "Review {{write}} by {{audience}}", max_tokens: 99}
  - {name: write, run: "{{topic}}|{{plan}}|{{before}}|{{tone}}|{{loop.iteration}}"}
  - {name: sub, template: {name: flow, with: {input: x}}, if: "{{write}}"}
"""
ROLES = {
    "name": "build",
    "description": "Builds",
    "parameters": [
        {"name": "style", "description": "How", "required": False, "default": "plain"},
        {"name": "size", "description": "How big"},
    ],
    "roles": [
        {"role": "coder", "prompt": "Build in {{style}} of {{size}}", "skills": ["x"]},
        {"role": "reviewer", "prompt": "Judge it"},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It stands", "max_review_rounds": 6}},
}
ASSISTANT = """\
id: fixer
name: Fixer
persona: "Fix the tests: one a time"
permissionMode: edit
loopEnabled: true
maxTotalBudgetUsd: 2
loopCriteria: {type: test_pass, value: npm test}
maxIterations: 7
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".loop-ls.yaml").write_text("{}\n")
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "draft.yaml").write_text(DRAFT)
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "build.json").write_text(json.dumps(ROLES))
    (tmp_path / "fixer.assistant.yaml").write_text(ASSISTANT)
    return tmp_path


@pytest.fixture
def convert(here: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> tuple[list[str], str]:
        assert main(["convert", *words, "--into", "out"]) == 0
        captured = capfd.readouterr()
        return captured.out.splitlines(), captured.err

    return call


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["flow", "--loop", "polish", "--to", "role-loop"], ["loops/polish.json"]),
        (["flow.yaml", "--loop", "polish", "--to", "assistant"], ["polish.assistant.yaml"]),
        (["loops/build.json", "--to", "workflow"], ["build.yaml", "build_round.yaml"]),
        (["loops/build.json", "--to", "assistant"], ["build.assistant.yaml"]),
        (["fixer.assistant.yaml", "--to", "workflow"], ["fixer.yaml", "fixer_round.yaml"]),
        (["fixer.assistant.yaml", "--to", "role-loop"], ["loops/fixer.json"]),
    ],
)
def test_what_is_written_has_no_errors(
    convert: Any, words: list[str], files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    written, told = convert(*words)
    assert written == [f"out/{file}" for file in files]
    assert all(line.startswith("loop-ls: lost: ") for line in told.splitlines())
    main(["check", "out", "--format", "json", "--level", "warning"])
    data = json.loads(capfd.readouterr().out)
    assert data["files"] == len(files)
    assert data["findings"] == []


def test_a_workflow_loop_becomes_roles_with_its_texts(convert: Any, here: Path) -> None:
    _, told = convert("flow", "--loop", "polish", "--to", "role-loop")
    written = json.loads((here / "out" / "loops" / "polish.json").read_text())
    assert [(one["name"], one["role"]) for one in written["roles"]] == [
        ("write", "assistant"),
        ("review_it", "reviewer"),
    ]
    assert written["roles"][0]["prompt"] == (
        "(the goal)|(the goal)|(the outcome of the iteration before)|calm|of this round"
    )
    assert written["roles"][1]["prompt"] == "Review (the result of write) by {{audience}}"
    assert [one["name"] for one in written["parameters"]] == ["audience"]
    assert written["termination_condition"] == {
        "type": "goal_bound",
        "value": {"goal_prompt": "The text says READY", "max_iterations": 4},
    }
    for lost in ("`accumulate` of the loop", "`execution.temperature` of flow", "`max_tokens` of step", "loop `each`"):
        assert f"lost: {lost}" in told
    assert "a template step cannot be part of a round" in told
    assert "`outline`, which runs before the loop" in told


def test_role_loop_to_workflow_writes_out_what_came_along_by_itself(convert: Any, here: Path) -> None:
    _, told = convert("loops/build.json", "--to", "workflow")
    round_ = (here / "out" / "build_round.yaml").read_text()
    assert "Build in plain of {{size}}" in round_
    assert "{{goal}}" in round_
    assert "{{previous}}" in round_
    assert "needs: [coder]" in round_
    loop = (here / "out" / "build.yaml").read_text()
    assert "max_iterations: 6" in loop
    assert "until: It stands" in loop
    assert 'size: "{{size}}"' in loop
    assert "the parameter `style` (its default is inserted into the texts)" in told
    assert "`skills` of coder" in told


def test_an_assistant_without_criterion_only_counts(convert: Any, here: Path) -> None:
    plain = ASSISTANT.replace("loopCriteria: {type: test_pass, value: npm test}\n", "")
    (here / "fixer.assistant.yaml").write_text(plain)
    convert("fixer.assistant.yaml", "--to", "role-loop")
    written = json.loads((here / "out" / "loops" / "fixer.json").read_text())
    assert written["termination_condition"] == {"type": "iteration_bound", "value": 7}
    _, told = convert("fixer.assistant.yaml", "--to", "workflow")
    loop = (here / "out" / "fixer.yaml").read_text()
    assert "mode: iterate" in loop
    assert 'items: "[1, 2, 3, 4, 5, 6, 7]"' in loop
    assert "a loop that only counts does not pass it on" in told


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["flow.yaml", "--to", "role-loop"], "several loops found: `polish`, `each`; choose one with --loop"),
        (["flow.yaml", "--to", "role-loop", "--loop", "each"], "iterates over a list"),
        (["flow.yaml", "--to", "workflow"], "is already a workflow"),
        (["draft.yaml", "--to", "assistant"], "draft has no loop"),
        ([".loop-ls.yaml", "--to", "assistant"], "is not a workflow"),
        (["manual.assistant.yaml", "--to", "workflow"], "asks a person after each iteration"),
        (["loops/timed.json", "--to", "workflow"], "ends by time"),
        (["loops/broken.json", "--to", "workflow"], "has an error; fix it first"),
    ],
)
def test_what_cannot_be_said_is_refused(
    here: Path, words: list[str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "manual.assistant.yaml").write_text(ASSISTANT.replace("type: test_pass, value: npm test", "type: manual"))
    timed = {**ROLES, "name": "timed", "termination_condition": {"type": "time_bound", "value": 60}}
    (here / "loops" / "timed.json").write_text(json.dumps(timed))
    (here / "loops" / "broken.json").write_text("{}")
    assert main(["convert", *words, "--into", "out"]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert reason in captured.err
    assert not (here / "out").exists()


def test_an_assistant_ends_by_the_clock_and_after_a_hundred_rounds_too(convert: Any, here: Path) -> None:
    for name, end in (("timed", {"type": "time_bound", "value": 60}), ("asked", {"type": "manual"})):
        (here / "loops" / f"{name}.json").write_text(json.dumps({**ROLES, "name": name, "termination_condition": end}))
        _, told = convert(f"loops/{name}.json", "--to", "assistant")
        text = (here / "out" / f"{name}.assistant.yaml").read_text()
        assert "maxIterations: 100" in text
        assert ("maxDurationSeconds: 60" in text) == (name == "timed")
        assert ("time_bound" if name == "timed" else "only a person") in told
    assert main(["check", "out", "--fail-on", "hint"]) == 0


def test_a_file_with_an_error_is_not_guessed_at(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "draft.yaml").write_text(DRAFT.replace("version: 1.0.0", "version: 1.0.0\nversion: 1.0.0"))
    assert main(["convert", "flow.yaml", "--loop", "polish", "--to", "assistant"]) == 2
    assert "draft.yaml has an error; fix it first: Duplicate key `version`" in capfd.readouterr().err


ODD: dict[str, Callable[[str], str]] = {
    "line ends": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "a document start": lambda text: f"---\n{text}...\n",
    "an anchor and an alias": lambda text: text.replace("needs: [write]", "needs: [*n]").replace(
        "name: write", "name: &n write"
    ),
    "an indent indicator": lambda text: text.replace('"The text says READY"', "|2-\n      The text says READY"),
    "a folded text": lambda text: text.replace('"The text says READY"', ">-\n      The text\n      says READY"),
    "a tag": lambda text: text.replace("until: ", "until: !!str "),
}


@pytest.mark.parametrize("odd", ODD)
def test_however_the_yaml_is_written_the_same_comes_out(convert: Any, here: Path, odd: str) -> None:
    steps = DRAFT[: DRAFT.index("  - {name: review_it")] + DRAFT[DRAFT.index("  - {name: write") :]
    steps += DRAFT[DRAFT.index("  - {name: review_it") : DRAFT.index("  - {name: write")]
    (here / "draft.yaml").write_text(steps)
    convert("flow.yaml", "--loop", "polish", "--to", "role-loop")
    plain = (here / "out" / "loops" / "polish.json").read_text()
    (here / "out" / "loops" / "polish.json").unlink()
    for name, text in (("flow.yaml", FLOW), ("draft.yaml", steps)):
        (here / name).write_bytes(ODD[odd](text).encode())
    convert("flow.yaml", "--loop", "polish", "--to", "role-loop")
    assert (here / "out" / "loops" / "polish.json").read_text() == plain


def test_nothing_is_written_over(convert: Any, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    convert("loops/build.json", "--to", "workflow")
    assert main(["convert", "loops/build.json", "--to", "workflow", "--into", "out"]) == 2
    assert "already exists" in capfd.readouterr().err
