"""URIs of any scheme and platform: one document has one key, however an editor spells its URI.

Answers always use the spelling of the client; keys are only for looking up. Windows drives compare
without case, and `c%3A` is `C:`; nothing else about a path is guessed.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from loop_ls.index.disk.uris import path_of, uri_of
from loop_ls.text.pattern import pattern

_UNESCAPED = "/:~!$&'()*+,;=@"

#: Schemes of editors for what is shown beside a file: its committed state, a side of a comparison, output. A
#: finding there would be told twice, and an edit would get lost.
_VIEWS = frozenset(
    {
        *("git", "gitfs", "gitlens", "gitlens-git", "hg", "svn", "scm-history-item", "vscode-scm"),
        *("vscode-local-history", "merge-conflict.conflict-diff", "review", "pr", "githubpr", "comment"),
        *("chat-editing-text-model", "chat-editing-snapshot-text-model", "vscode-chat-code-block"),
        *("output", "debug", "search-editor", "loop-ls-run", "fugitive", "gitsigns", "diffview", "octo", "oil"),
    }
)

_DRIVE = pattern(r"^(/?)([A-Za-z]):(?=/|$)")


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
    return uri if path in ("", uri) or not _can_be_a_file(path) else _lower_drive(path)


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


@lru_cache(maxsize=1024)
def plainly(uri: str) -> str:
    """One spelling for a document that is no file: escapes only where there must be some."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    try:
        path = quote(unquote(parts.path, errors="surrogateescape"), safe=_UNESCAPED, errors="surrogateescape")
    except UnicodeEncodeError:
        return uri
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, parts.query, parts.fragment)) if path else uri


def _can_be_a_file(path: str) -> bool:
    """No system has a file with a NUL or half a character in its name."""
    try:
        return b"\0" not in path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False


def is_unsaved(uri: str) -> bool:
    """Whether a document has no place yet. Every other one that is no file lies where nobody can look."""
    return uri.partition(":")[0].lower() == "untitled"


def is_view(uri: str) -> bool:
    """Whether a document is another state, or a rendering, of something else, which nobody edits."""
    return uri.partition(":")[0].lower() in _VIEWS


def _lower_drive(path: str) -> str:
    drive = _DRIVE.match(path)
    return path if drive is None else f"{drive[1]}{drive[2].lower()}{path[drive.end(2) :]}"
