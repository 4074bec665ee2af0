"""`loop-ls serve`: the language server. Standard output carries the protocol and nothing else."""

from __future__ import annotations

import argparse
import gc
import logging
import sys

HELP = "the language server (standard input and output)"

_LEVELS = ("error", "warning", "info", "debug")


def configure(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    where.add_argument("--tcp", type=_port, metavar="PORT", help="wait for one client on this port of 127.0.0.1")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", help="how much is logged (default: warning)")
    parser.add_argument("--log-file", metavar="FILE", help="log to a file instead of standard error")
    # Clients built on vscode-languageclient add this by themselves; the end of input says the same.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    # Nothing that is imported now will become garbage; the server turns collection on again.
    gc.disable()
    _log_to(args.log_file, args.log_level)
    from loop_ls.server.serve import serve_stdio, serve_tcp

    try:
        return serve_stdio() if args.tcp is None else serve_tcp(args.tcp)
    except OSError as error:
        print(f"loop-ls serve: cannot listen on port {args.tcp}: {error.strerror or error}", file=sys.stderr)
        return 2


def _log_to(file: str | None, level: str) -> None:
    handler = logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, "a", "utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is no port: a number from 0 to 65535")
    return port
