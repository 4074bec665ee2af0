"""Shapes as JSON Schema (draft 2020-12), from the same tables that checking and completion read.

A schema knows one file and no workspace: it says less than the checker, and finds fault with
nothing that the checker is content with. Descriptions, choices and defaults are there for editors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, assert_never

from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.text.json_value import JsonObject
from loop_ls.text.record import equal_record

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: Go's notation.
_DURATION = r"(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$"
_PLACEHOLDER = r"\{\{.*\}\}"
_SPELLED = r"^\s*[-+]?\d+\s*$|" + _PLACEHOLDER

#: Words that count as true or false in a workflow, besides those of JSON. A pattern, so that editors do
#: not offer them.
_SWITCH = r"^([yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$"

#: How values are spelled: a workflow takes every scalar for a text; the others want JSON's types, a
#: role loop lets placeholders stand for numbers.
Dialect = Literal["yaml", "json", "filled"]


@equal_record
class Writer:
    """Writes the shapes of one format. `spelled` are keys whose number may be written as a text."""

    dialect: Dialect
    spelled: frozenset[str] = frozenset()

    def definitions(self, shapes: Iterable[Shape]) -> Schema:
        return {def_name(shape): self.shape(shape) for shape in shapes}

    def shape(self, shape: Shape) -> Schema:
        schema: JsonObject = {
            "type": "object",
            "description": shape.text,
            "properties": {key.name: self.key(key) for key in shape.keys.values()},
            "additionalProperties": False,
        }
        required = [key.name for key in shape.keys.values() if key.required and not _elsewhere(shape, key)]
        if required:
            schema["required"] = required
        conditions = list(_conditions(shape))
        if conditions:
            schema["allOf"] = conditions
        return schema

    def key(self, key: Key) -> Schema:
        schema = self.value(key)
        schema["description"] = described(key)
        default = _default(key)
        if default is not None:
            schema["default"] = default
        if key.idle:
            schema["deprecated"] = True
        if key.examples:
            schema["examples"] = list(key.examples)
        return schema

    def value(self, key: Key) -> Schema:
        match key.type:
            case Type.TEXT:
                return self._or_placeholder({"enum": [*key.choices]}) if key.choices else self._text(key)
            case Type.INTEGER:
                return self._number(key, "integer")
            case Type.NUMBER:
                return self._number(key, "number")
            case Type.BOOLEAN:
                return self._boolean()
            case Type.DURATION:
                sign = r"^\+?" if key.positive else r"^[-+]?"
                return {"type": "string", "pattern": sign + _DURATION}
            case Type.TEXTS:
                return {"type": "array", "items": self._word()}
            case Type.TEXT_OR_TEXTS:
                return {"anyOf": [self._word(), {"type": "array", "items": self._word()}]}
            case Type.NUMBERS:
                return {"type": "array", "items": {"type": "number"}}
            case Type.BLOCK:
                return _reference(key)
            case Type.BLOCKS:
                return {"type": "array", "items": _reference(key)}
            case Type.BLOCK_MAP:
                return {"type": "object", "additionalProperties": _reference(key)}
            case Type.TEXT_MAP:
                values = {"enum": [*key.choices]} if key.choices else {"type": _SCALARS}
                return {"type": "object", "additionalProperties": values}
            case Type.ARGUMENTS:
                return {"type": "object"}
            case Type.ANY:
                return {}
            case _:
                assert_never(key.type)

    def _text(self, key: Key) -> JsonObject:
        if self.dialect == "yaml":
            return {"type": ["string", "number", "boolean", "null"]}
        return {"type": "string"}

    def _word(self) -> JsonObject:
        return {"type": _SCALARS} if self.dialect == "yaml" else {"type": "string"}

    def _number(self, key: Key, type_: str) -> JsonObject:
        schema: JsonObject = {"type": type_}
        if key.minimum is not None:
            schema["minimum"] = _short(key.minimum)
        if key.positive:
            schema["exclusiveMinimum"] = 0
        if key.maximum is not None:
            schema["maximum"] = _short(key.maximum)
        if key.name in self.spelled:
            return {"anyOf": [schema, {"type": "string", "pattern": _SPELLED}]}
        return self._or_placeholder(schema)

    def _boolean(self) -> JsonObject:
        plain: JsonObject = {"type": "boolean"}
        if self.dialect == "yaml":
            return {"anyOf": [plain, {"type": "string", "pattern": _SWITCH}]}
        return self._or_placeholder(plain)

    def _or_placeholder(self, schema: JsonObject) -> JsonObject:
        if self.dialect != "filled":
            return schema
        return {"anyOf": [schema, {"type": "string", "pattern": _PLACEHOLDER}]}


_SCALARS = ["string", "number", "boolean", "null"]


def document(title: str, root: Schema, definitions: Schema) -> Schema:
    """A whole schema: head, root and what it refers to."""
    return {"$schema": DRAFT, "title": title, **root, "$defs": definitions}


def reference(shape: Shape) -> JsonObject:
    return {"$ref": f"#/$defs/{def_name(shape)}"}


def def_name(shape: Shape) -> str:
    return shape.name.replace(" ", "_")


def described(key: Key) -> str:
    """What a key does, what holds without it, and where another program differs."""
    parts = [key.text]
    if key.default is not None and _default(key) is None:
        parts.append(f"Default: {key.default}.")
    if key.reference:
        parts.append(key.reference)
    return " ".join(parts)


def _reference(key: Key) -> JsonObject:
    assert key.shape is not None, f"{key.name} has no shape"
    return reference(key.shape)


def _elsewhere(shape: Shape, key: Key) -> str | None:
    """The key of the same mapping whose value stands in."""
    return next((name for name in key.inherits if name in shape.keys), None)


def _conditions(shape: Shape) -> Iterator[JsonObject]:
    if shape.one_of:
        yield {"oneOf": [{"required": [name]} for name in shape.one_of]}
    for key in shape.keys.values():
        other = _elsewhere(shape, key)
        if key.required and other is not None:
            yield {"anyOf": [{"required": [key.name]}, {"required": [other]}]}
    wanted = {mode: [k.name for k in shape.keys.values() if k.required_in == mode] for mode in ("refine", "iterate")}
    if wanted["refine"] or wanted["iterate"]:
        yield {
            "if": {"properties": {"mode": {"const": "iterate"}}, "required": ["mode"]},
            "then": {"required": wanted["iterate"]},
            "else": {"required": wanted["refine"]},
        }


def _default(key: Key) -> object:
    """The default as a value, where its words spell one of the right type."""
    written = key.default
    if written is None:
        return None
    match key.type:
        case Type.BOOLEAN:
            return {"true": True, "false": False}.get(written)
        case Type.INTEGER:
            return int(written) if written.isascii() and written.isdigit() else None
        case Type.NUMBER:
            return _short(float(written)) if written.replace(".", "", 1).isdigit() else None
        case Type.TEXT:
            return written if written in key.choices else None
        case _:
            return None


def _short(number: float) -> int | float:
    return int(number) if number == int(number) else number
