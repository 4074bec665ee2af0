"""Answers: what operations say when they succeed.

Answers may hold more than is named here; what is named is there and of this type. A refusal is `Error` over HTTP and
`{ok: false, code, message, hint}` everywhere else.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from loop_ls.contract.run_state import RunStateView

Object = dict[str, object]
FromZero = Annotated[int, Field(ge=0)]
FromOne = Annotated[int, Field(ge=1)]
#: A field that may be missing, and is never null.
OPTIONAL_TEXT = ""


class Part(BaseModel):
    """A value inside an answer."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class Done(Part):
    ok: Literal[True]


# -- parts -------------------------------------------------------------------------------------------


class Stage(Part):
    stage_index: FromZero
    name: str | None
    role: str | None
    status: str
    started_at: str | None
    completed_at: str | None = None
    output: str = OPTIONAL_TEXT
    error: Object = {}


class Iteration(Part):
    id: str
    loop_id: str
    iteration_number: FromZero | None
    attempt: FromZero
    status: str
    calls: FromZero
    tokens: Object
    stages: list[Stage]
    output: str = OPTIONAL_TEXT
    verdict: str = OPTIONAL_TEXT
    answer: str = OPTIONAL_TEXT
    question: str = OPTIONAL_TEXT
    usd: float = 0
    started_at: str | None
    completed_at: str | None = None


class Loop(Part):
    id: str
    definition_name: str | None
    session_id: str | None
    goal: str | None
    status: str
    completion_reason: str | None
    current_iteration: FromZero
    current_stage: object
    max_iterations: FromZero | None
    termination_criteria: object
    metadata: Object
    user: str
    started_at: str | None
    completed_at: str | None
    elapsed_seconds: float
    state: RunStateView


class DefinitionRole(Part):
    role: str
    prompt: str | None
    max_iterations: FromZero | None


class Termination(Part):
    type: str
    value: object


class Definition(Part):
    name: str
    format: str
    description: str
    parameters: list[Object]
    roles: list[DefinitionRole]
    termination: Termination | None
    error: str | None = None


class Event(Part):
    """A fact as it is told; its kind says what else it has (`contract.facts`)."""

    run_id: str = Field(alias="runId")
    seq: FromOne
    position: FromOne
    at: str
    kind: str


class Error(Part):
    error: str
    code: str
    hint: str = OPTIONAL_TEXT
    details: Object = {}


class Prompt(Part):
    place: str
    purpose: str
    prompt: str


class Node(Part):
    """A step or a loop of a run, and what it waits for."""

    name: str
    kind: str
    mode: str
    needs: list[str]


class Count(Part):
    total: FromZero
    by_status: dict[str, FromZero]


class StageCount(Part):
    total: FromZero
    by_status: Object
    by_role: Object


class Timings(Part):
    total_iteration_seconds: float
    average_iteration_seconds: float
    iteration_timings: list[Object]


class RunStatus(Part):
    run_id: str = Field(alias="runId")
    status: str


# -- answers -----------------------------------------------------------------------------------------


class LoopList(Done):
    loops: list[Loop]
    count: FromZero
    active: FromZero


class ActiveCount(Done):
    active: FromZero


class DefinitionList(Done):
    definitions: list[Definition]
    count: FromZero


class ShownLoop(Done):
    loop: Loop
    iteration: Iteration | None
    stages: list[Stage]


class StateAnswer(Done):
    state: RunStateView


class History(Done):
    loop: Loop
    history: list[Iteration]
    stages: list[Stage]
    count: FromZero
    next: FromZero | None


class Metrics(Done):
    loop_id: str
    status: str
    current_iteration: FromZero
    duration_seconds: float
    iterations: Count
    stages: StageCount
    timings: Timings
    calls: FromZero
    tokens: Object
    usd: float | None


class PromptList(Done):
    prompts: list[Prompt]
    count: FromZero


class EventPage(Done):
    events: list[Event]
    next: FromZero | None


class Graph(Done):
    nodes: list[Node]


class IterationPage(Done):
    iterations: list[Iteration]
    count: FromZero
    next: FromZero | None


class OneIteration(Done):
    iteration: Iteration
    stages: list[Stage]


class EnhanceStatus(Done):
    state: Object


class EnhanceTimeline(Done):
    status: Object
    rounds: list[Object]
    markdown: str


class Acknowledged(Done):
    plan_id: object = Field(alias="planId")


class Chosen(Done):
    choice: str


class NewRun(Done):
    run_id: str = Field(alias="runId")


class Started(NewRun):
    loop: Loop | None = None
    iteration: Iteration | None = None
    stages: list[Stage] = []


class Exported(Done):
    run: Object


class Imported(NewRun):
    known: bool


class Verdicts(Done):
    condition: str
    judge: Object
    verdicts: list[Object]
    agreement: list[Object]
    cost_usd: float = Field(alias="costUsd")
    tokens: FromZero


class Deleted(Done):
    deleted: Literal[True] | list[str]
    id: str


class Controlled(Done):
    runs: list[RunStatus]
    id: str = OPTIONAL_TEXT
    status: str = OPTIONAL_TEXT


class Approved(Done):
    resolved: object


class EngineStatus(Done):
    engine: Object


class EngineStopping(Done):
    status: str
    in_flight: FromZero = Field(alias="inFlight")


class Health(Part):
    status: str
    workspace_id: str
    version: str
    protocol: FromZero
    managers: Object
    journal: str


class OpenApi(Part):
    openapi: str
    paths: Object
