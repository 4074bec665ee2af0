"""One key that is written, and what of it is seen at the far end: beside it, the same file without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

PLACE = "<key>"


class Row(NamedTuple):
    """`text` is a file in which `<key>` holds the place of the key. With `written` there, `sees` gives `here`; with
    `instead` there (nothing, mostly), it gives `there`."""

    key: str
    text: str
    written: str
    sees: Callable[[Any], object]
    here: object
    there: object = None
    instead: str = ""

    @property
    def twins(self) -> tuple[tuple[str, object], tuple[str, object]]:
        """Both files, each with what is seen of it. Raises `AssertionError` for a row that could not fail."""
        assert self.key.rpartition(".")[2] in self.written, f"{self.key} is not written"
        assert self.text.count(PLACE) == 1
        assert self.here != self.there
        with_, without = (self.text.replace(PLACE, one) for one in (self.written, self.instead))
        return (with_, self.here), (without, self.there)


def named(rows: Iterable[Row]) -> list[Any]:
    """The rows as parameters of a test, called by their keys."""
    import pytest

    return [pytest.param(row, id=row.key) for row in rows]
