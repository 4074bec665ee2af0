"""Codes that let a page of a browser in: each once, and soon.

A code travels behind the `#` of an address, which browsers keep to themselves, and the page gives it back for a token
of its own. Codes live in memory alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from loop_ls.engine.core.users import Person

CODE_SECONDS = 120
#: Codes that wait at the same time: the oldest make room.
MOST = 32


class Codes:
    """Who each code lets in, by the hash of the code, and until when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[bytes, tuple[Person, float]] = {}

    def make(self, person: Person) -> str:
        code = secrets.token_urlsafe(16)
        self._waiting[_hash(code)] = person, self._clock() + CODE_SECONDS
        while len(self._waiting) > MOST:
            del self._waiting[next(iter(self._waiting))]
        return code

    def take(self, code: str) -> Person | None:
        """Whom the code lets in; it is gone with that. None: it is unknown, used or too old."""
        given, found = _hash(code.strip()), None
        for known in list(self._waiting):
            if hmac.compare_digest(known, given):
                person, end = self._waiting.pop(known)
                found = person if self._clock() < end else None
        return found


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "replace")).digest()
