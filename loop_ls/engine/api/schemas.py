"""JSON Schemas of the documented interface, made from the types of the contract when somebody asks for them.

Answers may hold more than is named here; what is named is there and of this type.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import WithDefaultSchema

from loop_ls.contract.operations import OPERATIONS, ROLES
from loop_ls.contract.validation import answer_type, request_type
from loop_ls.engine.api.answers import STATUS
from loop_ls.text.json_value import Json, JsonObject, as_object

Schema = JsonObject

_REF = "#/components/schemas/{model}"
#: Types that the document knows by another name than their class.
_SHOWN = {"RunStateView": "RunState", "Error": "Failure", "HttpRefusal": "Error"}
#: Shapes of rows and facts that the document shows though no operation answers one alone.
_ALONE = ("RunStateView", "Definition", "Event", "HttpRefusal")


def ref(name: str) -> JsonObject:
    return {"$ref": _REF.format(model=name)}


@cache
def components() -> dict[str, Schema]:
    """All schemas of the document by their names."""
    types: dict[str, TypeAdapter[object]] = {name: answer_type(name) for name in _ALONE}
    for one in OPERATIONS.values():
        if one.answer != "str":
            types |= {name: answer_type(name) for name in (one.answer, *(name for _, name in one.otherwise))}
        if one.request:
            types[one.request] = TypeAdapter(request_type(one.request))
    _, found = TypeAdapter.json_schemas(
        [(name, "validation", types[name]) for name in sorted(types)],
        ref_template=_REF,
        schema_generator=_WithoutDefaults,
    )
    made = {_SHOWN.get(name, name): dict(as_object(_renamed(schema))) for name, schema in found["$defs"].items()}
    made["Error"] = {
        **made["Error"],
        "properties": {**as_object(made["Error"]["properties"]), "code": {"enum": sorted(STATUS)}},
    }
    return {**made, "Role": {"enum": list(ROLES)}}


def parameters(name: str) -> Iterator[tuple[str, str, Schema]]:
    """Name, description and schema of each parameter of a query or of headers."""
    schema = request_type(name).model_json_schema(by_alias=True, schema_generator=_WithoutDefaults)
    for parameter, said in schema["properties"].items():
        yield (
            parameter,
            said["description"],
            {key: value for key, value in said.items() if key not in ("description", "title")},
        )


@cache
def object_schema(name: str) -> JsonObject:
    """The schema of one request that stands alone, such as the argument of a tool."""
    schema = request_type(name).model_json_schema(by_alias=True, schema_generator=_WithoutDefaults)
    return {key: value for key, value in schema.items() if key not in ("description", "title")}


class _WithoutDefaults(GenerateJsonSchema):
    """Defaults say how absence is read here, and nothing that a client has to know; titles repeat names."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonObject:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def _renamed(value: Json) -> Json:
    """The schema with references to the names that the document has."""
    match value:
        case dict():
            return {key: _renamed(inner) for key, inner in value.items()}
        case list():
            return [_renamed(inner) for inner in value]
        case str() if value.startswith("#/"):
            head, _, name = value.rpartition("/")
            return f"{head}/{_SHOWN.get(name, name)}"
        case _:
            return value
