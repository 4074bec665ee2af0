"""The command `loop-ls`: finds the module of a command and hands over.

Each command is a module of `commands` or `servers` with `HELP` (one line), `configure(parser)` and
`run(args) -> exit status`. A module is imported only when its command is called, so that
`serve` and `check` never pay for the engine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from loop_ls import __version__

if TYPE_CHECKING:
    import argparse

#: command -> one line of help. `command_module` does the work.
COMMANDS = {
    "check": "Check loop files for problems",
    "fix": "Apply safe fixes",
    "explain": "Explain a rule, a key, a loop variable or a setting",
    "schema": "Print the JSON Schema of a file format",
    "estimate": "Estimate the calls and cost of a workflow or loop",
    "test-until": "Test a loop's `until` condition against an output",
    "preview": "Preview prompts with the values of the first iteration",
    "definitions": "List workflows and loops that can be run, with their inputs",
    "init": "Set up a folder for loops: settings and a first loop",
    "new": "Create a starter file",
    "convert": "Convert a loop to another format",
    "run": "Run a workflow or a loop and watch it",
    "test": "Run a workflow on its test cases and apply its checks",
    "enhance": "Run a workflow repeatedly and improve its file between runs",
    "runs": "List, show and control runs",
    "ui": "Open the page with all runs in a browser",
    "repl": "Start an interactive prompt with /loops commands",
    "mcp": "Serve loops, or a read-only shell, to agents (MCP, standard input and output)",
    "doctor": "Show what loop-ls finds on this machine",
    "engine": "Start, stop and inspect the engine",
    "serve": "Start the language server (standard input and output)",
    "demo": "Run two example loops: no API key, no network",
}
SERVERS = frozenset({"mcp", "serve"})

#: What a stage of a role loop must not do: loops that start loops would never end.
STARTS = frozenset({"run", "test", "mcp", "repl", "enhance", "demo"})
STARTS_AGAIN = frozenset({"fork", "replay"})

#: What a person decides: the commands, the verbs, and the options that give permission.
OF_PEOPLE_ALONE = frozenset({"ui", "repl"})
OF_PEOPLE = frozenset({"answer", "approve", "reject", "apply", "keep", "discard", "restore", "repair", "token"})
PERMITTING = ("yes", "agree_only")


class CannotPrint(Exception):
    """Standard output takes nothing more; the text says why."""


def _open_closed_streams() -> None:
    """Those that the caller closed: nothing comes from there, what is said goes nowhere, and no file gets their number,
    which a child would take for its own input or output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the end of the process


def _is_of_people(args: argparse.Namespace) -> bool:
    if args.command in OF_PEOPLE_ALONE or args.verb in OF_PEOPLE:
        return True
    return any(getattr(args, name, False) for name in PERMITTING)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: the command's own; 2 for wrong usage and for faults of ours."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    if words[:1] == ["serve"] and all(map(_is_default, words[1:])):
        from loop_ls.cli.servers.serve import serve

        return serve()
    from loop_ls.cli.parser import USAGE_ERROR, Parser  # an editor does not wait for argparse

    parser = Parser(prog="loop-ls", description="AI loops: write, check, run and trust them.")
    parser.add_argument("--version", action="version", version=f"loop-ls {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((word for word in words if not word.startswith("-")), None)
    for name, line in COMMANDS.items():
        sub = commands.add_parser(name, help=line, description=f"{line}.")
        if name == wanted:
            module = command_module(name)
            module.configure(sub)
            sub.set_defaults(run=module.run)
    parser.set_defaults(readonly_shell=False, stage=None, verb=None)  # only some commands have them
    if not words:  # who asks for nothing wants to know what there is
        parser.print_help(sys.stderr)
        return USAGE_ERROR
    args = parser.parse_args(words)
    from loop_ls.contract.process_marks import IN_A_STAGE, IN_AN_AGENT, NOT_FOR_AGENTS

    starts = args.command in STARTS and not (args.readonly_shell or args.stage)
    if os.environ.get(IN_A_STAGE) and (starts or args.verb in STARTS_AGAIN):
        print("loop-ls: A stage of a loop cannot start loops.", file=sys.stderr)
        return USAGE_ERROR
    if (os.environ.get(IN_A_STAGE) or os.environ.get(IN_AN_AGENT)) and _is_of_people(args):
        print(f"loop-ls: {NOT_FOR_AGENTS}", file=sys.stderr)
        return USAGE_ERROR
    try:
        return int(args.run(args))
    except BrokenPipeError:
        _print_nowhere()
        return USAGE_ERROR
    except CannotPrint as error:
        _print_nowhere()
        print(f"loop-ls: the output cannot be written: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from loop_ls.client.engine_location import EngineUnavailable

        if not isinstance(error, EngineUnavailable):
            raise
        print(f"loop-ls: {error.message} {error.hint}", file=sys.stderr)
        return USAGE_ERROR


def command_module(command: str) -> ModuleType:
    """`servers.mcp` for `mcp`, `commands.test_until` for `test-until`."""
    folder = "servers" if command in SERVERS else "commands"
    return import_module(f"loop_ls.cli.{folder}.{command.replace('-', '_')}")


def _print_nowhere() -> None:
    """What is still to be printed would fail again when the process ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_default(word: str) -> bool:
    """What editors add to `serve` and what says nothing new."""
    return word == "--stdio" or word.startswith("--clientProcessId=")
