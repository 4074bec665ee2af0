"""What a test case starts a run with: its `input` and its parameters, as texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from loop_ls.engine.context.workspace_files import FILE
from loop_ls.formats.checks.model import Case
from loop_ls.text.json_value import Json


class CaseInput(NamedTuple):
    input: str | None
    parameters: dict[str, str]


def case_input(case: Case, read: Callable[[str], str]) -> CaseInput:
    """`read` gives the text of a file that is named as `file://PATH`; what it raises is raised."""
    texts = {name: _text(value, read) for name, value in case.variables.items()}
    return CaseInput(texts.pop("input", None), texts)


def _text(value: Json, read: Callable[[str], str]) -> str:
    match value:
        case str() if value.startswith(FILE):
            return read(value)
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)
