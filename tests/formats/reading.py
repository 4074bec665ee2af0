"""Blocks and fields from a few lines of YAML, for the tests of this room."""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Shape
from loop_ls.formats.common.read_value import read_block, read_field
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.syntax.nodes import Entry, Mapping
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text


def mapping(text: str) -> Mapping:
    """The mapping that stands indented behind the key `it`."""
    tree = read_yaml(Text.of("it:\n" + "\n".join(f"  {line}" for line in text.splitlines())))
    node = tree.pieces[0].node
    assert isinstance(node, Mapping), text
    return node


def block(shape: Shape, text: str) -> Block:
    return read_block(shape, mapping(text))


def field(key: Key, value: str) -> Field:
    entry = mapping(f"key: {value}").entries[0]
    return read_field(key, Entry(entry.key, entry.value))
