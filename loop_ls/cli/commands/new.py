"""`loop-ls new`: files to begin with, which check clean and run with `--mock`. Never writes over a file."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.report.baseline import write_whole
from loop_ls.report.terminal_text import shown

HELP = "write a file to begin with"

FILES = Path(__file__).parents[1] / "new_files"

#: kind -> template: where it goes. The VS Code client reads the same files.
KINDS: Mapping[str, Mapping[str, str]] = {
    kind: one["files"] for kind, one in json.loads((FILES / "kinds.json").read_text("utf-8")).items()
}
#: By custom names of workflows are in snake_case (WF115); this holds for every kind.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("name", nargs="?", metavar="NAME", help="small letters, digits and _; not for settings")
    parser.add_argument("--into", default=".", metavar="DIR", help="the folder (default: this one)")


def run(args: argparse.Namespace) -> int:
    name = args.name or ""
    if args.kind != "settings" and not _NAME.fullmatch(name):
        better = snake(name)
        hint = f"; {better} would be one" if better else ", such as my_loop"
        return refuse(f"`{name}` is no name: small letters, digits and _{hint}")
    files = contents(args.kind, name)
    into = Path(args.into)
    try:
        there = [path for path in files if (into / path).exists()]
        if there:
            return refuse(f"{into / there[0]} exists already; nothing was written")
        for path, text in files.items():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(into / path, text.encode())
    except OSError as error:
        return refuse(f"{into} cannot be written: {error.strerror or error}")
    write("".join(f"{shown(str(into / path))}\n" for path in files) + _next(args.kind, str(into / next(iter(files)))))
    return CLEAN


def contents(kind: str, name: str) -> dict[str, str]:
    """The files of a kind by path."""
    title = name.replace("_", " ").capitalize()
    return {
        path.format(name=name): (FILES / template)
        .read_text("utf-8")
        .replace("__name__", name)
        .replace("__title__", title)
        for template, path in KINDS[kind].items()
    }


def snake(word: str) -> str:
    """The nearest name; empty where nothing of the word can stay."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_").lstrip("0123456789_")


def _next(kind: str, path: str) -> str:
    if kind in ("workflow", "loop"):
        return f"Try it without a key: loop-ls run {shown(path)} --mock --input 'your wish'\n"
    if kind == "settings":
        return "All settings: loop-ls explain settings\n"
    return ""
