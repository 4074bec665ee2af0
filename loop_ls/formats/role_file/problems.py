"""Everything that keeps a role file from meaning what it says, as far as it can be said without other files."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import kind_of, number, out_of_range, text_of, wrong_type
from loop_ls.formats.common.object_parts import Part, Parts
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.problem import Flaw, Placed
from loop_ls.formats.role_file.read import ROLE_NAME, tools_in


def role_file_flaws(parts: Parts) -> Iterator[Placed]:
    for part in parts.keys.values():
        yield from (Placed(part.piece, flaw) for flaw in _value(part))


def _value(part: Part) -> Iterator[Flaw]:
    key, node = part.field.key, part.node
    if kind_of(node) == "null":
        yield Flaw("RO003", node or part.entry, f"`{key.name}` is empty; it must be {key.type.value}")
        return
    wrong = wrong_type(key, node)
    if wrong is not None:
        yield Flaw("RO003", wrong.node, f"`{key.name}` must be {key.type.value}")
        return
    if key.name == "tools" and tools_in(plain(node)) is None:
        yield Flaw("RO003", node, f"`tools` must be {key.type.value}")
    text = text_of(node)
    if key.choices and text is not None and text not in key.choices:
        better = nearest(text, key.choices)
        expected = ", ".join(f"`{choice}`" for choice in key.choices)
        hint = f"did you mean `{better}`?" if better else f"expected {expected}"
        yield Flaw("RO003", node, f"Unknown `{key.name}` `{text}`; {hint}", better)
    if key.name == "name" and text is not None and ROLE_NAME.fullmatch(text) is None:
        told = f"Invalid role name `{text[:60]}`: use letters, digits, `_` and `-`, starting with a letter"
        yield Flaw("RO003", node, told)
    value = number(node)
    limits = None if value is None else out_of_range(key, value)
    if limits is not None:
        yield Flaw("RO003", node, f"`{key.name}` must be {limits}")
