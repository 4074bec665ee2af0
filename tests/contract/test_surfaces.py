"""Every surface has the operations of the one table: commands of editors, tools of agents, verbs in a terminal."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

from loop_ls.cli.main import COMMANDS as PROGRAMS
from loop_ls.cli.main import command_module
from loop_ls.client import EngineClient
from loop_ls.contract.operations import COMMANDS, OPERATIONS
from loop_ls.engine.api.mcp.agent_tools import TOOLS
from loop_ls.engine.api.route_table import ROUTES
from loop_ls.server.commands import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
#: What the command line does with an engine without one of its operations: starting it, and what is not for others.
OWN = {"engine start", "engine worker", "engine token", "engine repair"}


def verbs_of(program: str) -> set[str]:
    """`runs fork` and the like, for each verb of a command that has some."""
    parser = argparse.ArgumentParser()
    command_module(program).configure(parser)
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {f"{program} {verb}" for action in found for verb in action.choices}


def test_every_operation_has_a_route() -> None:
    assert [route.operation for route in ROUTES] == list(OPERATIONS.values())


def test_a_command_has_a_function_or_asks_the_engine_about_one_run() -> None:
    assert FUNCTIONS.keys() <= COMMANDS.keys()
    passed_on = [one for name, one in COMMANDS.items() if name not in FUNCTIONS]
    assert passed_on
    for command in passed_on:
        operation = OPERATIONS[str(command.operation)]
        assert command.argument == "OfRun"
        assert operation.request is None
        assert "{id}" in operation.path


def test_every_tool_of_agents_belongs_to_an_operation() -> None:
    assert set(TOOLS) == {name for one in OPERATIONS.values() for name in one.tools}


def test_every_verb_of_the_command_line_that_asks_an_engine_belongs_to_an_operation() -> None:
    verbs = verbs_of("runs") | verbs_of("engine")
    listed = {verb for one in OPERATIONS.values() for verb in one.cli}
    assert verbs - OWN == {verb for verb in listed if " " in verb}
    assert {verb for verb in listed if " " not in verb} <= set(PROGRAMS)


def test_the_client_of_vs_code_asks_for_no_command_that_there_is_not() -> None:
    source = "\n".join(file.read_text("utf-8") for file in (ROOT / "vscode-client" / "src").rglob("*.ts"))
    asked = re.findall(r"""\.(?:executeCommand|run|ask)(?:<[^>]*>)?\(\s*["'](loopLs\.[\w.]+)["']""", source)
    assert len(asked) > 10
    assert {name for name in asked if not name.startswith("loopLs.client.")} - set(COMMANDS) == set()


def test_the_client_of_python_says_of_each_operation_the_answer_that_the_table_names() -> None:
    methods = {
        name: inspect.signature(one).return_annotation for name, one in vars(EngineClient).items() if name in OPERATIONS
    }
    assert len(methods) > 20
    wrong = {name: said for name, said in methods.items() if said != f"{OPERATIONS[name].answer} | Refusal"}
    assert wrong == {"runs": "RunList | Refusal"}  # the states alone, without the rows around them
