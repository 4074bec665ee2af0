"""`loop-ls schema`: the JSON Schema of a file format, generated from the table of its keys."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.formats.schema.published import FORMATS, FormatName, schema_of

HELP = "print the JSON Schema of a file format"


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("format", nargs="?", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    what.add_argument("--into", metavar="DIR", help="Write the schemas of all formats to this folder")


def run(args: argparse.Namespace) -> int:
    if args.into is None:
        write(text_of(args.format))
        return CLEAN
    try:
        write_all(Path(args.into))
    except OSError as error:
        return refuse(f"{args.into} cannot be written: {error.strerror or error}")
    return CLEAN


def file_name(name: FormatName) -> str:
    return f"{name}.schema.json"


def text_of(name: FormatName) -> str:
    from loop_ls.rules.engine.registry import all_rules

    titles = {code: rule.title for code, rule in all_rules().items()} if name == "settings" else {}
    return json.dumps(schema_of(name, titles), ensure_ascii=False, indent=2) + "\n"


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FORMATS:
        (folder / file_name(name)).write_text(text_of(name), "utf-8", newline="\n")
