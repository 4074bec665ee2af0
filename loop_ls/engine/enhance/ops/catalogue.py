"""`ENHANCER_ALLOWED_OPS`: every operation that a planner may name. What is not here does not exist.

Neither providers nor names, schema, environment, servers or other files can be reached by any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.engine.enhance.ops.operations import (
    Field,
    Operation,
    OperationKind,
    Rejected,
    arguments,
    choice,
    name,
    names,
    number,
    text,
    text_or_null,
    whole,
)
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.duration import parse_duration
from loop_ls.text.json_value import Json, JsonObject

_REASON_MOST = 300
_POLICY = ("halt", "continue", "retry")
_ABOUT = ("op", "reason", "addresses", "file")


def _duration(least: float, most: float, said: str, required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        seconds = parse_duration(value) if isinstance(value, str) else None
        if seconds is None:
            return "bad_fields", "a duration such as `90s`"
        return None if least <= seconds <= most else ("out_of_range", said)

    return Field(check, {"type": "string", "description": said}, required)


def _template() -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        good = (
            isinstance(value, dict)
            and isinstance(value.get("name"), str)
            and bool(value["name"])
            and value.keys() <= {"name", "with"}
            and isinstance(value.get("with", {}), dict)
        )
        return None if good else ("bad_fields", "an object with `name` and, if needed, `with`")

    schema: JsonObject = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "with": {"type": "object"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    return Field(check, schema, False)


def _fallbacks() -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        if not isinstance(value, list) or not all(
            isinstance(one, dict)
            and one.keys() == {"provider", "model"}
            and all(isinstance(part, str) and part for part in one.values())
            for one in value
        ):
            return "bad_fields", "a list of objects with `provider` and `model`"
        return None if 1 <= len(value) <= 3 else ("out_of_range", "1 to 3 fallbacks")

    pair: JsonObject = {
        "type": "object",
        "properties": {"provider": {"type": "string"}, "model": {"type": "string"}},
        "required": ["provider", "model"],
        "additionalProperties": False,
    }
    return Field(check, {"type": "array", "items": pair, "minItems": 1, "maxItems": 3})


_TARGET = text()

ENHANCER_ALLOWED_OPS: Mapping[str, OperationKind] = {
    "add_step": OperationKind(
        {
            "name": name(),
            "run": text(8000, required=False),
            "template": _template(),
            "after": text(required=False),
            "before": text(required=False),
            "needs": names(required=False),
            "if": text(required=False),
            "on_failure": choice(*_POLICY, required=False),
            "max_retries": whole(0, 5, required=False),
            "skills": names(required=False),
        },
        either=("run", "template"),
    ),
    "set_instructions": OperationKind({"target": _TARGET, "run": text(8000)}),
    "append_instructions": OperationKind({"target": _TARGET, "text": text(2000)}),
    "set_needs": OperationKind(
        {"target": _TARGET, "add": names(required=False), "remove": names(required=False)}, some=("add", "remove")
    ),
    "set_condition": OperationKind({"target": _TARGET, "if": text_or_null()}),
    "set_on_failure": OperationKind({"target": _TARGET, "on_failure": choice(*_POLICY)}),
    "set_retries": OperationKind(
        {
            "target": _TARGET,
            "max_retries": whole(0, 5),
            "retry_delay": _duration(0, 3600, "at most `1h`", required=False),
        }
    ),
    "set_timeout": OperationKind({"target": _TARGET, "timeout": _duration(1, 1800, "`1s` to `30m`")}),
    "set_loop_timeouts": OperationKind(
        {
            "target": _TARGET,
            "timeout_per_item": _duration(1, 21600, "at most `6h`", required=False),
            "total_timeout": _duration(1, 21600, "at most `6h`", required=False),
        },
        some=("timeout_per_item", "total_timeout"),
    ),
    "set_provider_fallback": OperationKind({"target": _TARGET, "fallbacks": _fallbacks()}),
    "set_generation": OperationKind(
        {
            "target": _TARGET,
            "temperature": number(0.0, 2.0, required=False),
            "max_tokens": whole(1, 200_000, required=False),
        },
        some=("temperature", "max_tokens"),
    ),
    "add_skill": OperationKind({"target": _TARGET, "skill": text()}),
    "set_loop_until": OperationKind({"target": _TARGET, "until": text(500)}),
    "set_loop_max_iterations": OperationKind({"target": _TARGET, "max_iterations": whole(1, 50)}),
    "set_loop_input": OperationKind({"target": _TARGET, "key": name(), "value": text(8000, least=0)}),
    "set_loop_accumulate": OperationKind({"target": _TARGET, "accumulate": name()}),
    "set_min_success_rate": OperationKind({"target": _TARGET, "value": number(0.0, 1.0)}),
    "add_loop": OperationKind(
        {
            "name": name(),
            "workflow": text(),
            "max_iterations": whole(1, 50),
            "until": text(500),
            "with": arguments(),
            "on_failure": choice(*_POLICY, required=False),
            "accumulate": name(required=False),
        }
    ),
    "add_verifier": OperationKind({"name": name(), "checks": text(), "criterion": text(2000)}),
    "set_description": OperationKind({"target": choice("workflow"), "text": text(500)}),
}


def read_operation(value: Json) -> Operation:
    """One entry of the planner's `ops`. Raises `Rejected`: `op_not_allowed`, `bad_fields`, `out_of_range`."""
    if not isinstance(value, dict) or not isinstance(value.get("op"), str):
        raise Rejected("bad_fields", "an operation must be an object with `op`")
    op = value["op"]
    kind = ENHANCER_ALLOWED_OPS.get(op)
    if kind is None:
        raise Rejected("op_not_allowed", f"`{op}` is not one of the operations that change a workflow here")
    given = {key: one for key, one in value.items() if key not in _ABOUT}
    _check_fields(op, kind, given)
    reason, addresses = value.get("reason", ""), value.get("addresses", [])
    if not isinstance(reason, str) or len(reason) > _REASON_MOST:
        raise Rejected("bad_fields", f"`reason` of `{op}` must be a string of at most {_REASON_MOST} characters")
    if not isinstance(addresses, list) or not all(isinstance(one, str) for one in addresses):
        raise Rejected("bad_fields", f"`addresses` of `{op}` must be a list of failure ids")
    file = value.get("file", "")
    if not isinstance(file, str):
        raise Rejected("bad_fields", f"`file` of `{op}` is the path of a called workflow")
    return Operation(op, given, reason, tuple(addresses), file)


def _check_fields(op: str, kind: OperationKind, given: Mapping[str, Json]) -> None:
    for key in given.keys() - kind.fields.keys():
        near = nearest(key, kind.fields)
        meant = f", did you mean `{near}`" if near else ""
        raise Rejected("bad_fields", f"`{op}` has no field `{key}`{meant}")
    for key, one in kind.fields.items():
        if key not in given:
            if one.required:
                raise Rejected("bad_fields", f"`{op}` needs `{key}`")
            continue
        wrong = one.check(given[key])
        if wrong is not None:
            raise Rejected(wrong[0], f"`{key}` of `{op}` must be {wrong[1]}")
    if kind.either and sum(key in given for key in kind.either) != 1:
        raise Rejected("bad_fields", f"`{op}` has exactly one of " + " and ".join(f"`{one}`" for one in kind.either))
    if kind.some and not any(key in given for key in kind.some):
        raise Rejected("bad_fields", f"`{op}` needs " + " or ".join(f"`{one}`" for one in kind.some))
