"""A mapping whose values are made when they are first asked for: an engine imports what its runs need, no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class OnDemand(Mapping[str, T], Generic[T]):
    """`makers` by key. From any thread; two that ask at once may make a value twice, and get the same one."""

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers, self._made = makers, dict[str, T]()

    def __getitem__(self, key: str) -> T:
        if key not in self._made:
            self._made.setdefault(key, self._makers[key]())
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
