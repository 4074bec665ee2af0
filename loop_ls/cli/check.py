"""`loop-ls check`: the findings of a workspace, for people or as one JSON object."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from loop_ls.cli.checking import BadUsage, Chosen, check, choose
from loop_ls.report.as_json import as_json
from loop_ls.report.as_text import as_text
from loop_ls.report.checked import Checked
from loop_ls.report.paint import wants_colour
from loop_ls.rules.finding import Severity

HELP = "say what is wrong with loop files"
LEVELS = {"error": Severity.ERROR, "warning": Severity.WARNING, "information": Severity.INFORMATION, "hint": Severity.HINT}
FAULT = 2


def configure(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, or JSON")
    parser.add_argument("--level", choices=tuple(LEVELS), default="hint", help="the lowest severity that is reported")
    parser.add_argument(
        "--fail-on", choices=(*LEVELS, "never"), default="error", help="the lowest severity that makes the exit status 1"
    )
    parser.add_argument("--baseline", metavar="FILE", help="findings listed there are not reported")
    parser.add_argument("--write-baseline", action="store_true", help="write all findings into the baseline instead")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that `check` and `fix` have in common."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: this folder)")
    parser.add_argument("--root", metavar="DIR", help="the workspace: where called workflows are looked up")
    parser.add_argument("--enable", action="append", default=[], metavar="WHAT", help="compat, pedantic or a rule")
    parser.add_argument("--disable", action="append", default=[], metavar="RULE", help="a rule; wins over --enable")


def run(args: argparse.Namespace) -> int:
    begun = time.monotonic()
    if args.write_baseline and not args.baseline:
        return _refuse("--write-baseline needs --baseline FILE")
    try:
        chosen = choose(args.paths, args.root, args.enable, args.disable)
        checked = check(chosen)
    except BadUsage as error:
        return _refuse(str(error))
    if args.write_baseline:
        return _write_baseline(Path(args.baseline), checked)
    if args.baseline:
        found = _without_accepted(Path(args.baseline), checked)
        if found is None:
            return FAULT
        checked = found
    shown = checked.at_least(LEVELS[args.level])
    _print(shown, args.format, time.monotonic() - begun)
    return _status(checked if args.level == "hint" else shown, args.fail_on)
