"""The last answer of semantic tokens for each open document, so that the next one can be a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loop_ls.server.documents.session import Session


class TokenResults:
    """By the key of a document: the id that the client knows the answer by, and its numbers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: dict[str, tuple[str, list[int]]] = {}
        self._number = 0

    def keep(self, key: str, data: list[int]) -> str:
        self._number += 1
        name = str(self._number)
        for gone in self._last.keys() - self._session.open.keys():
            del self._last[gone]
        self._last[key] = (name, data)
        return name

    def before(self, key: str, name: object) -> list[int] | None:
        known = self._last.get(key)
        return known[1] if known is not None and known[0] == name else None
