"""`loop-ls preview`: prompts as a model would see them in the first iteration. Nothing is asked or run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.files.one_file import add_file, add_json, element_named, open_workflow, print_json
from loop_ls.cli.runs.run_request import Wrong, named_values, read_input
from loop_ls.features.preview import Preview, PreviewInputs, previews
from loop_ls.report.terminal_text import shown

HELP = "preview prompts with the values of the first iteration"


def configure(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--target", "--loop", "--step", dest="target", metavar="NAME", help="Only this step or loop")
    parser.add_argument("--input", metavar="TEXT", help="Input: text, - for standard input, or @file")
    parser.add_argument("--param", action="append", metavar="NAME=VALUE", help="Argument; may be repeated")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    try:
        opened = open_workflow(args.what, args.root)
        element = element_named(opened.document, args.target) if args.target else None
        given = PreviewInputs(None if args.input is None else read_input(args.input), named_values(args.param or ()))
    except Wrong as wrong:
        return refuse(str(wrong))
    found = previews(opened.workspace, opened.document, element, given)
    if args.json:
        print_json({"ok": True, "prompts": [_as_json(one) for one in found]})
    else:
        write("".join(f"{line}\n" for line in _lines(found)) or "nothing here is sent to a model\n")
    return CLEAN


def _as_json(one: Preview) -> dict[str, object]:
    return {"path": list(one.path), "key": one.what, "prompt": one.text, "unresolved": list(one.unresolved)}


def _lines(found: tuple[Preview, ...]) -> Iterator[str]:
    for path, texts in groupby(found, lambda one: one.path):
        yield shown(" › ".join(path))
        for one in texts:
            yield f"  {shown(one.what)}:"
            yield from (f"    {shown(line)}".rstrip() for line in one.text.splitlines() or [""])
            if one.unresolved:
                yield f"    (does not exist: {shown(', '.join(one.unresolved))})"
        yield ""
