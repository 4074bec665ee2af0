"""URIs of any scheme and platform: one document has one key, however an editor spells its URI.

Answers always use the spelling of the client; keys are only for looking up. Windows drives compare
without case, and `c%3A` is `C:`; nothing else about a path is guessed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from loop_ls.index.uris import path_of, uri_of

_DRIVE = re.compile(r"^(/?)([A-Za-z]):(?=/|$)")


@lru_cache(maxsize=8192)
def key(uri: str) -> str:
    """The same text for every spelling of one URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = _lower_drive(unquote(parts.path, errors="surrogateescape"))
    # Joined by what no URI holds, since an unescaped path may hold `#` and `?`.
    return "\0".join((parts.scheme.lower(), unquote(parts.netloc).lower(), path, parts.query, parts.fragment))


@lru_cache(maxsize=8192)
def path_text(uri: str) -> str:
    """The path as the index has it; what is no file has its URI for a path."""
    try:
        path = path_of(uri)
    except ValueError:
        return uri
    return uri if path in ("", uri) or "\0" in path else _lower_drive(path)


def to_path(uri: str) -> Path | None:
    """The file of a `file:` URI. None for everything that is no file on this machine."""
    path = path_text(uri)
    return None if path == uri else Path(path)


def from_path(path: Path | str) -> str:
    return uri_of(path)


def real(uri: str) -> str:
    """The URI of the file behind all links."""
    path = to_path(uri)
    try:
        return uri if path is None else uri_of(path.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return uri


def _lower_drive(path: str) -> str:
    drive = _DRIVE.match(path)
    return path if drive is None else f"{drive[1]}{drive[2].lower()}{path[drive.end(2) :]}"
