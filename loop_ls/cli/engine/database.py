"""Which database several engines share: the option, else the environment, else the project's own setting.

A cloned project may not send what is run in it to a stranger's server: its setting counts only where it
names a server of this machine.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from urllib.parse import parse_qs

VARIABLE = "LOOP_LS_DATABASE_URL"
_SCHEMES = ("postgresql://", "postgres://")
HERE = frozenset({"", "localhost", "127.0.0.1", "::1"})
#: An address that all readers take for the same: one user, one host, one path.
_PLAIN = re.compile(r"postgres(?:ql)?://(?:[^@/?#,\s\\]*@)?[^@/?#,\s\\]*(?:/[^@/?#,\s\\]*)?(?:\?[^@?#,\s\\]*)?")
#: What of an address leads to a server: hosts by name and by number, and an entry of a file of the user.
_LEADS_TO = ("host", "hostaddr", "service", "servicefile")


class DatabaseRefused(Exception):
    """One sentence, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help=f"Share runs with other engines: postgresql://... (default: {VARIABLE}, else SQLite in the data folder)",
    )


def database_of(given: str | None, root: Path | None) -> str | None:
    """None: SQLite in the data folder. Raises `DatabaseRefused`."""
    url = given or os.environ.get(VARIABLE, "").strip() or None
    if url is None and root is not None:
        from loop_ls.index.disk.discovery import load_settings

        url = load_settings(str(root))[0].engine.database_url
        if url is not None and not _on_this_machine(url):
            raise DatabaseRefused(
                "The project's `engine.databaseUrl` names a server on another machine.",
                f"To use it, pass `--database-url` or set {VARIABLE}.",
            )
    if url is not None and not url.startswith(_SCHEMES):
        raise DatabaseRefused("Not a PostgreSQL URL.", "Use the form postgresql://user@host/name.")
    return url


def _on_this_machine(url: str) -> bool:
    """For everybody who connects, and for whoever reads it in another way than they do: what one reader takes for the
    name of a user is the host of another."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    if not _PLAIN.fullmatch(url):
        return False
    try:
        found = conninfo_to_dict(url)
    except (ProgrammingError, ValueError):
        return False
    repeated = parse_qs(url.partition("?")[2])
    named = [value for name in _LEADS_TO for value in (str(found.get(name) or ""), *repeated.get(name, []))]
    return all(host in HERE or host.startswith("/") for each in named for host in each.split(","))
