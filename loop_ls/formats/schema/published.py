"""The published schemas: one for every format, as `loop-ls schema` prints them and `schemas/` holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, assert_never, get_args

from loop_ls.formats.assistant import keys as assistant_keys
from loop_ls.formats.checks import keys as checks_keys
from loop_ls.formats.common.key_table import Shape, Type
from loop_ls.formats.role_loop import keys as role_loop_keys
from loop_ls.formats.schema.json_schema import Schema, Writer, document, reference
from loop_ls.formats.settings import keys as settings_keys
from loop_ls.formats.workflow import keys as workflow_keys
from loop_ls.text.json_value import JsonObject

FormatName = Literal["workflow", "role-loop", "assistant", "settings", "checks", "cases"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)


def shapes_of(name: FormatName) -> tuple[Shape, ...]:
    """Every kind of mapping that a file of this format may hold, the outermost first."""
    match name:
        case "workflow":
            return tuple(workflow_keys.SHAPES.values())
        case "role-loop":
            return tuple(role_loop_keys.ROLE_LOOP_SHAPES.values())
        case "assistant":
            return tuple(assistant_keys.ASSISTANT_SHAPES.values())
        case "settings":
            return _reachable(settings_keys.SETTINGS)
        case "checks":
            return (checks_keys.CHECKS_FILE, checks_keys.CHECK)
        case "cases":
            return (checks_keys.CASES_FILE, checks_keys.CASE, checks_keys.CHECK)
        case _:
            assert_never(name)


def schema_of(name: FormatName, rules: Mapping[str, str] | None = None) -> JsonObject:
    """`rules`: codes and titles of the rules, for the settings."""
    match name:
        case "workflow":
            return _workflow()
        case "role-loop":
            return _role_loop()
        case "assistant":
            return _assistant()
        case "settings":
            return _settings(rules or {})
        case "checks":
            return _beside("Checks of a loop file", *shapes_of(name))
        case "cases":
            return _beside("Test cases of a loop file", *shapes_of(name))
        case _:
            assert_never(name)


def _beside(title: str, root: Shape, *inner: Shape) -> JsonObject:
    return document(title, reference(root), Writer("json").definitions((root, *inner)))


def _workflow() -> JsonObject:
    definitions = Writer("yaml").definitions(shapes_of("workflow"))
    return document("A loop-ls workflow", reference(workflow_keys.WORKFLOW), definitions)


def _role_loop() -> JsonObject:
    writer = Writer("filled", role_loop_keys.LIMITS)
    definitions = writer.definitions(shapes_of("role-loop"))
    termination = definitions["termination_condition"]
    termination["allOf"] = [
        {
            "if": {"properties": {"type": {"const": type_}}, "required": ["type"]},
            "then": {"properties": {"value": _value(type_, shape)}, "required": ["value"]},
        }
        for type_, shape in role_loop_keys.VALUES.items()
    ]
    return document("A role-loop definition", reference(role_loop_keys.DEFINITION), definitions)


def _value(type_: str, shape: Shape) -> JsonObject:
    if type_ != role_loop_keys.EVALUATION:
        return reference(shape)
    return {"anyOf": [reference(shape), {"type": "string", "description": "The criteria alone."}]}


def _assistant() -> Schema:
    one, several = assistant_keys.ASSISTANT, assistant_keys.ASSISTANT_FILE
    definitions = Writer("json").definitions(shape for shape in shapes_of("assistant") if shape is not several)
    for shape in definitions.values():
        _null_is_absent(shape)
    listed = {
        "type": "object",
        "description": several.keys[assistant_keys.LIST].text,
        "properties": {assistant_keys.LIST: {"type": "array", "items": reference(one)}},
        "required": [assistant_keys.LIST],
        "additionalProperties": False,
    }
    root = {
        "if": {"type": "object", "required": [assistant_keys.LIST]},
        "then": {"$ref": "#/$defs/assistants"},
        "else": reference(one),
    }
    return document("A loop-ls assistant", root, definitions | {"assistants": listed})


def _null_is_absent(shape: Schema) -> None:
    """In JSON a program that has no value for a key often writes null."""
    required = set(shape.get("required", ()))
    for name, value in shape["properties"].items():
        if name not in required:
            meant = {
                word: value.pop(word)
                for word in ("type", "enum", "pattern", "$ref", "minimum", "maximum", "items")
                if word in value
            }
            value["anyOf"] = [meant, {"type": "null"}]


def _settings(rules: Mapping[str, str]) -> Schema:
    definitions = Writer("json").definitions(shapes_of("settings"))
    if rules:
        definitions["level"] = {"enum": [*settings_keys.LEVELS]}
        table = definitions["settings"]["properties"]["rules"]
        table["properties"] = {code: {"$ref": "#/$defs/level", "description": text} for code, text in rules.items()}
        table["additionalProperties"] = False
    return document("Settings of loop-ls", reference(settings_keys.SETTINGS), definitions)


def _reachable(shape: Shape, seen: tuple[Shape, ...] = ()) -> tuple[Shape, ...]:
    """A shape and all that its keys lead to, each once."""
    found = (*seen, shape)
    for key in shape.keys.values():
        if key.shape is not None and key.shape not in found:
            assert key.type in (Type.BLOCK, Type.BLOCKS, Type.BLOCK_MAP)
            found = _reachable(key.shape, found)
    return found
