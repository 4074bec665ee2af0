"""What a planner answered: one JSON object, checked as a whole; its operations are looked at one by one later.

The one object with `ops` is looked for between whatever else a model says: its thoughts, prose, a fence. Two of them
are no answer, and one that is cut is never completed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import TypeAdapter, ValidationError

from loop_ls.contract.facts.payload import UnfixableFailure
from loop_ls.engine.enhance.ops.catalogue import ENHANCER_ALLOWED_OPS
from loop_ls.engine.enhance.ops.operations import Field
from loop_ls.engine.journal.serialization import plain
from loop_ls.engine.model_calls.thoughts import without_thoughts
from loop_ls.text.json_value import Json, JsonObject, as_object

RATIONALE_MOST = 2000
#: More than any setting allows is no plan; trying each of a hundred thousand would hold up everything else.
OPS_MOST = 50
_KEYS = frozenset({"rationale", "ops", "unfixable", "give_up"})


def _closed(**properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


_TEXT = {"type": "string"}
#: The form of an answer for providers that hold a model to a JSON Schema: closed and all required, as the strictest of
#: them want it. The value of a field is JSON as text, whose type is that of the operation's field.
PLAN_SCHEMA = _closed(
    rationale=_TEXT,
    ops={
        "type": "array",
        "items": _closed(
            op={"type": "string", "enum": [*ENHANCER_ALLOWED_OPS]},
            target=_TEXT,
            args={"type": "array", "items": _closed(key=_TEXT, value=_TEXT)},
            reason=_TEXT,
            addresses={"type": "array", "items": _TEXT},
        ),
    },
    unfixable={"type": "array", "items": _closed(failure=_TEXT, reason=_TEXT)},
    give_up={"type": ["string", "null"]},
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """`ops` as they came; `give_up` is the planner's reason to stop, None while it goes on."""

    rationale: str
    ops: tuple[Json, ...]
    unfixable: tuple[UnfixableFailure, ...] = ()
    give_up: str | None = None


class NoPlan(Exception):
    """The answer cannot be used; the message tells the planner what is wrong with it."""


def read_answer(answer: str) -> Proposal:
    """Raises `NoPlan` with a sentence that a repair request quotes."""
    value = _object_in(without_thoughts(answer))
    if unknown := sorted(value.keys() - _KEYS):
        raise NoPlan(f"the answer has no field `{unknown[0]}`")
    rationale, ops = value.get("rationale"), _list_in(value.get("ops"))
    if not isinstance(rationale, str) or not 1 <= len(rationale.strip()) <= RATIONALE_MOST:
        raise NoPlan(f"`rationale` must be a string of 1 to {RATIONALE_MOST} characters")
    if not isinstance(ops, list):
        raise NoPlan("`ops` must be a list of operations")
    if len(ops) > OPS_MOST:
        raise NoPlan(f"`ops` has {len(ops)} entries; the limit is {OPS_MOST}")
    return Proposal(rationale.strip(), tuple(map(_flat, ops)), _unfixable(value.get("unfixable")), _give_up(value, ops))


def _list_in(ops: Json) -> Json:
    """Some models write the list as a text: it is read once, and a text in that one is none."""
    if not isinstance(ops, str):
        return ops
    try:
        return cast("Json", plain(json.loads(ops)))
    except (ValueError, RecursionError):
        return ops


def _object_in(answer: str) -> dict[str, Json]:
    """Raises `NoPlan` where there is not exactly one object that could be a plan."""
    found: list[dict[str, Json]] = []
    decoder, at, problem = json.JSONDecoder(), answer.find("{"), ""
    while at >= 0:
        try:
            value, end = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError) as error:
            problem = problem or ("nested too deeply" if isinstance(error, RecursionError) else str(error))
            if not found and '"ops"' in answer[at:]:
                break  # cut, or no JSON: what stands inside of it is no plan
            end = at + 1
        else:
            if isinstance(value, dict) and "ops" in value:
                found.append(plain(value))
        at = answer.find("{", end)
    if len(found) > 1:
        raise NoPlan("the answer contains several JSON objects with `ops`")
    if not found:
        raise NoPlan(f"the answer is not one JSON object with `ops`{': ' + problem if problem else ''}")
    return found[0]


def _flat(op: Json) -> Json:
    """Fields as `args: [{key, value}]`, as one closed schema for all operations has them, are fields all the same."""
    if not isinstance(op, dict) or not isinstance(op.get("args"), list):
        return op
    kind = ENHANCER_ALLOWED_OPS.get(str(op.get("op")))
    fields = {} if kind is None else kind.fields
    given: JsonObject = {}
    for one in op["args"]:
        if not isinstance(one, dict) or not isinstance(one.get("key"), str) or "value" not in one:
            return op
        given[one["key"]] = _typed(one["value"], fields.get(one["key"]))
    rest = {key: one for key, one in op.items() if key != "args"}
    if kind is not None and "target" not in fields and "target" in rest:
        named = rest.pop("target")  # the form has a target for all, and what is added has a name
        given = {**({"name": named} if named and "name" in fields else {}), **given}
    return {**given, **rest}


def _typed(value: Json, field: Field | None) -> Json:
    """A value that came as text, as what its field is; as it came where that cannot be read."""
    if not isinstance(value, str) or field is None or field.schema.get("type") == "string" or "enum" in field.schema:
        return value
    if field.schema.get("type") == ["string", "null"]:
        return None if value.strip() in ("", "null") else value
    try:
        return cast("Json", plain(json.loads(value)))
    except (ValueError, RecursionError):
        return value


def _unfixable(value: Json) -> tuple[UnfixableFailure, ...]:
    if value is None:
        return ()
    try:
        given = TypeAdapter(tuple[UnfixableFailure, ...]).validate_python(value)
        return tuple(UnfixableFailure(failure=one.failure, reason=one.reason) for one in given)
    except ValidationError:
        raise NoPlan("`unfixable` must be a list of objects with `failure` and `reason`") from None


def _give_up(value: dict[str, Json], ops: Sequence[Json]) -> str | None:
    given = value.get("give_up")
    if given is None or given == "":
        return None
    reason = given if isinstance(given, str) else as_object(given).get("reason")
    if not isinstance(reason, str):
        raise NoPlan("`give_up` must be an object with `reason`")
    if ops:
        raise NoPlan("`give_up` is allowed only with empty `ops`")
    return reason or "the planner gave up"
