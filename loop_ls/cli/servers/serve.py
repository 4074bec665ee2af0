"""`loop-ls serve`: the language server. Standard output carries the protocol and nothing else."""

from __future__ import annotations

import gc
import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "start the language server (standard input and output)"

_LEVELS = ("error", "warning", "info", "debug")


def configure(parser: argparse.ArgumentParser) -> None:
    from argparse import SUPPRESS

    where = parser.add_mutually_exclusive_group()
    where.add_argument("--stdio", action="store_true", help="Use standard input and output (default)")
    where.add_argument("--tcp", type=_port, metavar="PORT", help="Wait for one client on this port of 127.0.0.1")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", help="Log level (default: warning)")
    parser.add_argument("--log-file", metavar="FILE", help="Log to a file instead of standard error")
    # Clients built on vscode-languageclient add this by themselves; the end of input says the same.
    parser.add_argument("--clientProcessId", type=int, help=SUPPRESS)


def run(args: argparse.Namespace) -> int:
    return serve(args.tcp, args.log_level, args.log_file)


def serve(tcp: int | None = None, log_level: str = "warning", log_file: str | None = None) -> int:
    # Nothing that is imported now will become garbage; the server turns collection on again.
    gc.disable()
    try:
        _log_to(log_file, log_level)
    except OSError as error:
        print(f"loop-ls serve: cannot log to {log_file}: {error.strerror or error}", file=sys.stderr)
        return 2
    _import_asyncio()
    from loop_ls.server.rpc.lean_import import import_lean

    import_lean()
    from loop_ls.server.serve import serve_stdio, serve_tcp

    try:
        return serve_stdio() if tcp is None else serve_tcp(tcp)
    except OSError as error:
        print(f"loop-ls serve: cannot listen on port {tcp}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # somebody tried it in a terminal
        return 130


def _import_asyncio() -> None:
    """As on a Python without OpenSSL: loading that takes as long as the rest of asyncio, and this server
    talks to pipes and to its own machine. Whoever imports `ssl` later has it."""
    if "ssl" in sys.modules or "asyncio" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


def _log_to(file: str | None, level: str) -> None:
    handler = logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, "a", "utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port <= 65535:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"`{text}` is not a port: use a number from 0 to 65535")
    return port
