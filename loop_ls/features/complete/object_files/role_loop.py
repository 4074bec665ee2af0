"""Completion in role-loop definitions: keys by position, roles, ends with their value, parameters in braces."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Completions, Item, ItemKind
from loop_ls.features.complete.island import Braces, braces_at
from loop_ls.features.complete.object_files.json_items import bare, item, keys, texts, values, whole
from loop_ls.features.docs.role_loop import label_of, role_detail
from loop_ls.features.lookup.json_cursor import JsonSpot, json_spot
from loop_ls.formats.common.key_table import Key, Shape
from loop_ls.formats.role_loop import keys as tables
from loop_ls.formats.role_loop.parts import RoleLoopParts
from loop_ls.formats.role_loop.roles import Role
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.text.position import Position, Span

#: What to write behind `type` for each end; `$0` is where the cursor stays.
VALUES = {
    tables.EVALUATION: '{"criteria": "${1:What the last stage judges by}", "max_review_rounds": ${2:5}}',
    tables.ITERATIONS: "${1:3}",
    tables.GOAL: '{"goal_prompt": "${1:What counts as reached}", "max_iterations": ${2:10}}',
    tables.TIME: "${1:3600}",
    tables.MANUAL: "",
    tables.TOOL: '{"tool": "$1", "operator": ">=", "threshold": ${2:1}, "max_iterations": ${3:10}}',
}
_DETAILS = {
    tables.EVALUATION: "the last stage approves",
    tables.ITERATIONS: "a number of iterations",
    tables.GOAL: "a model decides that the goal is reached",
    tables.TIME: "seconds, or a date",
    tables.MANUAL: "a person stops it",
    tables.TOOL: "a number from a tool",
}
_ROLE = '{"role": "${1:coder}", "prompt": "$2"}'
_PARAMETER = '{"name": "$1", "description": "$2", "required": ${3:false}, "default": "$4"}'
_FILE = """\
{
  "name": "${1:make-and-judge}",
  "description": "${2:One makes, another judges}",
  "roles": [
    {"name": "make", "role": "coder", "prompt": "${3:Do what the goal asks for.}"},
    {"name": "judge", "role": "reviewer", "prompt": "${4:Judge the result. Say APPROVED, or what has to change.}"}
  ],
  "termination_condition": {
    "type": "evaluation_bound",
    "value": {"criteria": "${5:Nothing is left to correct}", "max_review_rounds": 5}
  }
}
"""


def complete(document: Document, at: Position, settings: Settings) -> Completions:
    spot = json_spot(document.text, at)
    loop = document.whole.role_loop
    inside = _in_braces(document, loop, spot, at)
    if inside is not None:
        return inside
    if spot.comma == at and spot.word.empty:
        return Completions(Span(at, at))  # right behind a value
    items = tuple(_items(document, at, loop, spot, roles_of(settings)))
    return Completions(spot.word, items)


def _in_braces(document: Document, loop: RoleLoopParts, spot: JsonSpot, at: Position) -> Completions | None:
    """The parameters, where the cursor is between braces in a text that is filled in."""
    if not spot.quoted or spot.where == "key" or (spot.path[:1] == ("parameters",) and spot.path[-1:] != ("default",)):
        return None
    braces = braces_at(document.text.lines[at.line], at.column)
    if braces is None:
        return None
    span = Span(Position(at.line, braces.start), Position(at.line, braces.end))
    return Completions(span, tuple(_parameters(loop, braces)))


def _parameters(loop: RoleLoopParts, braces: Braces) -> Iterator[Item]:
    for place, (name, declared) in enumerate(loop.declared.items()):
        detail = "parameter" if declared.text is None else f"default {declared.text or 'an empty string'}"
        text = f"{braces.before}{name}{braces.after}"
        filter_ = f"{{{name}" if braces.before else None
        yield Item(name, ItemKind.PARAMETER, text, None, detail, f"{place:03}", filter_, about=("role parameter", name))


def _items(
    document: Document, at: Position, loop: RoleLoopParts, spot: JsonSpot, roles: dict[str, Role]
) -> Iterator[Item]:
    if spot.full:
        return
    if not spot.path and spot.where == "value":
        yield whole("role loop: make and judge", _FILE, "a definition with two stages", spot, 0)
        return
    if spot.where == "item":
        yield from _entries(spot)
        return
    shape = _shape(spot.path if spot.where == "key" else spot.path[:-1], spot)
    if shape is None:
        return
    if spot.where == "key":
        hidden = _hidden(shape, spot)
        yield from (one for one in keys(shape, spot, _given(spot)) if one.label not in hidden)
        return
    key = shape.keys.get(spot.path[-1])
    if key is not None and (shape.name, key.name) == ("role stage", "requires_artifact_from"):
        yield from bare(_earlier(document, at, loop), spot)
    elif key is not None:
        yield from _values(spot, shape, key, roles)


def _entries(spot: JsonSpot) -> Iterator[Item]:
    match spot.path:
        case ("roles",):
            yield whole("stage", _ROLE, "a role and its prompt", spot, 0)
        case ("parameters",):
            yield whole("parameter", _PARAMETER, "a value that can be passed at the start", spot, 0)
        case _:
            return


def _shape(path: tuple[str, ...], spot: JsonSpot) -> Shape | None:
    """The keys of the object at `path`."""
    match path:
        case ():
            return tables.DEFINITION
        case ("roles", "[]"):
            return tables.ROLE
        case ("parameters", "[]"):
            return tables.PARAMETER
        case ("termination_condition",):
            return tables.TERMINATION
        case ("termination_condition", "value"):
            around = spot.outer[0] if spot.outer else {}
            return tables.VALUES.get(around.get("type", ""))
        case ("approval",):
            return tables.APPROVAL
        case _:
            return None


def _given(spot: JsonSpot) -> dict[str, tuple[tuple[str, str], ...]]:
    """Keys whose usual values are known here."""
    match spot.path:
        case ():
            ends = tuple((f"termination_condition: {type_}", _end(type_)) for type_ in tables.TERMINATIONS)
            return {"termination_condition": ends, "roles": (("roles", f"[{_ROLE}]"),)}
        case ("termination_condition",):
            value = VALUES.get(spot.written.get("type", ""))
            return {"value": (("value", value),)} if value else {}
        case ("parameters", "[]"):
            return {"default": (("default", '"$0"'),)}
        case _:
            return {}


def _end(type_: str) -> str:
    value = VALUES[type_]
    return f'{{"type": "{type_}", "value": {value}}}' if value else f'{{"type": "{type_}"}}'


def _hidden(shape: Shape, spot: JsonSpot) -> frozenset[str]:
    """Keys that are read, and better not written: by older programs, or beside another type."""
    if shape is tables.DEFINITION:
        return frozenset(name for name, key in shape.keys.items() if key.idle)
    if shape is not tables.TERMINATION:
        return frozenset()
    type_ = spot.written.get("type", "")
    others = {"max_iterations"} if type_ == tables.TIME else {"max_iterations", "hard"}
    return frozenset(others | {"value"} if type_ == tables.MANUAL else others)


def _earlier(document: Document, at: Position, loop: RoleLoopParts) -> Iterator[tuple[str, str]]:
    """The stages that run before the one around the cursor."""
    begun = [
        one for one in loop.stages if one.node is not None and document.absolute(one.piece, one.node.span).start <= at
    ]
    for index, stage in enumerate(loop.in_run_order):
        if not begun or stage is begun[-1]:
            return
        yield str(index), label_of(loop, stage)


def _values(spot: JsonSpot, shape: Shape, key: Key, roles: dict[str, Role]) -> Iterator[Item]:
    match (shape.name, key.name):
        case ("role stage", "role"):
            yield from _roles(spot, roles)
        case ("termination condition", "type"):
            yield from _types(spot)
        case _:
            yield from values(key, spot)


def _roles(spot: JsonSpot, roles: dict[str, Role]) -> Iterator[Item]:
    for place, role in enumerate(roles.values()):
        text = f'"{role.name}"'
        yield item(role.name, ItemKind.ELEMENT, text, spot, role_detail(role), f"{place:03}", ("role", role.name))


def _types(spot: JsonSpot) -> Iterator[Item]:
    """Each end with its value behind it, unless that is written already."""
    if "value" in spot.written:
        yield from texts(((type_, _DETAILS[type_]) for type_ in tables.TERMINATIONS), spot)
        return
    for place, type_ in enumerate(tables.TERMINATIONS):
        value = VALUES[type_]
        text = f'"{type_}"' + (f', "value": {value}' if value else "")
        yield item(type_, ItemKind.SNIPPET, text, spot, _DETAILS[type_], f"{place:03}", ("end", type_))
