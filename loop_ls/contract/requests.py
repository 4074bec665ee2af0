"""Requests: what operations and commands take, as types that the border checks.

Unknown names are ignored, so that a newer client may say more than this program knows; where a type refuses them it
says so. None is the same as a name that is left out. Imported by whoever checks, never at the start of the language
server; `contract.operations` says which type is whose.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

from loop_ls.contract.endings import Filter, LoopStatus
from loop_ls.contract.operations import Role
from loop_ls.contract.questions import Decision

Object = dict[str, object]
FromZero = Annotated[int, Field(ge=0)]
FromOne = Annotated[int, Field(ge=1)]
#: Whose artifacts are listed: those of one run, or of all loops of its project.
Scope = Literal["run", "project"]
TargetKind = Literal["workflow", "loop", "step", "definition", "assistant"]


class Request(BaseModel):
    """The object that an operation or a command takes: camelCase on the wire, no conversions between types."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="ignore",
        frozen=True,
        strict=True,
        defer_build=True,
        use_attribute_docstrings=True,
    )


class SnakeCaseRequest(Request):
    """One whose names are written as the document of its interface has them."""

    model_config = ConfigDict(alias_generator=None)


# -- bodies ------------------------------------------------------------------------------------------


class Start(SnakeCaseRequest):
    """A loop by the name of its definition, or what to run by its file."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["definition"]}, {"required": ["path"]}, {"required": ["uri"]}]}
    )
    definition: str | None = None
    """The name of a definition."""
    goal: str | None = None
    uri: str | None = None
    """The file to run, as a URI."""
    path: str | None = None
    """The file to run."""
    root: str | None = None
    """The workspace folder."""
    target: str | Object | None = None
    """`{kind, name?}`: workflow, loop, step, definition, ..."""
    input: str | None = None
    message: str | None = None
    parameters: Object | None = None
    max_iterations: FromOne | None = None
    max_iterations_camel: FromOne | None = Field(None, alias="maxIterations")
    limits: Object | None = None
    """`budgetUsd`, `maxTokens`, `wallClock`, `unchanged` of this run."""
    item: FromZero | None = None
    """Only this item of a loop over items."""
    provider: str | None = None
    """Whom to ask in this run, in place of those that the files name; without `model` its default one."""
    model: str | None = None
    """Of `provider`, else of the providers that the files name."""
    start_from: str | None = Field(None, alias="startFrom")
    """Of a workflow only what runs from this step or loop on. What is read of those before it is taken from `pinned`, \
else from `outputsOf`, else from the newest run of the file."""
    end_at: str | None = Field(None, alias="endAt")
    """Of a workflow only what runs up to this step or loop."""
    pinned: Object | None = None
    """Outputs of steps and loops that are not run, by their names."""
    outputs_of: str | None = Field(None, alias="outputsOf")
    """The run whose outputs stand for those of steps and loops that are not run."""
    check: Object | None = None
    """Judge the run by the checks beside its file, those of a test case among them: `{case?}`."""
    session_id: str | None = None
    session_id_camel: str | None = Field(None, alias="sessionId")
    project_id: str | None = None
    project_slug: str | None = None
    mock: bool | None = None
    consent: str | None = None
    """Proof that the owner agreed to what `consent_required` showed."""
    agree_only: bool | None = Field(None, alias="agreeOnly")
    """On the owner's own surfaces: agree to what a run may do, and start none."""
    detach: bool | None = None
    origin: str | None = None
    """Who starts it: `cli`, `editor`, `api`, `mcp`, ..."""
    texts: dict[str, str] | None = None
    """Texts of files that an editor has not saved, by their paths."""
    settings: Object | None = None
    """Settings of an editor."""
    enhance: Object | None = None
    """Whether and how the file may be changed between rounds: `{start?, editor?, headless?, uri?}`."""
    idempotency_key: str | None = Field(None, alias="idempotencyKey", min_length=1, max_length=255)
    """As the header `Idempotency-Key`, for clients that can set none."""


