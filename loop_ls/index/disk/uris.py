"""Paths and `file:` URIs. Paths are text with `/` on every system; only this module converts."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from loop_ls.text.pattern import pattern

_DRIVE = pattern(r"/[A-Za-z]:(?=/|$)")


def path_of(uri: str) -> str:
    """The absolute path behind a `file:` URI; any other URI is its own path (unsaved documents)."""
    if not uri.startswith("file:"):
        return uri
    parts = urlsplit(uri)
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc and parts.netloc != "localhost":
        return f"//{parts.netloc}{path}"
    return path[1:] if _DRIVE.match(path) else path


def uri_of(path: str | os.PathLike[str]) -> str:
    """The `file:` URI of an absolute path."""
    text = os.fspath(path).replace(os.sep, "/")
    return "file://" + quote(
        text if text.startswith("/") else f"/{text}", safe="/:~!$&'()*+,;=@", errors="surrogateescape"
    )


def folder_of(path: str) -> str:
    return str(PurePosixPath(path).parent)


def stem_of(path: str) -> str:
    """The name of a file without its suffix."""
    name = path.rstrip("/").rpartition("/")[2]
    dot = name.rfind(".")
    return name[:dot] if 0 < dot < len(name) - 1 else name
