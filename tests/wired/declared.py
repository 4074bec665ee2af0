"""What can be written: every key of every format, every option of the command line and every refusal, read from the
product's own tables.

A key is called by its format, its mapping and its name: `workflow: step.timeout`. Mappings that share their keys (an
entry of `loops` and the `loop` of a step) are listed each.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import get_args

from loop_ls.cli.main import COMMANDS, command_module
from loop_ls.cli.parser import Parser
from loop_ls.engine.core.errors import Code
from loop_ls.formats.checks.keys import CHECK
from loop_ls.formats.common.key_table import Key, Shape
from loop_ls.formats.registry import DECLARED_CHECKS, FORMATS
from loop_ls.formats.role_loop.keys import ROLE_LOOP_SHAPES
from loop_ls.formats.workflow.keys import SHAPES

#: What the table of a whole file does not lead to: steps and loops, and the ways in which a role loop may end.
_PARTS: dict[str, Iterable[Shape]] = {"workflow": SHAPES.values(), "role_loop": ROLE_LOOP_SHAPES.values()}


def keys() -> dict[str, Key]:
    """Every key by its full name. Test cases have the same mapping of a check as checks: it is listed once."""
    found: dict[str, Key] = {}
    for one in FORMATS.values():
        shapes = [*_PARTS.get(one.name, ()), *(() if one.keys is None else (one.keys(),))]
        for shape in _all(shapes):
            if shape is not CHECK or one.name == DECLARED_CHECKS:
                found |= {f"{one.label}: {shape.name}.{key.name}": key for key in shape.keys.values()}
    return found


def options() -> dict[str, argparse.Action]:
    """Every option by its command: `run --budget-usd`."""
    found: dict[str, argparse.Action] = {}
    for command in COMMANDS:
        parser = Parser(prog=command)
        command_module(command).configure(parser)
        for name, action in _options(command, parser):
            found[name] = action
    return found


def refusals() -> tuple[str, ...]:
    """The code of every refusal: what a guard answers."""
    return get_args(Code)


def _all(shapes: Iterable[Shape]) -> Iterator[Shape]:
    waiting, seen = list(shapes), set[str]()
    while waiting:
        shape = waiting.pop(0)
        if shape.name not in seen:
            seen.add(shape.name)
            yield shape
            waiting += [key.shape for key in shape.keys.values() if key.shape is not None]


def _options(command: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, inner in action.choices.items():
                yield from _options(f"{command} {verb}", inner)
        elif action.option_strings and not isinstance(action, argparse._HelpAction):
            yield f"{command} {action.option_strings[0]}", action
