"""A sound role-loop definition, to be spoiled in one place."""

from __future__ import annotations

import json
from typing import Any

from loop_ls.formats.settings.model import Settings
from loop_ls.rules.engine.finding import Finding
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

PATH = "loops/build.json"


def definition(**changes: Any) -> dict[str, Any]:
    """Keys with None are left out."""
    sound: dict[str, Any] = {
        "name": "build",
        "description": "Builds a house",
        "roles": [{"role": "coder", "prompt": "Build."}],
        "termination_condition": {"type": "iteration_bound", "value": 2},
    }
    return {key: value for key, value in (sound | changes).items() if value is not None}


def source(**changes: Any) -> str:
    return json.dumps(definition(**changes), indent=2)


def found(text: str, **more: Settings) -> list[tuple[str, str]]:
    """Rule and marked text of every finding."""
    fixture = read_fixture(text, PATH, head=False)
    lines = fixture.main.text.split("\n")
    return [(one.rule, _marked(lines, one)) for one in findings_of(fixture, **more)[PATH]]


def check(**changes: Any) -> list[tuple[str, str]]:
    return found(source(**changes))


def codes(**changes: Any) -> list[str]:
    return [rule for rule, _ in check(**changes)]


def _marked(lines: list[str], one: Finding) -> str:
    (line, column), (end_line, end) = one.span
    return lines[line][column : end if end_line == line else None]
