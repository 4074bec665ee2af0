"""Whether the journal on the disk is all of it: a part that somebody took away must not pass for an empty one.

After a crash the log holds what was not copied into the database yet, maybe everything. SQLite takes a journal
without its log, or a log without its journal, for a new beginning; the mark beside them says that it is none. It
holds how the database looked when it was last written to: another program that opens and closes a journal after
a crash copies the log into it, and nothing is missing then.
"""

from __future__ import annotations

from pathlib import Path

from loop_ls.engine.journal.refusal import JournalRefused

#: Where SQLite says in its header that there is a log, and how; the size of the header of a log.
_MODE, _WITH_LOG, _LOG_HEADER = 18, 2, 32


class Whole:
    """`mark` when it is open and whenever the log may have been copied, `end` when it was closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(path.name + "-wal")
        self._mark = path.with_name(path.name + "-open")
        self._marked = ""

    def check(self) -> None:
        """Raises `JournalRefused`. Touches nothing."""
        logged = _size(self._log) > _LOG_HEADER
        if logged and not _size(self._path):
            name = self._path.name
            raise _damaged(
                f"{self._log.name} is there, and {name} is not", f"restore {name}, or move the log away, too"
            )
        if not logged and self._has_log() and self._mark.exists() and self._mark.read_bytes() == self._look().encode():
            raise _damaged(
                f"{self._log.name} is gone, with all that was not in {self._path.name} yet",
                f"restore it, or delete {self._mark.name} to go on without what it held",
            )

    def mark(self) -> None:
        if (look := self._look()) != self._marked:
            self._mark.touch(0o600, exist_ok=True)
            self._mark.write_text(look, "utf-8")
            self._marked = look

    def _look(self) -> str:
        found = self._path.stat()
        return f"{found.st_size} {found.st_mtime_ns}"

    def end(self) -> None:
        """What is in the log still is needed after a clean end, too."""
        if not self._log.exists():
            self._mark.unlink(missing_ok=True)

    def _has_log(self) -> bool:
        if not self._path.is_file():
            return False
        with self._path.open("rb") as file:
            return file.read(_MODE + 1)[_MODE:] == bytes([_WITH_LOG])


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _damaged(what: str, way_out: str) -> JournalRefused:
    return JournalRefused("damaged", f"The journal is damaged: {what}.", f"{way_out[:1].upper()}{way_out[1:]}.")
