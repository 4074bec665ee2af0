"""`loop-ls estimate`: how many calls a workflow or loop makes at least and at most, and what they cost."""

from __future__ import annotations

import argparse

from loop_ls.app.prices import prices
from loop_ls.cli.arguments import add_model
from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.files.one_file import add_file, add_json, element_named, open_workflow, print_json
from loop_ls.cli.runs.run_request import Wrong
from loop_ls.contract.amounts import money
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers.config import chosen_model
from loop_ls.features.estimate.answers import Estimate
from loop_ls.features.estimate.estimate import estimate, estimate_of_workflow
from loop_ls.formats.registry import ASSISTANT, runnable_formats
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import as_object

HELP = "estimate the calls and cost of a workflow or loop"


def configure(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--loop", metavar="NAME", help="Only this loop or step")
    add_model(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    try:
        opened = open_workflow(args.what, args.root, runnable_formats())
        assistant = args.loop if opened.document.format == ASSISTANT else None
        element = element_named(opened.document, args.loop) if args.loop and assistant is None else None
    except Wrong as wrong:
        return refuse(str(wrong))
    price = prices(opened.workspace, opened.document)
    if args.provider or args.model:
        if not opened.document.is_workflow:
            return refuse("`--provider` and `--model` work only for workflows, and this file is not one")
        try:
            instead = chosen_model(args.provider, args.model, as_object(opened.workspace.settings.raw.get("providers")))
        except ModelFailure as failure:
            return refuse(" ".join(part for part in (failure.message, failure.hint) if part))
        found = estimate_of_workflow(opened.workspace, opened.document, element, price, instead)
    else:
        found = estimate(opened.workspace, opened.document, element, price, assistant)
    if args.json:
        print_json(dict(found.answer()))
    else:
        write(as_text(args.loop or opened.document.name or args.what, found))
    return CLEAN


def as_text(name: str, found: Estimate) -> str:
    least, most = found.calls
    calls = f"{least} calls or more" if most is None else _range(str(least), str(most), "calls")
    usd = "" if found.usd is None else f", {_range(money(found.usd[0]), money(found.usd[1]))}"
    return f"{shown(name)}: {calls}{usd}\n  {shown(found.why)}\n"


def _range(least: str, most: str, noun: str = "") -> str:
    if least == most:
        return f"{least} {noun[:-1] if least == '1' else noun}".rstrip()
    return f"{least} to {most} {noun}".rstrip()