class Change(SnakeCaseRequest):
    """What of a loop is changed. At least one of it; a limit of null is none."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"minProperties": 1})
    goal: str = Field("", min_length=1)
    max_iterations: FromOne | None = None
    metadata: Object = {}
    labels: list[Annotated[str, Field(min_length=1)]] = []


class Control(Request):
    cause: str | None = None
    """Why, for the record."""


class Approve(Request):
    loop_id: str | None = None
    """Which loop asked; may be left out where a run asks one thing."""
    approved: bool | None = None
    decision: Decision | None = None
    """`revise` asks for another try where the project lets people do that; `restore` puts protected files back that an
    agent touched, where the question is about some; `retry` is the answer to a stage or loop that is blocked."""
    feedback: str | None = None


class Answer(Request):
    answer: str
    """One of the answers that the inbox lists for what the run waits for."""
    text: str | None = None
    """What the run is told with it: an answer, feedback, or a note for its next prompt."""
    question: str | None = None
    """The `id` from the inbox; may be left out where a run waits for one thing."""
    agent: bool | None = None
    """No person has said it: what only people may answer is refused."""


class InboxQuery(Request):
    after: FromZero | None = None
    """A position: what people were asked and told since then is in `missed`."""


class CreatePageCode(Request):
    role: Role | None = None
    """What the page may do: your role or less."""


class SignInPage(Request):
    code: str


class Note(Request):
    text: str


class DecideChanges(Request):
    decision: Literal["apply", "keep", "discard"]


class Restore(Request):
    iteration: FromOne
    loop: str | None = None
    """Which loop, where several have an iteration of this number."""


class Fork(Request):
    iteration: FromOne | None = None
    loop: str | None = None
    at: str | None = None
    """In place of `iteration`: the place of a prompt (as `/prompts` gives it) from which on everything is done anew."""
    prompt: str | None = None
    """What is asked `at` that place instead, once, in the new run."""
    consent: str | None = None
    detach: bool | None = None
    origin: str | None = None


class Replay(Request):
    uri: str | None = None
    path: str | None = None
    root: str | None = None
    texts: dict[str, str] | None = None
    origin: str | None = None


class ExportedRun(Request):
    """What an export answered as `run`."""


class TestUntil(Request):
    """Either `output` or `runId` says what is judged."""

    __test__ = False
    uri: str | None = None
    path: str | None = None
    root: str | None = None
    loop: str | None = None
    output: str | None = None
    run_id: str | None = None
    times: FromOne = 1
    mock: bool | None = None
    consent: str | None = None
    texts: dict[str, str] | None = None
    origin: str | None = None


class Acknowledge(Request):
    plan_id: str
    outcome: Literal["applied", "client_gone", "no_change_seen", "refused", "stale"]
    text: str | None = None
    failure_reason: str | None = None


class Choose(Request):
    choice: Literal["continue", "skip", "stop"]
    text: str | None = None


class Feedback(Request):
    text: str
    step: str | None = None
    negative: bool | None = None


class EngineStop(Request):
    now: bool = False
    """Calls in flight are not waited for."""


# -- queries and headers -----------------------------------------------------------------------------


class LoopListQuery(SnakeCaseRequest):
    status: Filter
    """Only loops with this status. `active` is every one that has not ended; `running` has those that wait for a \
decision, `paused` those that were interrupted, `blocked` those that cannot continue without an answer."""
    uri: str
    """Only runs of this file."""
    limit: FromZero
    """How many at most."""


class GraphQuery(SnakeCaseRequest):
    place: str
    """Of the round of an enhance loop that lies here, such as `report/2`."""


class PromptsQuery(SnakeCaseRequest):
    place: str
    """Only at this place or inside it, such as `develop/3`."""


class ArtifactsQuery(SnakeCaseRequest):
    scope: Scope
    """Of this `run` (default), or of all loops of its `project`."""


class IterationsQuery(SnakeCaseRequest):
    after: FromZero
    """Only facts with a `seq` above this."""
    limit: FromZero
    """So many iterations of the outermost loop at most (default: 50); `next` is `after` of the rest."""


class HistoryQuery(IterationsQuery):
    place: str
    """Only what happened at this place, such as `develop/3`."""
    until: FromZero
    """No fact with a `seq` above this: for a reader that wants a known part."""
    cut: FromZero
    """Texts are cut to so many characters; `lengths` of an object says how long they were."""


class EventsQuery(SnakeCaseRequest):
    after: FromZero
    """Only facts with a `seq` above this."""
    limit: FromZero
    """How many at most."""
    cut: FromZero
    """Texts are cut to so many characters; `lengths` of an object says how long they were."""


class ViewQuery(SnakeCaseRequest):
    after: FromZero
    """Only what changed after the fact with this `seq`."""
    limit: FromOne
    """So many rows, and those that changed with the last of them; with `more`, `seq` is `after` of the rest."""


class StreamQuery(SnakeCaseRequest):
    after: FromZero
    """First the facts above this position; without it, from now on."""
    run: str
    """Only this run."""


class EditorHeaders(SnakeCaseRequest):
    loop_ls_client: str = Field(alias="Loop-Ls-Client", min_length=1, max_length=255)
    """Who speaks: `cli`, `mcp`, or `editor/NAME` with a random name of the editor's process. Of a loop that was \
started with an editor's name, only that editor, or one that listens to the events with its own name, says what the \
file holds."""


class StartHeaders(EditorHeaders):
    idempotency_key: str = Field(alias="Idempotency-Key", min_length=1, max_length=255)
    """A start that is sent again with it within a day is the same run; another request with it is refused \
