"""Who may do what: people with tokens, kept by their hashes in the data folder.

A page of a browser has a token of its own, of whoever let it in and with no more than their role, for a day.

Whoever holds the token of the hand-over file is the owner, with the role of an editor. A token is a
random number of 256 bits, so one round of a hash is enough; what is taken away is gone at once, because
the file is looked at for every request.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from loop_ls.contract.operations import ROLES, Role
from loop_ls.contract.private_file import write_private
from loop_ls.text.record import equal_record

FILE_NAME = "tokens.json"
LOCK_NAME = "tokens.lock"
OWNER = "owner"

#: How long a page of a browser stays signed in.
PAGE_SECONDS = 24 * 3600
#: Pages of one user that are signed in at the same time: the oldest make room.
MOST_PAGES = 32

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class TokenRefused(Exception):
    """One sentence for a person."""


@equal_record
class Person:
    """`user` is what runs keep of whoever started them; None: the owner."""

    user: str | None
    role: Role
    #: It is a page of a browser that asks: the person reads it, but another program shows it.
    page: bool = False
    #: The id of the token that says so; None: it is that of the hand-over file.
    token: str | None = None

    @property
    def is_owner(self) -> bool:
        return self.user is None

    def has(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def controls(self, user: str | None) -> bool:
        """Whether runs of `user` are this person's to control."""
        return self.role == "admin" or (self.role == "editor" and self.user == user)


@equal_record
class Token:
    """One token of a user as it is kept: never the token itself. `user` None: the owner's, which only a page of a
    browser has besides the one of the hand-over file. `expires_at` is the end of a page's token, and `let_in_by` the id
    of the token with which that page was let in, if it was not the one of the hand-over file."""

    id: str
    user: str | None
    role: Role
    hash: str
    created_at: int
    expires_at: int | None = None
    let_in_by: str | None = None

    @property
    def name(self) -> str:
        return self.user or OWNER

    @property
    def is_page(self) -> bool:
        return self.expires_at is not None

    def holds(self) -> bool:
        return self.expires_at is None or time.time() < self.expires_at


class Tokens:
    """The tokens of one data folder besides the owner's."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / FILE_NAME
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[Token, ...] = ()

    def who(self, token: str) -> Person | None:
        """Every hash is compared, in constant time each: how long it takes says nothing."""
        given, found = _hash(token), None
        for each in self.all():
            if hmac.compare_digest(each.hash, given) and each.holds():
                found = Person(each.user, each.role, each.is_page, each.id)
        return found

    def all(self) -> tuple[Token, ...]:
        try:
            status = self._path.stat()
        except OSError:
            self._seen, self._known = None, ()
            return ()
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._seen:
            self._known, self._seen = _read(self._path), stamp
        return self._known

    def create(self, user: str, role: str) -> tuple[Token, str]:
        """A further token; its text is said once and never again. Raises `TokenRefused`."""
        if not _NAME.fullmatch(user) or user == OWNER:
            raise TokenRefused(f"Invalid user name `{user}`: use letters, digits and any of `._@-`, but not `{OWNER}`.")
        if role not in ROLES:
            raise TokenRefused(f"Unknown role `{role}`; expected {', '.join(ROLES)}.")
        return self._made(user, role)

    def create_for_page(self, person: Person) -> tuple[Token, str]:
        """A token for a page of a browser that this person has let in. Raises `TokenRefused` where the token of this
        person was taken away since."""
        return self._made(person.user, person.role, round(time.time()) + PAGE_SECONDS, person.token)

    def _made(
        self, user: str | None, role: Role, expires_at: int | None = None, let_in_by: str | None = None
    ) -> tuple[Token, str]:
        text = secrets.token_urlsafe(32)
        with self._changing() as tokens:
            held = [each for each in tokens if each.holds()]
            if let_in_by is not None and not any(each.id == let_in_by for each in held):
                raise TokenRefused("The token that let this page in was revoked.")
            if expires_at is not None:
                pages = [each for each in held if each.is_page and each.user == user]
                held = [each for each in held if each not in pages[: max(0, len(pages) + 1 - MOST_PAGES)]]
            made = Token(secrets.token_hex(4), user, role, _hash(text), round(time.time()), expires_at, let_in_by)
            tokens[:] = [*held, made]
        return made, text

    def forget(self, token: str) -> None:
        """Take away this token: whoever holds it signs out."""
        given = _hash(token)
        with self._changing() as tokens:
            tokens[:] = [each for each in tokens if not hmac.compare_digest(each.hash, given)]

    def revoke(self, word: str) -> list[Token]:
        """Take away the token with this id, or all tokens of this user, with the pages that they have let in. Raises
        `TokenRefused`."""
        with self._changing() as tokens:
            gone = [each for each in tokens if word in (each.id, each.name, each.let_in_by)]
            tokens[:] = [each for each in tokens if each not in gone]
        if not gone:
            raise TokenRefused(f"Unknown token or user `{word}`.")
        return gone

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Read, change, write, one after the other even if two commands do it at once."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(self._folder / LOCK_NAME):
            tokens = list(_read(self._path) if self._path.exists() else ())
            yield tokens
            write_private(self._path, [asdict(each) for each in tokens])


def _read(path: Path) -> tuple[Token, ...]:
    """Entries that are no tokens let nobody in."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return tuple(Token(**each) for each in found if each.get("role") in ROLES and isinstance(each["hash"], str))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.name != "nt":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
