"""What a path in a workflow file means: which mapping it is in, which key it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.workflow.keys import WORKFLOW


@dataclass(frozen=True, slots=True)
class Meaning:
    """`shape`: the mapping at the path has these keys. `key`: the value at the path is this key's
    (or part of it: an item, an argument). Both None where nothing of ours can stand."""

    shape: Shape | None = None
    key: Key | None = None
    inside: bool = False  # below the key's own value: an item of a list of texts, an argument

    @property
    def interpolated(self) -> bool:
        return self.key is not None and self.key.interpolated


NOTHING = Meaning()


def meaning_of(path: tuple[str, ...], root: Shape = WORKFLOW) -> Meaning:
    """The meaning of the value at `path`; items are `[]`."""
    found = Meaning(shape=root)
    for part in path:
        found = _inside(found, part)
        if found is NOTHING:
            break
    return found


def _inside(found: Meaning, part: str) -> Meaning:
    key, shape = found.key, found.shape
    if shape is not None:
        inner = shape.keys.get(part)
        if inner is None:
            return NOTHING
        return Meaning(inner.shape if inner.type is Type.BLOCK else None, inner)
    if key is None:
        return NOTHING
    match key.type:
        case Type.BLOCKS if part == "[]" and not found.inside:
            return Meaning(key.shape, key, inside=True)
        case Type.TEXTS | Type.TEXT_OR_TEXTS | Type.NUMBERS if part == "[]":
            return Meaning(None, key, inside=True)
        case Type.BLOCK_MAP if not found.inside:
            return Meaning(key.shape, key, inside=True)
        case Type.ARGUMENTS | Type.TEXT_MAP | Type.ANY:
            return Meaning(None, key, inside=True)
        case _:
            return NOTHING
