"""The names of one file: where each is defined, and which elements mention it.

Elements are meant by numbers that stay while their text is edited, so that typing in a prompt
changes nothing here. What does change is copied; the rest is shared between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from loop_ls.index.element import Definition, Element
from loop_ls.text.record import record

Numbers = tuple[int, ...]


class Owner(NamedTuple):
    """Which element defines a name, and as what."""

    number: int
    kind: Literal["step", "loop", "accumulate"]


@record
class Names:
    """`defined`: every step, loop and accumulated output, in document order. `mentions`: the
    elements whose meaning depends on a name, in no order."""

    defined: dict[str, tuple[Owner, ...]]
    mentions: dict[str, Numbers]

    @classmethod
    def of(cls, elements: Sequence[Element], numbers: Numbers) -> Names:
        defined: dict[str, tuple[Owner, ...]] = {}
        mentions: dict[str, list[int]] = {}
        for number, element in zip(numbers, elements, strict=True):
            for name, kind in _defined_by(element):
                defined[name] = (*defined.get(name, ()), Owner(number, kind))
            for name in element.mentioned:
                mentions.setdefault(name, []).append(number)
        return cls(defined, {name: tuple(found) for name, found in mentions.items()})

    def replaced(
        self,
        old: Sequence[tuple[int, Element]],
        new: Sequence[tuple[int, Element]],
        place: Callable[[int], int],
    ) -> Names:
        """After an edit that made the numbered elements `new` of `old`. `place` is the new order."""
        before = {(name, number, kind) for number, element in old for name, kind in _defined_by(element)}
        after = {(name, number, kind) for number, element in new for name, kind in _defined_by(element)}
        told = {(name, number) for number, element in old for name in element.mentioned}
        tell = {(name, number) for number, element in new for name in element.mentioned}
        defined, mentions = self.defined, self.mentions
        if before != after:
            defined = _redefined(defined, before, after, place)
        if told != tell:
            mentions = _retold(mentions, told - tell, tell - told)
        return self if defined is self.defined and mentions is self.mentions else Names(defined, mentions)


_Defined = set[tuple[str, int, Literal["step", "loop", "accumulate"]]]


def _redefined(
    known: dict[str, tuple[Owner, ...]], before: _Defined, after: _Defined, place: Callable[[int], int]
) -> dict[str, tuple[Owner, ...]]:
    table = known.copy()
    for name, number, kind in before - after:
        left = tuple(owner for owner in table[name] if owner != (number, kind))
        if left:
            table[name] = left
        else:
            del table[name]
    for name, number, kind in after - before:
        table[name] = (*table.get(name, ()), Owner(number, kind))
    for name, _, _ in after - before:
        if len(table[name]) > 1:
            table[name] = tuple(
                sorted(table[name], key=lambda owner: (place(owner.number), owner.kind == "accumulate"))
            )
    return table


def _retold(known: dict[str, Numbers], gone: set[tuple[str, int]], come: set[tuple[str, int]]) -> dict[str, Numbers]:
    table = known.copy()
    for name, number in gone:
        found = table[name]
        at = found.index(number)
        left = found[:at] + found[at + 1 :]
        if left:
            table[name] = left
        else:
            del table[name]
    for name, number in come:
        table[name] = (*table.get(name, ()), number)
    return table


def _defined_by(element: Element) -> Iterator[tuple[str, Literal["step", "loop", "accumulate"]]]:
    if element.name_span is not None:
        yield element.name, element.kind
    if element.accumulate is not None:
        yield element.accumulate.text, "accumulate"


def definitions(element: Element) -> Iterator[Definition]:
    """What an element defines: its name, and the variable with all outputs of its loop."""
    if element.name_span is not None:
        yield Definition(element.name, element.kind, element, element.name_span)
    if element.accumulate is not None:
        yield Definition(element.accumulate.text, "accumulate", element, element.accumulate.span)


class NameTable(Mapping[str, tuple[Definition, ...]]):
    """The definitions of one version of a document by name."""

    __slots__ = ("_defined", "_element")

    def __init__(self, defined: dict[str, tuple[Owner, ...]], element: Callable[[int], Element]) -> None:
        self._defined, self._element = defined, element

    def __getitem__(self, name: str) -> tuple[Definition, ...]:
        found = [(self._element(owner.number), owner.kind) for owner in self._defined[name]]
        return tuple(one for element, kind in found for one in definitions(element) if one.kind == kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self._defined)

    def __len__(self) -> int:
        return len(self._defined)

    def __contains__(self, name: object) -> bool:
        return name in self._defined

    def is_of_element(self, name: str) -> bool:
        """Whether a step or loop has this name, and not only collected outputs. Looks at no element."""
        return any(owner.kind != "accumulate" for owner in self._defined.get(name, ()))


class MentionTable(Mapping[str, tuple[Element, ...]]):
    """The elements of one version of a document that depend on a name, in no order."""

    __slots__ = ("_element", "_mentions")

    def __init__(self, mentions: dict[str, Numbers], element: Callable[[int], Element]) -> None:
        self._mentions, self._element = mentions, element

    def __getitem__(self, name: str) -> tuple[Element, ...]:
        return tuple(map(self._element, self._mentions[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._mentions)

    def __len__(self) -> int:
        return len(self._mentions)

    def __contains__(self, name: object) -> bool:
        return name in self._mentions
