"""What the documented interface takes and answers, as JSON Schema: shared by the table of routes.

Answers may hold more than is named here; what is named is there and of this type.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from loop_ls.contract.run_state import RunStateView
from loop_ls.engine.api.answers import STATUS
from loop_ls.engine.core.users import ROLES
from loop_ls.engine.events import Status

Schema = dict[str, Any]

STATUSES = ("active", *get_args(Status))

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FROM_ONE: Schema = {"type": "integer", "minimum": 1}
NUMBER: Schema = {"type": "number"}
ANYTHING: Schema = {}
MAPPING: Schema = {"type": "object"}


def maybe(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def shape(**properties: Schema) -> Schema:
    """An object; names that end with `_` are optional."""
    named = {name.rstrip("_"): schema for name, schema in properties.items()}
    required = [name for name in properties if not name.endswith("_")]
    return {"type": "object", "properties": named, "required": required}


def answer(**properties: Schema) -> Schema:
    return shape(ok={"const": True}, **properties)


def _of_model(name: str, model: type[BaseModel]) -> dict[str, Schema]:
    """A type of the contract and its parts, by the names under which the description has them."""
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    parts: dict[str, Schema] = schema.pop("$defs", {})
    return {name: schema, **parts}


LOOP = shape(
    id=TEXT,
    definition_name=maybe(TEXT),
    session_id=maybe(TEXT),
    goal=maybe(TEXT),
    status=TEXT,
    completion_reason=maybe(TEXT),
    current_iteration=COUNT,
    current_stage=ANYTHING,
    max_iterations=maybe(COUNT),
    termination_criteria=ANYTHING,
    metadata=MAPPING,
    user=TEXT,
    started_at=maybe(TEXT),
    completed_at=maybe(TEXT),
    elapsed_seconds=NUMBER,
    state=ref("RunState"),
)

STAGE = shape(
    stage_index=COUNT,
    name=maybe(TEXT),
    role=maybe(TEXT),
    status=TEXT,
    started_at=maybe(TEXT),
    completed_at_=maybe(TEXT),
    output_=TEXT,
    error_=MAPPING,
)

ITERATION = shape(
    id=TEXT,
    loop_id=TEXT,
    iteration_number=maybe(COUNT),
    attempt=COUNT,
    status=TEXT,
    calls=COUNT,
    tokens=MAPPING,
    stages=many(ref("Stage")),
    output_=TEXT,
    verdict_=TEXT,
    answer_=TEXT,
    question_=TEXT,
    usd_=NUMBER,
    started_at=maybe(TEXT),
    completed_at_=maybe(TEXT),
)

DEFINITION = shape(
    name=TEXT,
    format=TEXT,
    description=TEXT,
    parameters=many(MAPPING),
    roles=many(shape(role=TEXT, prompt=maybe(TEXT), max_iterations=maybe(COUNT))),
    termination=maybe(shape(type=TEXT, value=ANYTHING)),
    error_=maybe(TEXT),
)

EVENT = shape(runId=TEXT, seq=FROM_ONE, position=FROM_ONE, at=TEXT, kind=TEXT)

ERROR = shape(error=TEXT, code={"enum": sorted(STATUS)}, hint_=TEXT, details_=MAPPING)

SHOWN_LOOP = answer(loop=ref("Loop"), iteration=maybe(ref("Iteration")), stages=many(ref("Stage")))

CONTROLLED = answer(
    runs=many(shape(runId=TEXT, status=TEXT)),
    id_=TEXT,
    status_=TEXT,
)

STARTED = answer(
    runId=TEXT,
    loop_=ref("Loop"),
    iteration_=maybe(ref("Iteration")),
    stages_=many(ref("Stage")),
)

START: Schema = {
    "type": "object",
    "description": "A loop by the name of its definition, or what to run by its file.",
    "properties": {
        "definition": {**TEXT, "description": "The name of a definition."},
        "goal": TEXT,
        "uri": {**TEXT, "description": "The file to run, as a URI."},
        "path": {**TEXT, "description": "The file to run."},
        "root": {**TEXT, "description": "The workspace folder."},
        "target": {"anyOf": [TEXT, MAPPING], "description": "`{kind, name?}`: workflow, loop, step, definition, ..."},
        "input": TEXT,
        "message": TEXT,
        "parameters": MAPPING,
        "max_iterations": FROM_ONE,
        "maxIterations": FROM_ONE,
        "session_id": TEXT,
        "sessionId": TEXT,
        "project_id": TEXT,
        "project_slug": TEXT,
        "mock": FLAG,
        "consent": {**TEXT, "description": "Proof that the owner agreed to what `consent_required` showed."},
        "detach": FLAG,
        "idempotencyKey": {
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "description": "As the header `Idempotency-Key`, for clients that can set none.",
        },
    },
    "anyOf": [{"required": ["definition"]}, {"required": ["path"]}, {"required": ["uri"]}],
}

PATCH: Schema = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "minLength": 1},
        "max_iterations": maybe(FROM_ONE),
        "metadata": MAPPING,
        "labels": many({"type": "string", "minLength": 1}),
    },
    "additionalProperties": False,
    "minProperties": 1,
}

COMPONENTS: dict[str, Schema] = {
    "Loop": LOOP,
    **_of_model("RunState", RunStateView),
    "Iteration": ITERATION,
    "Stage": STAGE,
    "Definition": DEFINITION,
    "Event": EVENT,
    "Error": ERROR,
    "Role": {"enum": list(ROLES)},
}