(`idempotency_conflict`). Each user has their own keys."""


# -- tools of agents ---------------------------------------------------------------------------------


class CheckFile(SnakeCaseRequest):
    path: str
    """The loop file, from the workspace folder."""
    text: str | None = None
    """What the file would hold, where it is not written yet."""


class EstimateFile(SnakeCaseRequest):
    path: str
    """The loop file, from the workspace folder."""
    name: str | None = None
    """Only this step, loop or assistant of it."""
    provider: str | None = None
    """Whom to ask in place of those that the files name; without `model` its default one."""
    model: str | None = None
    """Of `provider`, else of the providers that the files name."""


class ToolArgument(SnakeCaseRequest):
    """What a model gives a tool. What it leaves empty is not given; names that nobody knows are passed over."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None and not _blank(value)}


def _blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


class StartTool(ToolArgument):
    definition: str
    """Name of the definition or workflow (loop_definitions lists them), or id of an assistant."""
    goal: str
    """What the loop is to reach: the subject belongs here. The input of a workflow."""
    max_iterations: Annotated[FromOne | None, WithJsonSchema({"type": "integer", "minimum": 1})] = None
    """At most so many iterations, instead of the definition's."""
    parameters: Annotated[str | Object | None, WithJsonSchema({"type": "string"})] = None
    """A JSON object as text, with values for the parameters of the definition."""
    project_id: str = ""
    """The project by its id."""
    project_slug: str = ""
    """The project by its slug, instead of its id."""
    idempotency_key: str = ""
    """Makes a start that is sent again the same run: a new text for each start."""
    session_id: str = ""
    """The session to which artifacts and todos belong; a new one without it."""
    enhance: bool = False
    """Run the workflow repeatedly and improve its file between runs. Only where the project has set \
`enhance.applyWhenHeadless`; else your user starts it with `loop-ls enhance`."""


class ListTool(ToolArgument):
    status: Annotated[
        LoopStatus | None,
        WithJsonSchema({"type": "string", "enum": list(get_args(LoopStatus))}),
    ] = None
    """Only loops with this status."""


class StatusTool(ToolArgument):
    id: str
    """The loop; its id may be shortened."""


class ControlTool(ToolArgument):
    action: Literal["pause", "resume", "stop", "continue", "skip", "feedback"]
    """What to do. `continue`, `skip` and `feedback` are for one enhance loop that waits between rounds."""
    id: str
    """The loop, or `all`."""
    text: str = ""
    """Of `feedback`: what should be different, for the next plan."""


class InboxTool(ToolArgument):
    after: FromZero = 0
    """A position of an earlier answer: what happened since then is told, too."""


class AnswerTool(ToolArgument):
    id: str
    """The loop; its id may be shortened."""
    answer: str
    """One of the answers that loop_inbox lists for it."""
    text: str = ""
    """What the loop is told with it, such as what it asked for."""
    question: str = ""
    """Which question, where the loop waits for several things."""


class ChangesTool(ToolArgument):
    id: str
    """The loop; its id may be shortened."""
    decision: Literal["apply", "keep", "discard"] | None = None
    """What to do with the changes; without it they are shown."""


class DefinitionsTool(ToolArgument):
    """Nothing."""


