"""`loop-ls definitions`: what a workspace has that can be run, with its inputs and limits."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from loop_ls.app.definitions import DefinedLoop, Definition, built_in, definitions
from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.engine.connect import data_folder_of, root_of
from loop_ls.cli.files.one_file import add_json, print_json
from loop_ls.contract.amounts import count
from loop_ls.formats.registry import ASSISTANT, ROLE_LOOP, label_of
from loop_ls.index.disk.discovery import discover
from loop_ls.report.terminal_text import shown

HELP = "list workflows and loops that can be run, with their inputs"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="Workspace root (default: the project around the current folder)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    root = root_of(args.root).as_posix()
    if not Path(root).is_dir():
        return refuse(f"--root {args.root} is not a folder")
    own = definitions(discover(root, named=()).workspace, root)
    data = data_folder_of(None, Path(root))
    found = own + built_in(data, {one["name"] for one in own if one["format"] == ROLE_LOOP})
    if args.json:
        print_json({"ok": True, "definitions": found})
        return CLEAN
    write("".join(f"{line}\n" for one in found for line in _lines(one)))
    if not own:
        write("This folder has no workflow or loop yet. Create one: loop-ls new loop NAME\n")
    return CLEAN


def _lines(one: Definition) -> Iterator[str]:
    words = label_of(one["format"] or "")
    yield f"{shown(one['name'] or '(no name)')}  {words}  {shown(one.get('path', ''))}"
    if error := one.get("error"):
        yield f"    cannot be run: {shown(error)}"
        return
    if description := one.get("description"):
        yield f"    {shown(' '.join(description.split()))}"
    for loop in one.get("loops", ()):
        until = f", until: {loop['until']}" if loop["until"] else ""
        yield f"    loop {shown(loop['name'])}: at most {_limit(loop)}{shown(until)}"
    limit = one.get("maxIterations")
    if roles := one.get("roles"):
        bounded = f"; at most {count(limit, 'iteration')}" if limit else ""
        yield f"    roles: {shown(' → '.join(roles))}{bounded}; ends by: {one.get('termination')}"
    if one["format"] == ASSISTANT and one.get("loop"):
        yield f"    loops at most {count(limit or 0, 'time')}; ends by: {one.get('criteria') or 'nothing else'}"
    for parameter in one.get("parameters", ()):
        default = f" = {parameter['default']}" if parameter.get("default") is not None else ""
        yield f"    --param {shown(parameter['name'])}{shown(default)}"


def _limit(loop: DefinedLoop) -> str:
    return count(loop["maxIterations"] or 0, "item" if loop["mode"] == "iterate" else "iteration")
