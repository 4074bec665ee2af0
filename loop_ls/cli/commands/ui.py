"""`loop-ls ui`: lets a browser in to the engine's page, and opens it.

The code that lets it in is good for one use and two minutes. It is in no command line: a browser is started with a
file that only its user can read and that leads on to the page.
"""

from __future__ import annotations

import argparse
import html
import os
import sys
import webbrowser
from pathlib import Path

from loop_ls.cli.arguments import print_json
from loop_ls.cli.commands.engine import port
from loop_ls.cli.engine.connect import add_place, data_folder_of, engine_for, refuse, root_of, settled
from loop_ls.client.refusal import refusal
from loop_ls.contract.operations import ROLES
from loop_ls.index.disk.projects import engine_home

HELP = "open the page with all runs in a browser"

FILE_NAME = "page.html"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="Only print the link, for another machine")
    parser.add_argument(
        "--role",
        choices=ROLES,
        metavar="ROLE",
        help="Role of the page: viewer, editor or admin, at most your own (default: your own)",
    )
    parser.add_argument("--port", type=port, metavar="PORT", help="Port of the engine, if this command starts it")
    parser.add_argument("--json", action="store_true", help="Print one JSON object and open nothing")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    return settled(lambda: _open(args), args.json)


async def _open(args: argparse.Namespace) -> int:
    if args.port is not None and (taken := await _other_port(args)):
        told = f"The engine is already running on port {taken}."
        return refuse(refusal("wrong_status", told, "Stop it first: `loop-ls engine stop`."), args.json)
    async with await engine_for(args) as engine:
        answer = await engine.page_code(args.role)
        if not answer["ok"]:
            return refuse(answer, args.json)
        page = f"{engine.handover.url}{answer['path']}"
        folder = engine.folder
    if args.json:
        return print_json({"ok": True, "url": page, "expiresInSeconds": answer["expiresInSeconds"]})
    minutes = answer["expiresInSeconds"] // 60
    opened = not args.no_browser and _has_browser() and _opened(folder, page)
    print("The page is open in your browser. If it is not, open this:" if opened else "Open this in a browser:")
    print(f"  {page}")
    print(f"The link works once, within {minutes} minutes.")
    return 0


async def _other_port(args: argparse.Namespace) -> int:
    """The port of the engine that runs already, where it is not the wanted one; starts one where there is none. 0: it
    is the wanted one."""
    from loop_ls.client.launch import living, start

    root = engine_home(root_of(args.root))
    folder = data_folder_of(args.data_dir, root)
    found = await living(folder) or await start(folder, root, more=["--port", str(args.port)])
    return 0 if found.port == args.port or not args.port else found.port


def _has_browser() -> bool:
    """Whether one can open here: not over SSH, and on Linux only beside a display. A browser of a terminal would take
    the terminal."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return not sys.platform.startswith("linux") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    )


def _opened(folder: Path, page: str) -> bool:
    try:
        path = _leading_to(folder, page)
        return webbrowser.open(path.as_uri())
    except (OSError, webbrowser.Error):
        return False


def _leading_to(folder: Path, page: str) -> Path:
    """A file that only its owner reads: other users see command lines. Raises `OSError`."""
    path, new = folder / FILE_NAME, folder / f"{FILE_NAME}.new"
    new.touch(0o600, exist_ok=True)
    new.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={html.escape(page)}"><title>loop-ls</title>\n',
        "utf-8",
    )
    new.replace(path)
    return path