class CheckTool(ToolArgument):
    path: str
    """The loop file, from the workspace folder."""
    text: str = ""
    """What the file would hold, where it is not written yet."""


class EstimateTool(ToolArgument):
    path: str
    """The loop file, from the workspace folder."""
    name: str = ""
    """Only this step, loop or assistant of it."""


# -- commands of editors -----------------------------------------------------------------------------


class Target(Request):
    """What of a file is meant. Of loops and steps a file has many, so they are named."""

    kind: TargetKind
    name: str | None = None

    @model_validator(mode="after")
    def _named(self) -> Target:
        if self.kind in ("loop", "step") and not self.name:
            raise ValueError(f"Missing `target.name`: the {self.kind}.")
        return self


class NoArgument(Request):
    uri: str | None = None


class OfRun(Request):
    run_id: str
    """A run; `all` where a command takes that."""


class ArtifactCommand(Request):
    run_id: str
    artifact: str
    """Its id, the beginning of it, or its title."""
    show: bool = False
    """Open its text in the editor, too."""


class RunCommand(Request):
    uri: str | None = None
    target: Target | None = None
    input: str | None = None
    goal: str | None = None
    message: str | None = None
    parameters: Object | None = None
    max_iterations: FromOne | None = None
    provider: str | None = None
    model: str | None = None
    mock: bool | None = None
    item: int | None = None
    start_from: str | None = None
    end_at: str | None = None
    pinned: Object | None = None
    outputs_of: str | None = None
    check: Object | None = None
    limits: Object | None = None
    session_id: str | None = None
    idempotency_key: str | None = None
    consent: str | None = None


class RunsCommand(Request):
    status: str | None = None
    uri: str | None = None
    limit: FromOne | None = None


class StatusCommand(OfRun):
    graph: bool | None = None
    place: str | None = None


class EventsCommand(OfRun):
    after_seq: int | None = None
    limit: FromOne | None = None
    cut: FromOne | None = None
    follow: bool | None = None


class ViewCommand(OfRun):
    after_seq: int | None = None
    limit: FromOne | None = None
    follow: bool | None = None


class HistoryCommand(OfRun):
    place: str | None = None
    after_seq: int | None = None
    until_seq: int | None = None
    cut: FromOne | None = None
    prompts: bool | None = None
    show: bool | None = None


class ApproveCommand(OfRun):
    loop_id: str | None = None
    approved: bool | None = None
    decision: str | None = None
    feedback: str | None = None


class AnswerCommand(OfRun):
    answer: str
    text: str | None = None
    question: str | None = None


class InboxCommand(Request):
    after: FromZero | None = None


class NoteCommand(OfRun):
    text: str


class DecideChangesCommand(OfRun):
    decision: Literal["apply", "keep", "discard"]


class RestoreCommand(OfRun):
    iteration: FromOne
    loop: str | None = None


class ForkCommand(OfRun):
    iteration: FromOne | None = None
    loop: str | None = None
    at: str | None = None
    prompt: str | None = None
    consent: str | None = None


class ReplayCommand(OfRun):
    uri: str | None = None


class ImportCommand(Request):
    run: Object
    uri: str | None = None


class OfFile(Request):
    uri: str


class TestUntilCommand(OfFile):
    __test__ = False
    loop: str
    output: str | None = None
    run_id: str | None = None
    times: FromOne | None = None
    mock: bool | None = None
    consent: str | None = None


class DefinitionsCommand(Request):
    runnables: bool | None = None


class EstimateCommand(OfFile):
    target: Target | None = None
    provider: str | None = None
    model: str | None = None


class PreviewCommand(OfFile):
    target: Target | None = None
    iteration: FromOne | None = None
    run_id: str | None = None


class EnhanceStartCommand(RunCommand):
    uri: str


class EnhanceCommand(OfFile):
    show: bool | None = None


class EnhanceFeedbackCommand(OfFile):
    text: str
    step: str | None = None
    negative: bool | None = None


class EnhanceEnableCommand(OfFile):
    enabled: bool
    overrides: Object | None = None


class EnhanceSetupCommand(Request):
    uri: str | None = None
    values: Object | None = None


class AssistantSetupCommand(OfFile):
    name: str | None = None
    values: Object | None = None
