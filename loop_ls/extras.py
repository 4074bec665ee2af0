"""The parts of the product that are installed on demand: which extra brings which package, and how to say so."""

from __future__ import annotations

import importlib.util

#: package -> the extra that brings it
EXTRAS = {
    "dbos": "workers",
    "psycopg": "postgres",
    "mcp": "mcp",
    "xllamacpp": "local",
    "keyring": "keyring",
    "opentelemetry": "otel",
    "pydantic_ai": "pydantic-ai",
}


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def install_command(package: str) -> str:
    return f'pip install "loop-ls[{EXTRAS[package]}]"'


def missing(what: str, package: str) -> str:
    """One sentence: what needs the package, and the command that adds it."""
    return f"{what} needs the package `{package}`, which is not installed: {install_command(package)}"
