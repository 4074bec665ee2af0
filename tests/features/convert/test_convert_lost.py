"""Every key that a loop can have either makes a difference in what is written, or is said to be lost.

The keys come from the tables of the formats, so that a new one is asked about too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.commands.convert import read, written
from loop_ls.features.convert.from_workflow import count_of_items
from loop_ls.features.convert.gist import Converted
from loop_ls.formats.assistant.keys import _KEYS as ASSISTANT_KEYS
from loop_ls.formats.assistant.keys import CRITERIA
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.role_loop.keys import DEFINITION, ROLE
from loop_ls.formats.workflow.keys import EXECUTION, STEP, WORKFLOW
from loop_ls.formats.workflow.loop_keys import LOOP

Json = dict[str, Any]

ROLES: Json = {
    "name": "build",
    "description": "Builds",
    "roles": [{"role": "coder", "prompt": "Build"}, {"role": "reviewer", "prompt": "Judge"}],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It stands", "max_review_rounds": 6}},
}
ASSISTANT: Json = {
    "name": "Fixer",
    "persona": "Fix it",
    "loopEnabled": True,
    "loopCriteria": {"type": "test_pass", "value": "npm test"},
}
CALLER: Json = {
    "$schema": "workflow/v2.0",
    "name": "flow",
    "version": "1.0.0",
    "execution": {"provider": "anthropic", "model": "m"},
    "loops": [{"name": "polish", "workflow": "draft", "max_iterations": 4, "until": "The text says READY"}],
}
CALLEE: Json = {
    "$schema": "workflow/v2.0",
    "name": "draft",
    "version": "1.0.0",
    "execution": {"provider": "anthropic", "model": "m"},
    "steps": [{"name": "write", "run": "Write"}],
}
#: What names the format, what changes nothing wherever it stands, and what decides between kinds.
FRAME = {"$schema", "version", "name", "loopEnabled", "on_question", "order", "input", "no_color", "id", "max_workers"}
OF_LISTS = {"items", "mode", "min_success_rate", "parallel", "workflow", "with"}
VALUES: Json = {
    "permissionMode": "edit",
    "memory": "memory.md",
    "provider": "openai",
    "purpose": "coding",
    "timeout": "3m",
}


def value_of(key: Key) -> Any:
    if key.name in VALUES:
        return VALUES[key.name]
    if key.choices:
        return key.choices[-1]
    numbers = {Type.INTEGER: 7, Type.NUMBER: 1.5, Type.BOOLEAN: True, Type.DURATION: "7m"}
    return numbers.get(key.type) or {Type.TEXTS: ["other"], Type.TEXT_MAP: {"A": "b"}}.get(key.type, "another")


def convert(folder: Path, files: dict[str, Json], to: str, of: str) -> Converted:
    for name, value in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value))
    return written(read(str(folder / of), str(folder), None, to), to)


def keys(shape: tuple[Key, ...], but: set[str]) -> Iterator[Key]:
    yield from (key for key in shape if key.name not in FRAME | but and key.type not in (Type.BLOCK, Type.BLOCKS))


@pytest.mark.parametrize("to", ["workflow", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(ROLE.keys.values()), set())], ids=lambda key: key.name)
def test_keys_of_a_stage(tmp_path: Path, key: Key, to: str) -> None:
    value = 0 if key.name == "requires_artifact_from" else value_of(key)
    if key.name == "role":
        return  # the role is the first sentence of what is lost
    one, other = ROLES, {**ROLES, "roles": [ROLES["roles"][0], {**ROLES["roles"][1], key.name: value}]}
    before = convert(tmp_path, {"loops/build.json": one}, to, "loops/build.json")
    assert convert(tmp_path, {"loops/build.json": other}, to, "loops/build.json") != before


@pytest.mark.parametrize("to", ["workflow", "assistant"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((key.name, value_of(key)) for key in keys(tuple(DEFINITION.keys.values()), set())),
        ("approval", {"mode": "verdict_line"}),
        ("parameters", [{"name": "x", "description": "y", "required": False, "default": "z"}]),
    ],
)
def test_keys_of_a_role_loop(tmp_path: Path, name: str, value: Any, to: str) -> None:
    before = convert(tmp_path, {"loops/build.json": ROLES}, to, "loops/build.json")
    changed = {**ROLES, name: value}
    after = convert(tmp_path, {"loops/build.json": changed}, to, "loops/build.json")
    if name == "description" and to == "workflow":
        assert after.files != before.files
    assert after != before


@pytest.mark.parametrize("to", ["workflow", "role-loop"])
@pytest.mark.parametrize("key", [*keys(tuple(ASSISTANT_KEYS), set())], ids=lambda key: key.name)
def test_keys_of_an_assistant(tmp_path: Path, key: Key, to: str) -> None:
    before = convert(tmp_path, {"a.assistant.json": ASSISTANT}, to, "a.assistant.json")
    changed = {**ASSISTANT, key.name: value_of(key)}
    assert convert(tmp_path, {"a.assistant.json": changed}, to, "a.assistant.json") != before


@pytest.mark.parametrize("to", ["workflow", "role-loop"])
@pytest.mark.parametrize("key", [*keys(tuple(CRITERIA.keys.values()), {"type"})], ids=lambda key: key.name)
def test_keys_of_criteria(tmp_path: Path, key: Key, to: str) -> None:
    before = convert(tmp_path, {"a.assistant.json": ASSISTANT}, to, "a.assistant.json")
    changed = {**ASSISTANT, "loopCriteria": {**ASSISTANT["loopCriteria"], key.name: value_of(key)}}
    assert convert(tmp_path, {"a.assistant.json": changed}, to, "a.assistant.json") != before


def of_workflow(folder: Path, caller: Json, callee: Json, to: str) -> Converted:
    return convert(folder, {"flow.yaml": caller, "draft.yaml": callee}, to, "flow.yaml")


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(LOOP.keys.values()), OF_LISTS)], ids=lambda key: key.name)
def test_keys_of_a_loop(tmp_path: Path, key: Key, to: str) -> None:
    changed = {**CALLER, "loops": [{**CALLER["loops"][0], key.name: value_of(key)}]}
    assert of_workflow(tmp_path, changed, CALLEE, to) != of_workflow(tmp_path, CALLER, CALLEE, to)


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(STEP.keys.values()), {"needs"})], ids=lambda key: key.name)
def test_keys_of_a_step(tmp_path: Path, key: Key, to: str) -> None:
    changed = {**CALLEE, "steps": [{**CALLEE["steps"][0], key.name: value_of(key)}]}
    assert of_workflow(tmp_path, CALLER, changed, to) != of_workflow(tmp_path, CALLER, CALLEE, to)


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(STEP.keys.values()), {"run", "needs"})], ids=lambda key: key.name)
def test_keys_of_a_step_that_is_a_loop(tmp_path: Path, key: Key, to: str) -> None:
    inner = {name: value for name, value in CALLER["loops"][0].items() if name != "name"}
    step = {"name": "polish", "loop": inner}
    caller = {**{name: value for name, value in CALLER.items() if name != "loops"}, "steps": [step]}
    changed = {**caller, "steps": [{**step, key.name: value_of(key)}]}
    assert of_workflow(tmp_path, changed, CALLEE, to) != of_workflow(tmp_path, caller, CALLEE, to)


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(EXECUTION.keys.values()), set())], ids=lambda key: key.name)
def test_keys_of_execution(tmp_path: Path, key: Key, to: str) -> None:
    before = of_workflow(tmp_path, CALLER, CALLEE, to)
    for where in (0, 1):
        files = [CALLER, CALLEE]
        files[where] = {**files[where], "execution": {**files[where]["execution"], key.name: value_of(key)}}
        assert of_workflow(tmp_path, *files, to) != before, where


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
@pytest.mark.parametrize("key", [*keys(tuple(WORKFLOW.keys.values()), {"env"})], ids=lambda key: key.name)
def test_keys_of_a_workflow(tmp_path: Path, key: Key, to: str) -> None:
    before = of_workflow(tmp_path, CALLER, CALLEE, to)
    assert of_workflow(tmp_path, {**CALLER, key.name: value_of(key)}, CALLEE, to) != before


def test_comments_and_the_list_that_is_only_counted_are_said(tmp_path: Path) -> None:
    loop = {**CALLER["loops"][0], "mode": "iterate", "items": '["a", "b", "c"]', "max_iterations": 2}
    del loop["until"]
    (tmp_path / "draft.yaml").write_text(json.dumps(CALLEE) + " # why\n")
    (tmp_path / "flow.yaml").write_text(json.dumps({**CALLER, "loops": [loop]}))
    files, lost = written(read(str(tmp_path / "flow.yaml"), str(tmp_path), None, "role-loop"), "role-loop")
    end = json.loads(files["loops/polish.json"])["termination_condition"]
    assert end == {"type": "iteration_bound", "value": 2}
    assert "the comments of draft" in lost
    assert any("list of 3 items" in one for one in lost)


@pytest.mark.parametrize(
    ("items", "number"),
    [
        *(("[1, 2]", 2), ('["{a}"]', 1), ("red\n\ngreen\n", 2), ('{"a": 1}', 1), ("one line", 1)),
        *(
            ("{{list}}", None),
            ('["{{a}}"]', None),
            ("file://items.json", None),
            ("[]", None),
            ("", None),
            (" \n", None),
        ),
    ],
)
def test_only_a_list_that_stands_in_the_file_is_counted(items: str, number: int | None) -> None:
    assert count_of_items(items) == number


@pytest.mark.parametrize("to", ["role-loop", "assistant"])
def test_a_condition_holds_no_braces_afterwards(tmp_path: Path, to: str) -> None:
    until = "{{loop.output}} has {{word}} after {{loop.iteration}}"
    files, lost = of_workflow(tmp_path, {**CALLER, "loops": [{**CALLER["loops"][0], "until": until}]}, CALLEE, to)
    text = "".join(files.values())
    assert "loop.output" not in text
    assert ("{{word}}" in text) == (to == "role-loop")
    assert any("`{{loop.iteration}}`" in one for one in lost)
