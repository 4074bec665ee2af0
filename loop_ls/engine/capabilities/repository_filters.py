"""What the own settings of a repository start for its files: filters, which Git runs when it writes or reads them.

A clone has none, but an archive with a `.git` in it may. Read here without Git, to be shown before a start; when a
worktree is made, Git is asked what it would start, and what was not shown is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from loop_ls.index.disk.projects import repository_of

#: As `git config --get-regexp` names them.
FILTERS = r"^filter\..*\.(clean|smudge|process)$"
_HEADER = re.compile(r'\s*\[\s*(?P<name>[A-Za-z0-9-]+)(?:\s+"(?:[^"\\]|\\.)*"|\.[A-Za-z0-9.-]+)?\s*\]')
_KEY = re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*=[^\S\n]*")
_STARTING = frozenset({"clean", "smudge", "process"})
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
#: Bytes of settings that are read.
_LONGEST = 1 << 20


def filters_of(root: str | Path) -> tuple[str, ...]:
    """Their commands, for the repository around a folder."""
    top = repository_of(root)
    if top is None:
        return ()
    found = {command for file in _settings(Path(top, ".git")) for command in _commands(file)}
    return tuple(sorted(found))


def _settings(git: Path) -> Iterator[Path]:
    """The files of settings that belong to a repository, and to a worktree of it."""
    own = git
    with suppress(OSError, UnicodeError):
        if git.is_file():
            own = git.parent / git.read_text("utf-8").strip().partition(": ")[2]
    common = own
    with suppress(OSError, UnicodeError):
        common = own / (own / "commondir").read_text("utf-8").strip()
    yield from dict.fromkeys((common / "config", common / "config.worktree", own / "config.worktree"))


def _commands(file: Path) -> Iterator[str]:
    try:
        with file.open("rb") as opened:
            text = opened.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return
    section, at = "", 0
    while at < len(text):
        if header := _HEADER.match(text, at):
            section, at = header["name"].lower(), header.end()
        elif key := _KEY.match(text, at):
            value, at = _value(text, key.end())
            if section == "filter" and key["key"].lower() in _STARTING and value:
                yield value
        else:  # a comment, a key without a value, or nothing that Git would read
            end = text.find("\n", at)
            at = len(text) if end < 0 else end + 1


def _value(text: str, at: int) -> tuple[str, int]:
    """A value as Git reads it, and where what follows it begins."""
    found, kept, quoted = "", "", False  # `kept`: blanks, which count only before something else
    while at < len(text):
        sign, at = text[at], at + 1
        if sign == "\n" and not quoted:
            break
        if sign in "#;" and not quoted:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif sign == "\\" and at < len(text):
            found, kept, escaped, at = found + kept, "", text[at], at + 1
            found += "" if escaped == "\n" else _ESCAPED.get(escaped, escaped)
        elif sign == '"':
            quoted = not quoted
        elif sign.isspace() and not quoted:
            kept += sign
        else:
            found, kept = found + kept + sign, ""
    return found, at
