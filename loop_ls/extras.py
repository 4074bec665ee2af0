"""The parts of the product that are installed on demand: which extra brings which package, and how to say so."""

from __future__ import annotations

import importlib.util

#: Package -> the extra that brings it, and what it is for.
EXTRAS = {
    "mcp": ("mcp", "tools of MCP servers, `loop-ls mcp`, the read-only shell of agent programs"),
    "dbos": ("workers", "runs that several hosts share in PostgreSQL"),
    "psycopg": ("postgres", "stores of `rag` steps in PostgreSQL"),
    "keyring": ("keyring", "keys in the keyring of the operating system"),
    "pydantic_ai": ("pydantic-ai", "providers of kind `pydantic-ai`"),
    "opentelemetry.sdk": ("otel", "traces to an OpenTelemetry collector"),
    "xllamacpp": ("local", "the embedded model"),
}


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def install_command(package: str) -> str:
    return f'pip install "loop-ls[{EXTRAS[package][0]}]"'


def missing(what: str, package: str) -> str:
    """One sentence: what needs the package, and the command that adds it."""
    return f"{what} needs the package `{package}`, which is not installed: {install_command(package)}"
