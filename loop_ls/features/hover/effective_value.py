"""Which value counts for a key where it stands, and where it comes from (UP-49)."""

from __future__ import annotations

from loop_ls.features.lookup.node_at import NodeAt
from loop_ls.features.text.humanize import duration
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.scalars import floating
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.index.document import Document
from loop_ls.text.markdown import code


def counts_here(look: NodeAt) -> str | None:
    """`Counts here: 0.2, in place of 0.7 from execution`; None where there is nothing to add."""
    field, block = look.field, look.block
    if field is None or block is None or field.fault is not None or field.empty:
        return None
    own = shown(field)
    if own is None or not (field.key.inherits or field.key.default):
        return None
    other = inherited(look.document, look, field.key)
    if other is None:
        return f"Used here: {own}."
    value, source = other
    return f"Used here: {own}" + (f", like {source}." if value == own else f", instead of {value} from {source}.")


def inherited(document: Document, look: NodeAt, key: Key) -> tuple[str, str] | None:
    """What would count without the key, and who says so."""
    for source in key.inherits:
        block, name = _place(document, look, source, key.name)
        field = block.get(name) if block is not None else None
        if field is not None and block is not look.block and (value := shown(field)) is not None:
            return value, code(source)
    if key.default is not None and floating(key.default) is not None:
        return code(key.default), "the default"
    if key.default in key.choices:
        return code(key.default), "the default"
    return None


def _place(document: Document, look: NodeAt, source: str, name: str) -> tuple[Block | None, str]:
    place, _, other = source.partition(".")
    match place:
        case "execution":
            return document.execution, other or name
        case "step":
            return (look.element.block if look.element is not None else None), name
        case "consensus":
            return (look.element.block.block("consensus") if look.element is not None else None), name
        case _:
            return None, name


def shown(field: Field) -> str | None:
    """A value as it is written, durations in words."""
    value = field.value
    if field.key.type is Type.DURATION and isinstance(value, int | float):
        return duration(value)
    scalar = field.scalar
    if scalar is not None and field.fault is None and len(scalar.text) <= 60:
        return code(scalar.text)
    return None
