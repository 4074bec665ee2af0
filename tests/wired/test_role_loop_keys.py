"""Every key of a role loop, from the definition to the prompts of its stages, their tools and how it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loop_ls.testing.models import calls
from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row

ROLES = (
    '"roles": [{"name": "write", "role": "coder", "prompt": "Write."},'
    ' {"name": "judge-it", "role": "reviewer", "prompt": "Judge."}]'
)
EVALUATED = (
    '"termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 3}}'
)
HEAD = '"name": "pair", "description": "d"'
PAIR = f"{{{PLACE} {HEAD}, {ROLES}, {EVALUATED}}}"
#: The second stage has the key.
STAGE = PAIR.replace(PLACE, "").replace('"prompt": "Judge."', f'{PLACE} "prompt": "Judge."')
ONE = '"roles": [{"name": "write", "role": "coder", "prompt": "Write."}]'
TWICE = '"termination_condition": {"type": "iteration_bound", "value": 2}'
PARAMETERS = ROLES.replace("Write.", "Write {{depth}}.")
GOAL = f'{{{HEAD}, {ONE}, "termination_condition": {{"type": "goal_bound", "value": {{{PLACE}}}}}}}'
SCRIPT = {"write": "text", "judge-it": ["no", "ship it", "no"], "judge": "NOT_ACHIEVED\nMore."}
ROUNDS = [calls(("ls", {})), calls(("ls", {})), calls(("ls", {})), "APPROVED"]
SCRIPTS = {"role stage.max_iterations": {"judge-it": ROUNDS}, "role stage.artifact_required": {"judge-it": " "}}
#: A gate says no, and the last stage would have ended the loop.
SCRIPTS["role stage.gate"] = {"write": "no", "judge-it": "APPROVED"}


def iterations(run: Ended) -> object:
    return len(run.models.prompts("write"))


def reason(run: Ended) -> object:
    return run.end.get("reason") or run.end["kind"]


def order(run: Ended) -> object:
    return run.models.order[:2]


def code(run: Ended) -> object:
    return run.answer.get("code")


def prompt(stage: str, text: str) -> Any:
    return lambda run: text in (run.models.prompts(stage) or [""])[0]


def tools(run: Ended) -> object:
    return any(one.name == "shell" or "write" in one.name for one in run.models.asked("judge-it")[0].tools)


def parameter(*keys: str) -> str:
    return f'{{"parameters": [{{{PLACE} {", ".join(keys)}}}], {HEAD}, {PARAMETERS}, {EVALUATED}}}'


ROWS = (
    Row("role loop.name", f'{{"description": "d", {PLACE}, {ROLES}, {EVALUATED}}}', '"name": "pair"',
        lambda run: run.first["name"], "pair", "other", '"name": "other"'),
    Row("role loop.version", PAIR, '"version": "first",', code, "file_has_errors", None, '"version": 2,'),
    Row("role loop.parameters", PAIR.replace("Write.", "Write {{depth}}."),
        '"parameters": [{"name": "depth", "description": "d", "required": false, "default": "deep"}],',
        prompt("write", "Write deep."), True, False),
    Row("role loop.roles", f"{{{HEAD}, {PLACE}, {EVALUATED}}}", ROLES, order, ["write", "judge-it"],
        ["judge-it", "judge-it"], '"roles": [{"name": "judge-it", "role": "reviewer", "prompt": "Judge."}]'),
    Row("role loop.termination_condition", f"{{{HEAD}, {ROLES}, {PLACE}}}", TWICE, iterations, 2, 3, EVALUATED),
    Row("role loop.approval", STAGE.replace(PLACE, "").replace("{", "{" + PLACE, 1),
        '"approval": {"mode": "keyword", "signals": ["ship it"]},', iterations, 2, 3),
    Row("role loop.max_rework_attempts", PAIR.replace(PLACE, f'"approval": {{"mode": "llm"}}, {PLACE}'),
        '"max_rework_attempts": 1,', iterations, 1, 3),
    Row("parameter.name", parameter('"description": "d"', '"default": "deep"', '"required": false'),
        '"name": "depth",', prompt("write", "Write deep."), True, False, '"name": "other",'),
    Row("parameter.required", parameter('"name": "depth"', '"description": "d"', '"default": ""'),
        '"required": false,', code, None, "input_required"),
    Row("parameter.default", parameter('"name": "depth"', '"description": "d"', '"required": false'),
        '"default": "deep",', prompt("write", "Write deep."), True, False, '"default": "",'),
    Row("role stage.role", STAGE.replace('"role": "reviewer",', ""), '"role": "coder",', tools, True, False,
        '"role": "reviewer",'),
    Row("role stage.name", STAGE.replace('"name": "judge-it",', ""), '"name": "checks",',
        lambda run: run.models.order[1], "checks", "reviewer"),
    Row("role stage.prompt", STAGE.replace('"prompt": "Judge."', '"skills": []'), '"prompt": "Look.",',
        prompt("judge-it", "Look."), True, False, '"prompt": "Judge.",'),
    Row("role stage.order", STAGE.replace('"prompt": "Write."', '"prompt": "Write.", "order": 2'), '"order": 1,',
        order, ["judge-it", "write"], ["write", "judge-it"], '"order": 3,'),
    Row("role stage.skills", STAGE, '"skills": ["cook"],',
        lambda run: "skills/cook/SKILL.md" in str(run.models.asked("judge-it")[0].system), True, False),
    Row("role stage.artifact_required", STAGE, '"artifact_required": true,', reason, "missing_artifact",
        "max_iterations"),
    Row("role stage.max_iterations", STAGE, '"max_iterations": 1,', lambda run: len(run.models.asked("judge-it")) == 4,
        False, True),
    Row("role stage.memory_required", STAGE, '"memory_required": true,', lambda run: len(run.of("warning")) > 0, True,
        False),
    Row("role stage.gate", PAIR.replace(PLACE, "").replace('"prompt": "Write."', f'{PLACE} "prompt": "Write."'),
        '"gate": true,', iterations, 3, 1),
    Row("termination condition.type", f'{{{HEAD}, {ONE}, "termination_condition": {{{PLACE}}}}}',
        '"type": "iteration_bound", "value": 2', iterations, 2, 1, '"type": "iteration_bound", "value": 1'),
    Row("termination condition.value", f'{{{HEAD}, {ONE}, "termination_condition": {{"type": "iteration_bound", '
        f'{PLACE}}}}}', '"value": 2', iterations, 2, 1, '"value": 1'),
    Row("termination condition.max_iterations", f'{{{HEAD}, {ONE}, "termination_condition": '
        f'{{"type": "iteration_bound", {PLACE}}}}}', '"max_iterations": 2', iterations, 2, 1, '"max_iterations": 1'),
    Row("approval.mode", PAIR, '"approval": {"mode": "llm"},', lambda run: len(run.models.requests) > 6, True, False),
    Row("approval.signals", PAIR, '"approval": {"signals": ["ship it"]},', iterations, 2, 3),
    Row("evaluation.criteria", PAIR.replace('"criteria": "Good."', PLACE).replace(f"{{{PLACE}", "{", 1),
        '"criteria": "It is short."', prompt("judge-it", "It is short."), True, False, '"criteria": "Good."'),
    Row("evaluation.max_review_rounds", PAIR.replace('"max_review_rounds": 3', PLACE).replace(f"{{{PLACE}", "{", 1),
        '"max_review_rounds": 2', iterations, 2, 3, '"max_review_rounds": 3'),
    Row("goal.goal_prompt", GOAL.replace(PLACE, f'{PLACE} "max_iterations": 2'), '"goal_prompt": "All pass.",',
        lambda run: "All pass." in run.models.prompts("judge")[0], True, False),
    Row("goal.max_iterations", GOAL, '"max_iterations": 2', iterations, 2, 1, '"max_iterations": 1'),
)  # fmt: skip


@pytest.mark.timeout(600)
def test_a_key_of_a_role_loop_is_seen_in_the_run(tmp_path: Path) -> None:
    told = asyncio.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    project.write(".loop-ls.yaml", "assist: {provider: ollama, model: small}\n")
    await project.open()

    async def run(row: Row, text: str) -> Ended:
        project.write("loops/pair.json", text)
        script = {**SCRIPT, **SCRIPTS.get(row.key, {})}
        return await project.run("loops/pair.json", dict(script), target={"kind": "definition"}, goal="Do it.")

    try:
        return await wrong(ROWS, run, lambda row: row.key in SCRIPTS and row.key)
    finally:
        await project.close()
