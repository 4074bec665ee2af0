"""How commands reach the engine: which folder, which engine, and how refusals are printed."""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.client import EngineClient, EngineUnavailable, connect, find
from loop_ls.index.disk.projects import engine_home, place_of
from loop_ls.report.terminal_text import shown

if TYPE_CHECKING:
    from loop_ls.contract.answers import Refusal

REFUSED = 2
SHOWN = 10


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="Workspace root (default: the project around the current folder)")
    parser.add_argument("--data-dir", metavar="DIR", help="Data folder of the engine (default: one per project)")


def root_of(given: str | None, near: Path | None = None) -> Path:
    """The given root, else the project around `near` (or here), else the current folder."""
    if given:
        return Path(given).resolve()
    here = Path.cwd().resolve()
    start = near.resolve() if near else here
    place = place_of(start)
    if place is not None:
        return Path(place)
    return here if start.is_relative_to(here) else start


def data_folder_of(given: str | None, root: Path) -> Path:
    """The data folder of the engine of `root`. Raises `EngineUnavailable`."""
    from loop_ls.client import data_folder

    return data_folder(*_home_and_setting(given, root))


def _home_and_setting(given: str | None, root: Path) -> tuple[Path, str | Path | None]:
    """The project that the engine of `root` is at home in, and the option (a `Path`), else the setting of the project;
    None: the rules of the client decide."""
    home = engine_home(root)
    if given:
        return home, Path(given).resolve()
    from loop_ls.index.disk.discovery import load_settings

    settings, _ = load_settings(str(home))
    return home, settings.engine.data_dir


async def engine_for(args: argparse.Namespace, root: Path | None = None) -> EngineClient:
    """The engine, started when there is none. Raises `EngineUnavailable`."""
    return await connect(*_home_and_setting(args.data_dir, root or root_of(args.root)))


async def running_engine(args: argparse.Namespace) -> EngineClient | None:
    return await find(*_home_and_setting(args.data_dir, root_of(args.root)))


def settled(work: Callable[[], Awaitable[int]], as_json: bool = False) -> int:
    """Run a command's asynchronous part; an engine that cannot be had is one sentence."""

    async def main() -> int:
        return await work()

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a mark that a terminal cannot show must not end a command
            stream.reconfigure(errors="replace")
    try:
        return asyncio.run(main())
    except EngineUnavailable as gone:
        return refuse(gone.answer(), as_json)


def refuse(answer: Refusal, as_json: bool = False) -> int:
    """Say why not, and what to do. The exit status of refusals."""
    if as_json:
        print_json(answer)
        return REFUSED
    first, *rest = refusal_lines(answer)
    print("\n".join([f"loop-ls: {first}", *rest]), file=sys.stderr)
    return REFUSED


def refusal_lines(answer: Refusal) -> list[str]:
    """Why not, then what to do."""
    more = [*_details(answer), *([answer["hint"]] if answer.get("hint") else [])]
    return [shown(answer["message"]), *(f"  {shown(line)}" for line in more)]


def _options_for(names: Iterable[str]) -> list[str]:
    """How to give what is missing, as words to type."""
    options = {"input": "--input TEXT", "goal": "--goal TEXT", "message": "--input TEXT"}
    given = [options.get(name, f"--param {name}=TEXT") for name in names]
    return [f"give: {' '.join(given)}"] if given else []


def _details(answer: Refusal) -> list[str]:
    match answer["code"]:
        case "input_required" | "missing_field":  # a start by its name has a code of its own over HTTP
            return _options_for(answer.get("names", ()))
        case "file_has_errors":
            found = answer.get("findings", ())[1:]  # the message says the first
            lines = [f"{answer.get('path')}:{one['line']}: {one['code']}: {one['message']}" for one in found]
            return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"… and {len(lines) - SHOWN} more"]
        case _:
            return []
