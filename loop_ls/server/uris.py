"""URIs of any scheme and platform: one document has one key, however an editor spells its URI.

Answers always use the spelling of the client; keys are only for looking up. Windows drives compare
without case, and `c%3A` is `C:`; nothing else about a path is guessed.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"^/([A-Za-z]):(?=/|$)")
#: What VS Code's own `Uri.toString` leaves unescaped in a path.
_SAFE = "/-._~"


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
def to_path(uri: str) -> Path | None:
    """The file of a `file:` URI. None for everything that is no file on this machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or not parts.path:
        return None
    text = unquote(parts.path, errors="surrogateescape")
    if "\0" in text:
        return None
    host = unquote(parts.netloc)
    if host and host.lower() != "localhost":
        return Path(f"//{host}{text}")
    if sys.platform == "win32":
        text = _lower_drive(text)
        return Path(text[1:] if _DRIVE.match(text) else text)
    return Path(text)


def from_path(path: Path | str) -> str:
    """The URI of a file, as editors write it: lower drive, colon of the drive escaped."""
    text = os.fspath(path)
    if sys.platform == "win32":
        text = text.replace("\\", "/")
    host = ""
    if text.startswith("//"):
        host, _, rest = text[2:].partition("/")
        text = "/" + rest
    if not text.startswith("/"):
        text = "/" + text
    return f"file://{host}{quote(_lower_drive(text), safe=_SAFE, errors='surrogateescape')}"


def scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()


def _lower_drive(path: str) -> str:
    drive = _DRIVE.match(path)
    return path if drive is None else f"/{drive[1].lower()}{path[2:]}"
