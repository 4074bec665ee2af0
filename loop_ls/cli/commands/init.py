"""`loop-ls init`: a folder made ready for loops: its settings and a first loop that runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.commands.new import WHO_ANSWERS, contents, create, how_to_run, settings_of
from loop_ls.report.terminal_text import shown

HELP = "set up a folder for loops: settings and a first loop"
#: What the loop is called. It is there to be changed.
FIRST = "first_loop"


def configure(parser: argparse.ArgumentParser) -> None:
    about = "provider: scripted (answers from a file, no key), local (a small model on this machine), anthropic, ..."
    parser.add_argument("--provider", choices=WHO_ANSWERS, metavar="NAME", default="scripted", help=about)
    parser.add_argument("--into", default=".", metavar="DIR", help="Folder (default: this one)")


def run(args: argparse.Namespace) -> int:
    into = Path(args.into)
    settings = settings_of(into)
    if settings is not None:
        return refuse(f"{settings} exists already; add a loop with `loop-ls new loop NAME --provider {args.provider}`")
    files = contents("settings", "", args.provider) | contents("loop", FIRST, args.provider)
    refused = create(files, into)
    if refused:
        return refuse(refused)
    told = "".join(f"{shown(str(into / path))}\n" for path in files)
    check = "loop-ls check" if args.into == "." else f"loop-ls check {shown(args.into)}"
    write(f"{told}Check the files: {check}\n{how_to_run('loop', str(into / f'{FIRST}.yaml'), args.provider)}")
    return CLEAN
