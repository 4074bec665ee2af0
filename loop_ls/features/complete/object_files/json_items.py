"""Completion items for JSON: keys with their values, values, whole objects; quotes and commas come along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from loop_ls.features.answers import About, Item, ItemKind
from loop_ls.features.complete.quoting import literal
from loop_ls.features.complete.render import without_stops
from loop_ls.features.docs.key import short
from loop_ls.features.lookup.json_cursor import JsonSpot
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.scalars import floating
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Span


def keys(shape: Shape, spot: JsonSpot, values: dict[str, tuple[tuple[str, str], ...]] | None = None) -> Iterator[Item]:
    """The keys of `shape` that are not written, required ones first. `values`: what to write behind some
    keys, as label and text with tab stops."""
    absent = [key for key in shape.keys.values() if key.name not in spot.written]
    for place, key in enumerate(sorted(absent, key=lambda key: (key.idle, not key.required))):
        yield from _key(shape, key, spot, place, (values or {}).get(key.name))


def _key(
    shape: Shape, key: Key, spot: JsonSpot, place: int, given: tuple[tuple[str, str], ...] | None
) -> Iterator[Item]:
    about: About = ("key", shape.name, key.name)
    name = json.dumps(key.name)
    if spot.colon:
        yield item(key.name, ItemKind.KEY, name, spot, short(key), f"{place:03}", about)
        return
    again = bool(key.choices or key.offers or key.type is Type.BLOCK)
    for number, (label, value) in enumerate(given or ((key.name, _value(key)),)):
        text = f"{literal(name)}: {value}" + ("," if spot.more else "")
        yield item(label, ItemKind.KEY, text, spot, short(key), f"{place:03}{number}", about, key.name, again=again)


def _value(key: Key) -> str:
    match key.type:
        case Type.INTEGER | Type.NUMBER:
            fits = key.default is not None and floating(key.default) is not None
            return f"${{0:{key.default if fits else 1}}}"
        case Type.BOOLEAN:
            return f"${{0:{'true' if key.default == 'false' else 'false'}}}"
        case Type.TEXTS:
            return '["$0"]'
        case Type.BLOCKS:
            return "[{$0}]"
        case Type.BLOCK | Type.ARGUMENTS:
            return "{$0}"
        case _:
            return '"$0"'


def texts(words: Iterable[tuple[str, str]], spot: JsonSpot, kind: ItemKind = ItemKind.VALUE) -> Iterator[Item]:
    """Texts as values, each with a detail."""
    for place, (word, detail) in enumerate(words):
        yield item(word, kind, literal(json.dumps(word)), spot, detail, f"{place:03}")


def bare(words: Iterable[tuple[str, str]], spot: JsonSpot) -> Iterator[Item]:
    """Numbers and truth values."""
    for place, (word, detail) in enumerate(words):
        yield item(word, ItemKind.VALUE, word, spot, detail, f"{place:03}")


def values(key: Key, spot: JsonSpot) -> Iterator[Item]:
    """The values that a key knows."""
    if key.choices:
        yield from texts(((word, "default" if word == key.default else "") for word in key.choices), spot)
    elif key.type is Type.BOOLEAN:
        default = key.default or "false"
        other = "true" if default == "false" else "false"
        yield from bare(((default, "default"), (other, "")), spot)
    elif key.type in (Type.INTEGER, Type.NUMBER) and key.default is not None and floating(key.default) is not None:
        yield from bare(((key.default, "default"),), spot)


def whole(label: str, text: str, detail: str, spot: JsonSpot, place: int) -> Item:
    """A whole object with tab stops."""
    shown = without_stops(text)
    written = text + ("," if spot.more else "")
    return item(label, ItemKind.SNIPPET, written, spot, detail, f"{place:02}", ("snippet json", shown))


def item(
    label: str,
    kind: ItemKind,
    snippet: str,
    spot: JsonSpot,
    detail: str = "",
    sort: str = "",
    about: About = (),
    word: str | None = None,
    again: bool = False,
) -> Item:
    """`snippet` is the text with tab stops. What is typed with a quote is compared with one."""
    plain = without_stops(snippet)
    comma = () if spot.comma is None else (TextEdit(Span(spot.comma, spot.comma), ","),)
    typed = word or label
    return Item(
        label,
        kind,
        plain,
        snippet if snippet != plain else None,
        detail,
        sort,
        filter=json.dumps(typed) if spot.quoted else typed,
        again=again,
        more=comma,
        about=about,
    )
