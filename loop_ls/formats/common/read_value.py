"""Nodes to typed values: what stands behind a key, and what is wrong with it (WF007, WF008).

Every reader answers `(value, faults)` and never raises: a faulty value is None, its faults say why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loop_ls.formats.common import scalars
from loop_ls.formats.common.duration import parse_duration
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.typed_mapping import (
    Block,
    Fault,
    Field,
    Named,
    Pair,
    PlacedText,
    Repeated,
    Unknown,
    Value,
    unknown_key,
)
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence, resolved

_Read = tuple[Value, tuple[Fault, ...]]
_NOTHING: tuple[Fault, ...] = ()
_new = tuple.__new__


def read_block(shape: Shape, node: Mapping) -> Block:
    """Every entry of `node` read against `shape`; of a repeated key the first counts."""
    keys = shape.keys
    fields: dict[str, Field] = {}
    unknown: dict[str, Unknown] = {}
    repeated: list[Repeated] = []
    inner: list[Block] = []
    for entry in node.entries:
        name = entry.key.text
        known = fields.get(name) or unknown.get(name)
        if known is not None:
            if not entry.merged:
                repeated.append(Repeated(entry, known.entry))
            continue
        key = keys.get(name)
        if key is None:
            unknown[name] = unknown_key(shape, entry)
        else:
            field = fields[name] = read_field(key, entry)
            if key.shape is not None:
                inner += _blocks_in(field)
    if unknown and shape.closed:
        for one in unknown.values():
            key = keys.get(one.likely or "")
            if key is not None and key.name not in fields:
                field = fields[key.name] = read_field(key, one.entry)
                inner += _blocks_in(field)
    return Block(shape, node, fields, tuple(unknown.values()), tuple(repeated), tuple(inner))


def read_field(key: Key, entry: Entry) -> Field:
    """The value of one entry as `key` wants it."""
    node = entry.value
    found = resolved(node) if node.__class__ is Alias else node
    kind = key.type
    if found.__class__ is Scalar:
        text = found.text
        if text in scalars.NULL and scalars.is_plain(found):
            return Field(key, entry, "" if kind is Type.TEXT else None, _NOTHING, True)
        if kind is Type.TEXT:
            return _new(Field, (key, entry, text, _NOTHING, False))
    elif found is None:  # nothing is written, or an alias leads nowhere
        return Field(key, entry, "" if key.type is Type.TEXT else None, _NOTHING, node is None)
    value, faults = _READERS[kind](key, found, node or found)
    return _new(Field, (key, entry, value, faults, False))


def _blocks_in(field: Field) -> Iterator[Block]:
    items = field.value if isinstance(field.value, tuple) else (field.value,)
    for item in items:
        if isinstance(item, Block):
            yield item
        elif isinstance(item, Named) and item.block is not None:
            yield item.block


def _text(key: Key, node: Node, written: Node) -> _Read:
    if isinstance(node, Scalar):
        return node.text, _NOTHING
    return None, (_wrong(key, node, written),)


def _wrong(key: Key, node: Node, written: Node) -> Fault:
    if isinstance(node, Mapping) and node.flow and _is_braces(node):
        return Fault("braces", written, key.type.value)
    if isinstance(node, Scalar) and key.type in (Type.TEXTS, Type.BLOCKS, Type.NUMBERS):
        return Fault("bare", written, key.type.value)
    return Fault("type", written, key.type.value)


def _is_braces(node: Mapping) -> bool:
    """Whether this is `{{x}}` without quotes: a flow mapping whose only key is none or a mapping."""
    return len(node.entries) == 1 and node.entries[0].value is None


def _is_placeholder(node: Mapping) -> bool:
    """The same where mappings may stand, so that `{x}` can be meant."""
    return node.flow and _is_braces(node) and node.entries[0].key.text.startswith("{")


def _number(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Scalar):
        return None, (_wrong(key, node, written),)
    value = scalars.floating(node.text)
    return _unquoted(key, node, written, value)


def _integer(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Scalar):
        return None, (_wrong(key, node, written),)
    value = scalars.integer(node.text)
    if value is None and scalars.is_plain(node) and scalars.is_fraction(node.text):
        return None, (Fault("fraction", written, key.type.value),)
    return _unquoted(key, node, written, value)


def _boolean(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Scalar):
        return None, (_wrong(key, node, written),)
    return _unquoted(key, node, written, scalars.boolean(node.text))


def _unquoted(key: Key, node: Scalar, written: Node, value: bool | float | None) -> _Read:
    if value is None:
        return None, (Fault("type", written, key.type.value),)
    if not scalars.is_plain(node):
        return None, (Fault("quoted", written, key.type.value),)
    return value, _NOTHING


def _duration(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Scalar):
        return None, (_wrong(key, node, written),)
    if scalars.is_plain(node) and scalars.floating(node.text) is not None:
        return None, (Fault("duration", written, key.type.value),)  # a bare number, even 0, has no unit
    seconds = parse_duration(node.text)
    return seconds, _NOTHING if seconds is not None else (Fault("duration", written, key.type.value),)


def _texts(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Sequence):
        return None, (_wrong(key, node, written),)
    words: list[PlacedText] = []
    faults: list[Fault] = []
    for item in node.items:
        found = resolved(item) if item.__class__ is Alias else item
        if item is None or found is None:
            continue
        if found.__class__ is Scalar:
            words.append(_new(PlacedText, (found.text, item.span)))
        else:
            faults.append(Fault("type", item, Type.TEXT.value))
    return tuple(words), tuple(faults)


def _text_or_texts(key: Key, node: Node, written: Node) -> _Read:
    return _text(key, node, written) if isinstance(node, Scalar) else _texts(key, node, written)


def _numbers(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Sequence):
        return None, (_wrong(key, node, written),)
    numbers: list[float] = []
    faults: list[Fault] = []
    for item in node.items:
        found = resolved(item)
        value = scalars.floating(found.text) if isinstance(found, Scalar) and scalars.is_plain(found) else None
        if value is not None:
            numbers.append(value)
        elif item is not None:
            faults.append(Fault("type", item, Type.NUMBER.value))
    return tuple(numbers), tuple(faults)


def _block(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Mapping) or key.shape is None:
        return None, (_wrong(key, node, written),)
    return read_block(key.shape, node), _NOTHING


def _blocks(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Sequence) or key.shape is None:
        return None, (_wrong(key, node, written),)
    blocks: list[Block] = []
    faults: list[Fault] = []
    for item in node.items:
        found = resolved(item)
        if isinstance(found, Mapping):
            blocks.append(read_block(key.shape, found))
        elif item is not None:
            faults.append(Fault("type", item, Type.BLOCK.value))
    return tuple(blocks), tuple(faults)


def _named(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Mapping) or key.shape is None:
        return None, (_wrong(key, node, written),)
    named: dict[str, Named] = {}
    faults: list[Fault] = []
    for entry in node.entries:
        name, found = entry.key.text, resolved(entry.value)
        block = read_block(key.shape, found) if isinstance(found, Mapping) else None
        named.setdefault(name, Named(name, entry, block))
        if block is None and entry.value is not None:
            faults.append(Fault("type", entry.value, Type.BLOCK.value))
    return tuple(named.values()), tuple(faults)


def _pairs(key: Key, node: Node, written: Node) -> _Read:
    if not isinstance(node, Mapping):
        return None, (_wrong(key, node, written),)
    free = key.type is Type.ARGUMENTS
    pairs: dict[str, Pair] = {}
    faults: list[Fault] = []
    for entry in node.entries:
        name, found = entry.key.text, resolved(entry.value)
        if name in pairs:
            continue
        if isinstance(found, Scalar):
            pairs[name] = Pair(name, entry, "" if scalars.is_null(found) else found.text)
        elif found is None:
            pairs[name] = Pair(name, entry, "")
        else:
            pairs[name] = Pair(name, entry, None)
            if entry.value is not None and isinstance(found, Mapping) and _is_placeholder(found):
                faults.append(Fault("braces", entry.value, Type.TEXT.value))
            elif not free and entry.value is not None:
                faults.append(Fault("type", entry.value, Type.TEXT.value))
    return tuple(pairs.values()), tuple(faults)


def _anything(key: Key, node: Node, written: Node) -> _Read:
    return node, _NOTHING


_READERS: dict[Type, Callable[[Key, Node, Node], _Read]] = {
    Type.TEXT: _text,
    Type.INTEGER: _integer,
    Type.NUMBER: _number,
    Type.BOOLEAN: _boolean,
    Type.DURATION: _duration,
    Type.TEXTS: _texts,
    Type.TEXT_OR_TEXTS: _text_or_texts,
    Type.NUMBERS: _numbers,
    Type.BLOCK: _block,
    Type.BLOCKS: _blocks,
    Type.BLOCK_MAP: _named,
    Type.TEXT_MAP: _pairs,
    Type.ARGUMENTS: _pairs,
    Type.ANY: _anything,
}
