"""The names of one file: where each is defined, and which elements mention it.

Two dictionaries that an edit copies; what does not change in them is shared between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from loop_ls.index.element import Definition, Element

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """`defined`: every step, loop and accumulated output, in document order. `mentions`: the
    elements whose meaning depends on a name, in no order."""

    defined: dict[str, tuple[Definition, ...]]
    mentions: dict[str, tuple[Element, ...]]

    @classmethod
    def of(cls, elements: Sequence[Element]) -> Names:
        defined: dict[str, tuple[Definition, ...]] = {}
        mentions: dict[str, list[Element]] = {}
        for element in elements:
            for definition in definitions(element):
                defined[definition.name] = (*defined.get(definition.name, ()), definition)
            for name in element.mentioned:
                mentions.setdefault(name, []).append(element)
        return cls(defined, {name: tuple(found) for name, found in mentions.items()})

    def replaced(self, old: Sequence[Element], new: Sequence[Element], position: Callable[[Element], int]) -> Names:
        """After an edit that made the elements `new` of the elements `old`."""
        return Names(self._defined(old, new, position), self._mentions(old, new))

    def _defined(
        self, old: Sequence[Element], new: Sequence[Element], position: Callable[[Element], int]
    ) -> dict[str, tuple[Definition, ...]]:
        table = self.defined.copy()
        gone = set(old)
        for element in old:
            for definition in definitions(element):
                _put(table, definition.name, tuple(d for d in table.get(definition.name, ()) if d.element not in gone))
        for element in new:
            for definition in definitions(element):
                found = (*table.get(definition.name, ()), definition)
                if len(found) > 1:
                    found = tuple(sorted(found, key=lambda d: position(d.element)))
                table[definition.name] = found
        return table

    def _mentions(self, old: Sequence[Element], new: Sequence[Element]) -> dict[str, tuple[Element, ...]]:
        table = self.mentions.copy()
        if len(old) == len(new) == 1:
            before, after = old[0], new[0]
            for name in before.mentioned & after.mentioned:
                table[name] = _exchanged(table[name], before, after)
            _leave(table, before, before.mentioned - after.mentioned)
            _join(table, after, after.mentioned - before.mentioned)
            return table
        for element in old:
            _leave(table, element, element.mentioned)
        for element in new:
            _join(table, element, element.mentioned)
        return table


def definitions(element: Element) -> Iterator[Definition]:
    """What an element defines: its name, and the variable with all outputs of its loop."""
    if element.name and element.name_span is not None:
        yield Definition(element.name, element.kind, element, element.name_span)
    if element.accumulate is not None:
        yield Definition(element.accumulate.text, "accumulate", element, element.accumulate.span)


def _exchanged(found: tuple[Element, ...], old: Element, new: Element) -> tuple[Element, ...]:
    at = found.index(old)
    return (*found[:at], new, *found[at + 1 :])


def _leave(table: dict[str, tuple[Element, ...]], element: Element, names: frozenset[str]) -> None:
    for name in names:
        found = table[name]
        at = found.index(element)
        _put(table, name, found[:at] + found[at + 1 :])


def _join(table: dict[str, tuple[Element, ...]], element: Element, names: frozenset[str]) -> None:
    for name in names:
        table[name] = (*table.get(name, ()), element)


def _put(table: dict[str, tuple[T, ...]], name: str, found: tuple[T, ...]) -> None:
    if found:
        table[name] = found
    else:
        table.pop(name, None)
