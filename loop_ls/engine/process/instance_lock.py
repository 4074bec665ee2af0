"""One engine for one data folder: the lock, and the file that tells others how to reach it.

The lock is the operating system's, so it ends with the process whatever ends it; the file may be
left behind by a crash, which readers notice because nobody answers as it says.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from loop_ls import __version__
from loop_ls.text.record import equal_record

#: Version of the HTTP interface; readers compare it with their own.
PROTOCOL = 1
FILE_NAME = "engine.json"
LOCK_NAME = "engine.lock"


class FolderRefused(Exception):
    """The data folder cannot be used. One sentence, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class FolderTaken(FolderRefused):
    """Another engine has the folder."""


@equal_record
class Handover:
    port: int
    token: str
    pid: int
    version: str = __version__
    protocol: int = PROTOCOL


def fingerprint(token: str) -> str:
    """What may be shown of a token to those who have it."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def make_private(folder: Path) -> None:
    """Make it for its owner alone, and so the folder of ours around it: names of projects are nobody else's business.
    Raises `OSError`."""
    around = folder.parent
    if around.name == "loop-ls":
        around.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name != "nt" and around.stat().st_uid == os.getuid() and around.stat().st_mode & 0o077:
            around.chmod(0o700)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


class DataFolder:
    """A data folder that is ours until `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def take(self, patience: float = 0.0) -> None:
        """Make the folder (only for its owner) and lock it; one that is being left is waited for as
        long as `patience` says. Raises `FolderRefused`."""
        try:
            make_private(self.path)
            handle = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise FolderRefused(
                f"The data folder {self.path} cannot be written: {error.strerror or error}.",
                "Choose another folder with the setting `engine.dataDir` or the variable LOOP_LS_DATA_DIR.",
            ) from None
        deadline = time.monotonic() + patience
        while not (ours := _locked(handle)) and time.monotonic() < deadline and not self._handed_over():
            time.sleep(0.05)
        if not ours:
            os.close(handle)
            raise FolderTaken(
                f"Another engine is using the data folder {self.path}.",
                "Use that one (`loop-ls engine status`), or stop it with `loop-ls engine stop`.",
            )
        self._lock = handle

    def hand_over(self, handover: Handover) -> None:
        """Write the file at once and whole, readable by its owner alone."""
        text = json.dumps(asdict(handover))
        handle, name = tempfile.mkstemp(dir=self.path, prefix=".engine-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(self.path / FILE_NAME)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def _handed_over(self) -> bool:
        return (self.path / FILE_NAME).exists()

    def forget(self) -> None:
        """Take the file away: whoever looks sees no engine, and one that starts waits for the lock."""
        (self.path / FILE_NAME).unlink(missing_ok=True)

    def release(self) -> None:
        if self._lock is not None:
            self.forget()
            os.close(self._lock)
            self._lock = None


def _locked(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
