"""Keys that a mapping does not have yet, in the order in which people like to read them.

What is inserted brings colon, quotes and the next level along; where a colon is written already, only
the word is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.quoting import literal
from loop_ls.features.complete.render import Below, Items, Prose, Value, flow_mapping, mapping, without_stops
from loop_ls.features.complete.style import Style
from loop_ls.features.docs.key import short
from loop_ls.features.spot.place import Spot, Written
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.scalars import boolean, floating

_FIRST_KEYS = {"step": ("name",), "loop": ("name", "workflow"), "provider": ("provider", "model")}
_PROMPTS = ("run", "prompt")
#: Keys that mean nothing unless failures are repeated.
_OF_RETRIES = ("max_retries", "retry_delay")
#: Keys of which one level has only one (WF107, WF208).
_INSTEAD_OF = {
    "providers": ("provider", "model"),
    "provider": ("providers",),
    "model": ("providers",),
    "input": ("input_file",),
    "input_file": ("input",),
}


def keys(shape: Shape, spot: Spot, style: Style, written: Written | None = None) -> Iterator[Item]:
    """The keys of `shape` that `spot` has not. `written` counts instead of what the spot saw."""
    present = spot.written if written is None else written
    for place, key in enumerate(absent(shape, present)):
        yield from _items(shape, key, spot, style, place)


def absent(shape: Shape, written: Written) -> list[Key]:
    """Not yet written, required ones first, those of the other mode last; mode keys only while there is no mode.
    Nothing that a rule would criticise at once."""
    mode = written.get("mode") or "refine"
    mode_is_known = "mode" in written or "until" in written
    has_mode = any(name in written for name in shape.one_of)
    found = [
        key
        for key in shape.keys.values()
        if key.name not in written
        and not key.idle
        and not (has_mode and key.name in shape.one_of)
        and not (key.only_in is not None and key.only_in != mode and mode_is_known)
        and not (key.name in _OF_RETRIES and written.get("on_failure", "") not in ("", "retry"))
        and not (key.name == "max_workers" and not boolean(written.get("parallel", "")))
        and not any(other in written for other in _INSTEAD_OF.get(key.name, ()))
    ]
    return sorted(found, key=lambda key: _rank(key, mode, shape, written))


def _rank(key: Key, mode: str, shape: Shape, written: Written) -> int:
    if key.only_in is not None and key.only_in != mode:
        return 9
    if key.name in _OF_RETRIES and "on_failure" not in written:
        return 8
    needed = key.required or key.required_in == mode
    return 0 if needed else 1 if key.name in shape.one_of else 2


def _items(shape: Shape, key: Key, spot: Spot, style: Style, place: int) -> Iterator[Item]:
    about = ("key", shape.name, key.name)
    detail = short(key)
    counted = key.type is Type.INTEGER and key.required
    again = counted or bool(key.choices or key.offers or key.type in (Type.BOOLEAN, Type.BLOCK, Type.DURATION))
    if spot.colon:
        yield Item(key.name, ItemKind.KEY, spot.lead + key.name, detail=detail, sort=f"{place:03}", about=about)
        return
    for number, (label, value) in enumerate(_values(key, spot.flow)):
        snippet = _written(key, value, spot, style)
        plain = _written(key, _plain(value), spot, style)
        yield Item(
            label,
            ItemKind.KEY,
            spot.lead + without_stops(plain),
            spot.lead + snippet,
            detail,
            f"{place:03}{number}",
            filter=key.name,
            again=again,
            about=about,
        )


def _plain(value: Value) -> Value:
    """Without quotes that an editor without tab stops could not put the cursor into."""
    return "" if value in ('"$0"', "[$0]") else value


def _written(key: Key, value: Value, spot: Spot, style: Style) -> str:
    name = literal(key.name)
    if spot.flow:
        text = flow_mapping([(name, value)])[1:-1]
        return text + " " if text.endswith(":") else text
    text = mapping([(name, value)], spot.column, style)
    return text + " " if text.endswith(":") else text


def _values(key: Key, flow: bool) -> list[tuple[str, Value]]:
    """What to put behind the colon, by variant; the first is the usual one."""
    name = key.name
    match key.type:
        case Type.BLOCK | Type.BLOCK_MAP | Type.ARGUMENTS:
            return [(name, Below("$0"))]
        case Type.TEXT_MAP:
            return [(name, [("${1:NAME}", "$0")])]
        case Type.BLOCKS:
            return [(name, _entries(key))]
        case Type.TEXTS | Type.NUMBERS:
            return [(name, "[$0]")]
        case Type.TEXT | Type.TEXT_OR_TEXTS if key.interpolated:
            inline: tuple[str, Value] = (name, '"$0"')
            if name in _PROMPTS and not flow:
                return [(f"{name}: |", Prose("$0")), (name, '"$0"')]
            return [inline]
        case Type.TEXT if len(key.choices) == 1:
            return [(name, key.choices[0])]
        case _ if key.default is not None and not key.choices and floating(key.default) is not None:
            return [(name, f"${{0:{key.default}}}")]
        case _:
            return [(name, "")]


def _entries(key: Key) -> Items:
    shape = key.shape.name if key.shape else ""
    if shape == "consensus execution":
        return Items(
            (
                [("provider", "${1:provider}"), ("model", "${2:model}")],
                [("provider", "${3:provider}"), ("model", "${4:model}")],
            )
        )
    names = _FIRST_KEYS.get(shape, ())
    return Items(([(name, f"${number}") for number, name in enumerate(names, 1)],))
