"""The table of operations holds together: its types exist, and reading it costs the language server nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loop_ls.contract.operations import COMMANDS, OPERATIONS, Command, Operation
from loop_ls.contract.validation import answer_type, request_type


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=str)
def test_the_types_of_an_operation_exist(operation: Operation) -> None:
    for name in (operation.request, operation.query, operation.headers):
        assert name is None or request_type(name).model_json_schema()["type"] == "object"
    assert operation.answer == "str" or answer_type(operation.answer).json_schema()["type"] == "object"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=str)
def test_a_command_has_a_type_and_an_operation(command: Command) -> None:
    assert request_type(command.argument).model_json_schema()["type"] == "object"
    assert command.operation is None or command.operation in OPERATIONS


def test_no_two_operations_share_a_route_or_a_name_in_the_document() -> None:
    routes = {(one.method, one.path) for one in OPERATIONS.values()}
    assert len(routes) == len({one.operation_id for one in OPERATIONS.values()}) == len(OPERATIONS)


def test_only_what_changes_something_takes_a_body() -> None:
    assert [one.name for one in OPERATIONS.values() if one.method == "GET" and one.request] == []
    lets_in = {"page_code", "page_sign_in", "page_sign_out"}  # who may read shows it to a browser, too
    acting = {one.name for one in OPERATIONS.values() if one.method != "GET" and one.role in (None, "viewer")}
    assert acting == lets_in


def test_reading_the_table_loads_no_heavy_library() -> None:
    code = (
        "import sys, loop_ls.contract.operations, loop_ls.contract.validation\n"
        "print([m for m in sys.modules if m.startswith('pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
