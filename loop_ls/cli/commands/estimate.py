"""`loop-ls estimate`: how many calls a workflow or loop makes at least and at most, and what they cost."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.files.one_file import OneFile, add_file, add_json, element_named, open_workflow, print_json
from loop_ls.cli.runs.run_request import Wrong
from loop_ls.contract.amounts import money
from loop_ls.features.estimate.answers import Estimate, Price
from loop_ls.features.estimate.estimate import estimate, price_of_script
from loop_ls.formats.common.target import Target
from loop_ls.formats.registry import ASSISTANT, runnable_formats
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject

HELP = "count the calls and dollars of a workflow or loop"


def configure(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--loop", metavar="NAME", help="only this loop or step")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    try:
        opened = open_workflow(args.what, args.root, runnable_formats())
        assistant = args.loop if opened.document.format == ASSISTANT else None
        element = element_named(opened.document, args.loop) if args.loop and assistant is None else None
    except Wrong as wrong:
        return refuse(str(wrong))
    price = prices(opened)
    found = estimate(opened.workspace, opened.document, element, price, assistant)
    if args.json:
        print_json(as_json(found))
    else:
        write(as_text(args.loop or opened.document.name or args.what, found))
    return CLEAN


def as_json(found: Estimate) -> JsonObject:
    usd = None if found.usd is None else {"min": round(found.usd[0], 6), "max": round(found.usd[1], 6)}
    calls = {"min": found.calls.least, "max": found.calls.most}
    return {"ok": True, "calls": calls, "usd": usd, "why": found.why}


def as_text(name: str, found: Estimate) -> str:
    least, most = found.calls
    calls = f"{least} calls or more" if most is None else _range(str(least), str(most), "calls")
    usd = "" if found.usd is None else f", {_range(money(found.usd[0]), money(found.usd[1]))}"
    return f"{shown(name)}: {calls}{usd}\n  {shown(found.why)}\n"


def _range(least: str, most: str, noun: str = "") -> str:
    if least == most:
        return f"{least} {noun[:-1] if least == '1' else noun}".rstrip()
    return f"{least} to {most} {noun}".rstrip()


def prices(opened: OneFile) -> Callable[[Target], Price]:
    """Prices as the engine knows them: of the settings, else of its table or of a script; what runs here is free."""
    from loop_ls.engine.core.ports import ModelFailure
    from loop_ls.engine.core.price_table import known_price
    from loop_ls.engine.providers.config import configured

    providers = opened.workspace.settings.raw.get("providers")

    def price(target: Target) -> Price:
        try:
            provider = configured(target.provider, providers if isinstance(providers, Mapping) else {}, os.environ)
        except ModelFailure:
            return None
        if provider.price is None and provider.options.get("price") is not None:
            return None  # it is written, and it is none
        found = provider.price or (known_price(provider.prices, target.model) if provider.prices else None)
        if found is not None:
            return found.input, found.output
        if provider.kind == "scripted":
            return price_of_script(opened.workspace, opened.document, provider.options)
        return (0.0, 0.0) if provider.kind == "local" or provider.on_this_machine else None

    return price
