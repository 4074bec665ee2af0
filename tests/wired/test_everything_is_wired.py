"""Every key of every format, every option of the command line and every refusal is seen at the far end by some test.

What is not stands in `missing.json`, which only gets shorter. Tables of this room show what can be seen in this
process, `elsewhere` what needs a server, a program or a terminal.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

from tests.wired import elsewhere
from tests.wired import test_assistant_keys as assistants
from tests.wired import test_command_options as commands
from tests.wired import test_enhance_keys as enhance
from tests.wired import test_idle_keys as idle
from tests.wired import test_role_file_keys as role_files
from tests.wired import test_role_loop_keys as role_loops
from tests.wired import test_settings_keys as settings
from tests.wired import test_workflow_keys as workflows
from tests.wired.declared import keys, options, refusals

ROOT = Path(__file__).parents[2]
MISSING: dict[str, list[str]] = json.loads(Path(__file__).with_name("missing.json").read_text("utf-8"))


def shown_keys() -> set[str]:
    rows = {
        "workflow": (*workflows.ROWS, *workflows.FILE_ROWS),
        "assistant": assistants.ROWS,
        "role loop": role_loops.ROWS,
        "role file": role_files.ROWS,
        "settings": (
            *(row for rows in settings.RUN_ROWS.values() for row in rows),
            *(*settings.PROCESS_ROWS, *settings.PROVIDER_ROWS, *(row for row, _ in enhance.PLACED.values())),
        ),
    }
    return {f"{name}: {row.key}" for name, found in rows.items() for row in found} | set(idle.IDLE)


def shown_options() -> set[str]:
    general = {f"{command} {option}" for option, found in commands.ASKING.items() for command in found}
    general |= {f"{command} --json" for command in commands.having("--json")}
    return general | {row.name for row in commands.ROWS}


def test_every_key_is_seen_at_the_far_end() -> None:
    assert sorted(keys().keys() - shown_keys() - elsewhere.KEYS.keys()) == MISSING["keys"]


def test_every_option_is_seen_at_the_far_end() -> None:
    assert sorted(options().keys() - shown_options() - elsewhere.OPTIONS.keys()) == MISSING["options"]


def test_every_refusal_is_seen_at_the_far_end() -> None:
    assert sorted(set(refusals()) - elsewhere.REFUSALS.keys()) == MISSING["refusals"]


def test_what_is_shown_is_there() -> None:
    assert sorted((shown_keys() | elsewhere.KEYS.keys()) - keys().keys()) == []
    assert sorted((shown_options() | elsewhere.OPTIONS.keys()) - options().keys()) == []
    assert sorted(elsewhere.REFUSALS.keys() - set(refusals())) == []


def test_nothing_is_said_to_be_elsewhere_that_is_here() -> None:
    assert sorted(elsewhere.KEYS.keys() & shown_keys()) == []
    assert sorted(elsewhere.OPTIONS.keys() & shown_options()) == []


def test_a_test_elsewhere_is_there_and_names_what_it_shows() -> None:
    wrong = []
    for name, place in {**elsewhere.KEYS, **elsewhere.OPTIONS, **elsewhere.REFUSALS}.items():
        path, _, test = place.partition("::")
        source, functions = _test_file(path)
        if test not in functions:
            wrong.append(f"{name}: there is no {place}")
        elif not re.search(rf"(?<![\w-]){re.escape(re.split(r'[. ]', name)[-1])}\b", source):
            wrong.append(f"{name}: {path} does not name it")
    assert wrong == []


@cache
def _test_file(path: str) -> tuple[str, set[str]]:
    """Its text, and the names of its functions."""
    source = (ROOT / path).read_text("utf-8")
    found = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return source, {one.name for one in found}
