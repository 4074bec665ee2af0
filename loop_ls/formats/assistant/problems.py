"""Everything that keeps an assistant file from meaning what it says.

A fault in a mapping that several assistants share by an anchor is told once, for the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.assistant.keys import (
    CRITERIA_TYPES,
    LIST,
    LONGEST_NAME,
    MANUAL,
    MOST_ITERATIONS,
    REGEX,
    TEST_PASS,
)
from loop_ls.formats.assistant.parts import AssistantParts, assistants_of
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import WORDS, is_blank, kind_of, number, out_of_range, text_of, whole, wrong_type
from loop_ls.formats.common.object_parts import Parts
from loop_ls.formats.common.problem import Flaw, Placed
from loop_ls.formats.common.regex_check import compiled
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.syntax.nodes import Sequence, resolved

#: Flaws with which a loop still runs: its criterion then never ends it.
TOLERATED = frozenset({"AL005", "AL006", "AL007", "AL009", "AL011", "AL016"})

_OWN = {"name", "persona", "loopCriteria", "maxIterations", "type", "value", LIST}
_MAY_BE_NULL = {"description", "purpose", "model", "id", "maxBudgetUsd"}


def assistant_flaws(parts: Parts) -> Iterator[Placed]:
    """In the order of the file, more or less."""
    yield from _list(parts)
    seen: set[int] = set()
    for one in assistants_of(parts):
        yield from _identity(one)
        yield from _fields(one)
        yield from _iterations(one)
        block = one.criteria
        if block is not None and id(block.node) not in seen:
            seen.add(id(block.node))
            yield from _criteria(one, block)


def _list(parts: Parts) -> Iterator[Placed]:
    part = parts.get(LIST)
    if part is None:
        return
    items = parts.listed(LIST)
    if not items and not isinstance(resolved(part.node), Sequence):
        yield Placed(part.piece, Flaw("AL004", part.node or part.entry, f"`{LIST}` must be a list of assistants"))
    for item in items:
        if item.block is None:
            at = item.node or part.entry
            yield Placed(item.piece, Flaw("AL004", at, "An assistant must be a mapping with `name` and `persona`"))


def _identity(one: AssistantParts) -> Iterator[Placed]:
    for name in ("name", "persona"):
        part = one.get(name)
        if part is None:
            if not one.meant(name):
                piece, at = one.first
                yield Placed(piece, Flaw("AL002", at, f"Missing `{name}`"))
        elif is_blank(part.node):
            yield Placed(part.piece, Flaw("AL002", part.node or part.entry, f"`{name}` is empty"))
        elif kind_of(part.node) != "text":
            yield Placed(part.piece, Flaw("AL004", part.node, f"`{name}` must be a string"))
        elif name == "name" and len(text_of(part.node) or "") > LONGEST_NAME:
            length = len(text_of(part.node) or "")
            message = f"`name` must have at most {LONGEST_NAME} characters, not {length}"
            yield Placed(part.piece, Flaw("AL002", part.node, message))


def _fields(one: AssistantParts) -> Iterator[Placed]:
    for part in one.written():
        if part.field.key.name not in _OWN:
            yield from (Placed(part.piece, flaw) for flaw in _field(part.field))
    criteria = one.get("loopCriteria")
    if criteria is not None and kind_of(criteria.node) not in ("object", "null"):
        message = "`loopCriteria` must be a mapping with `type` and `value`"
        yield Placed(criteria.piece, Flaw("AL004", criteria.node, message))


def _field(field: Field) -> Iterator[Flaw]:
    key, node = field.key, field.node
    if kind_of(node) == "null":
        if key.name not in _MAY_BE_NULL:
            yield Flaw("AL004", node or field.entry, f"`{key.name}` is empty; it must be {WORDS[key.type]}")
        return
    wrong = wrong_type(key, node)
    if wrong is not None:
        yield Flaw("AL004", wrong.node, f"`{key.name}` must be {WORDS[key.type]}")
        return
    text = text_of(node)
    if key.choices and text is not None and text not in key.choices:
        better = nearest(text, key.choices)
        listed = ", ".join(f"`{choice}`" for choice in key.choices)
        hint = f"did you mean `{better}`?" if better else f"expected {listed}"
        yield Flaw("AL004", node, f"Unknown `{key.name}` `{text}`; {hint}", better)
    if key.name == "memory" and text is not None and (fault := memory_fault(text)):
        yield Flaw("AL004", node, f"`memory` {fault}, such as `memory/fixer.md`")
    value = number(node)
    limits = None if value is None else out_of_range(key, value)
    if limits is not None:
        yield Flaw("AL004", node, f"`{key.name}` must be {limits}")
    if isinstance(field.value, Block):
        for inner in field.value.fields.values():
            yield from _field(inner)


def memory_fault(path: str) -> str | None:
    """Why a path cannot be that of a memory file, as the end of a sentence: it is rewritten after each iteration, so
    it is a text that nothing runs, and lies where nothing hidden is."""
    parts = path.replace("\\", "/").split("/")
    inside = all(part.strip() and not part.startswith(".") for part in parts) and ":" not in path
    return None if inside and path.endswith(".md") else "must be the relative path of a `.md` file in the workspace"


def _iterations(one: AssistantParts) -> Iterator[Placed]:
    part = one.get("maxIterations")
    if part is None:
        return
    value = whole(part.node)
    if value is None or not 1 <= value <= MOST_ITERATIONS:
        message = f"`maxIterations` must be an integer from 1 to {MOST_ITERATIONS}"
        yield Placed(part.piece, Flaw("AL021", part.node or part.entry, message))


# -- criteria -------------------------------------------------------------------------------------


def _criteria(one: AssistantParts, block: Block) -> Iterator[Placed]:
    part = one.get("loopCriteria")
    if part is None:
        return
    for inner in block.fields.values():
        if inner.key.name not in _OWN:
            yield from (Placed(part.piece, flaw) for flaw in _field(inner))
    listed = ", ".join(f"`{name}`" for name in CRITERIA_TYPES)
    field = block.get("type")
    if field is None or kind_of(field.node) == "null":
        if field is not None or not block.meant("type"):
            yield Placed(part.piece, Flaw("AL006", part.entry, f"Missing `type` in `loopCriteria`; expected {listed}"))
    else:
        text = text_of(field.node)
        if text not in CRITERIA_TYPES:
            better = nearest(text or "", CRITERIA_TYPES)
            hint = f"did you mean `{better}`?" if better else f"expected {listed}"
            message = (
                f"Unknown criterion type `{text}`; {hint}" if text else f"`type` must be a string; expected {listed}"
            )
            yield Placed(part.piece, Flaw("AL005", field.node, message, better))
    yield from (Placed(part.piece, flaw) for flaw in _value(block, one.criteria_type))


def _value(block: Block, type_: str | None) -> Iterator[Flaw]:
    field = block.get("value")
    if field is None or field.node is None or kind_of(field.node) == "null":
        return
    text = text_of(field.node)
    if text is None:
        yield Flaw("AL007", field.node, f"`value` must be a string, not {_article(kind_of(field.node))}")
    elif type_ == REGEX and not text:
        yield Flaw("AL009", field.node, "Empty pattern: it matches every output, so the loop ends after one iteration")
    elif type_ == REGEX and (problem := compiled(text).problem):
        yield Flaw("AL011", field.node, f"Invalid pattern: {problem}; it would never end the loop")
    elif type_ == TEST_PASS and not text.strip() and not block.has("argv"):
        yield Flaw("AL016", field.node, "Empty command: it never succeeds, so it never ends the loop")


def _article(kind: str) -> str:
    return {"object": "a mapping", "list": "a list", "number": "a number"}.get(kind, kind)


#: Types whose value nobody looks at.
VALUELESS = frozenset({MANUAL, "max_iterations"})
