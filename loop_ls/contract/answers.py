"""Answers: what operations say when they succeed, and how they refuse.

Plain dictionaries with the types of their fields: the engine makes them, clients read them, and nothing is copied on
the way. Answers may hold more than is named here; what is named is there and of this type. pydantic reads these
types, too, for the description of the interface and for the tests that check every answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, final

from pydantic import Field
from typing_extensions import TypedDict

from loop_ls.contract.endings import Judgement, LoopStatus
from loop_ls.contract.facts.payload import Error
from loop_ls.contract.questions import Surface, Wait
from loop_ls.contract.run_state import ChangesDecision, RunStateView, TokenCount
from loop_ls.contract.run_view.wire import CaseScore, RoundFeedback, ViewPatch
from loop_ls.text.json_value import Json, JsonObject

FromZero = Annotated[int, Field(ge=0)]
FromOne = Annotated[int, Field(ge=1)]


class Done(TypedDict):
    ok: Literal[True]


class FileError(TypedDict):
    """A finding that keeps a file from being run; `line` counts from 1."""

    line: FromOne
    code: str
    message: str


class Refusal(TypedDict):
    """An operation that was refused, as every surface but HTTP hears it. Some codes say more in fields of their own."""

    ok: Literal[False]
    code: str
    message: str
    hint: str
    names: NotRequired[list[str]]
    digest: NotRequired[str]
    capabilities: NotRequired[list[Json]]
    programs: NotRequired[list[Json]]
    tools: NotRequired[list[Json]]
    endpoints: NotRequired[list[Json]]
    nonce: NotRequired[str]
    path: NotRequired[str]
    findings: NotRequired[list[FileError]]


# -- parts -------------------------------------------------------------------------------------------


class Stage(TypedDict):
    """A step of a workflow or a stage of a role loop; the latter has a `label` and a `result_summary`, and a `verdict`
    where its output approves or refuses the iteration."""

    stage_index: FromZero
    name: str | None
    role: str | None
    mode: NotRequired[str | None]
    place: NotRequired[str]
    status: str
    started_at: str | None
    completed_at: NotRequired[str | None]
    output: NotRequired[str]
    error: NotRequired[Error]
    label: NotRequired[str]
    result_summary: NotRequired[str | None]
    verdict: NotRequired[Judgement | None]


class Iteration(TypedDict):
    """`duration_seconds` is all time from its start to its end, or to now: pauses included."""

    id: str
    loop_id: str
    loop: str
    place: str
    depth: FromZero
    iteration_number: FromZero | None
    attempt: FromZero
    max_iterations: FromZero | None
    status: str
    calls: FromZero
    tokens: TokenCount
    stages: list[Stage]
    output: NotRequired[str]
    verdict: NotRequired[str]
    answer: NotRequired[str]
    question: NotRequired[str]
    condition: NotRequired[str]
    local: NotRequired[bool]
    findings: NotRequired[list[str]]
    error: NotRequired[Error]
    usd: NotRequired[float]
    started_at: str | None
    completed_at: NotRequired[str | None]
    duration_seconds: NotRequired[float]


class Loop(TypedDict):
    """`elapsed_seconds` is all time from the start to the end, or to now; `active_seconds` is the part of it in which
    the run was at work: without pauses and the time in which it waited for a person. `last_activity_at` is when
    something happened last. `deadline`: when the time of a role loop with `time_bound` is up. `configuration` is told
    of one role loop, not in lists."""

    id: str
    definition_name: str | None
    session_id: str | None
    goal: str | None
    status: LoopStatus
    completion_reason: str | None
    current_iteration: FromZero
    current_stage: Json
    max_iterations: FromZero | None
    termination_criteria: Json
    metadata: JsonObject
    user: str
    started_at: str | None
    completed_at: str | None
    last_activity_at: str | None
    deadline: str | None
    elapsed_seconds: float
    active_seconds: float
    state: RunStateView
    project_id: NotRequired[str | None]
    project: NotRequired[Json]
    configuration: NotRequired[Configuration | None]


class DefinitionRole(TypedDict):
    role: str
    prompt: str | None
    max_iterations: FromZero | None


class ConfiguredRole(DefinitionRole):
    label: str
    skills: list[str]
    gate: bool


class Termination(TypedDict):
    type: str
    value: Json


class Configuration(TypedDict):
    """The definition of a role loop as it was when the run started: later edits of the file are not in it, and the
    parameters (`resolved_parameters`) are filled in. What people changed of the run since is in its record."""

    name: str
    description: str
    roles: list[ConfiguredRole]
    termination: Termination
    parameters: list[JsonObject]
    resolved_parameters: dict[str, str]
    max_rework_attempts: FromZero


class Definition(TypedDict):
    name: str
    format: str
    description: str
    parameters: list[JsonObject]
    roles: list[DefinitionRole]
    termination: Termination | None
    error: NotRequired[str | None]


class Event(TypedDict):
    """A fact as it is told; its kind says what else it has (`contract.facts`)."""

    runId: str
    seq: FromOne
    position: FromOne
    at: str
    kind: str
    place: NotRequired[str]
    loop: NotRequired[str]
    iteration: NotRequired[int]
    depth: NotRequired[int]


class HttpRefusal(TypedDict):
    """What HTTP answers in place of an answer: the sentence, which one, and what to do."""

    error: str
    code: str
    hint: NotRequired[str]
    details: NotRequired[JsonObject]


if TYPE_CHECKING:
    #: To readers a fact is an object: its kind says what it has.
    EventObject = JsonObject
else:
    EventObject = Event


class Prompt(TypedDict):
    """What a model or an agent was asked at a place, and what it answered in the end."""

    place: str
    purpose: str
    provider: str
    model: str
    prompt: str
    system: NotRequired[str]
    answer: NotRequired[str]
    changed: NotRequired[bool]
    """A person put it in place of the prompt that the file gives."""
    changeable: NotRequired[bool]
    """It is shown as it was asked, and a fork may ask another one in its place."""


class Node(TypedDict):
    """A step or a loop of a run, and what it waits for."""

    name: str
    kind: str
    mode: str
    needs: list[str]
    condition: NotRequired[str]
    maxIterations: NotRequired[int]
    workflow: NotRequired[str]
    inner: NotRequired[list[Node]]


class Count(TypedDict):
    total: FromZero
    by_status: dict[str, FromZero]


class StageCount(TypedDict):
    total: FromZero
    by_status: JsonObject
    by_role: JsonObject


class JudgeName(TypedDict):
    """Who judged: a model, or nobody where the condition was decided without one."""

    local: NotRequired[Literal[True]]
    provider: NotRequired[str]
    model: NotRequired[str]


class TrialVerdict(TypedDict):
    """One answer to the question whether an output meets a condition; `because` says why there was no other."""

    iteration: NotRequired[int]
    verdict: str
    answer: str
    prompt: str
    local: NotRequired[Literal[True]]
    because: NotRequired[str]


class Agreement(TypedDict):
    """How often the same question got the same verdict: `agrees` 1.0 is always."""

    iteration: NotRequired[int]
    times: FromOne
    verdict: str
    agrees: float
    verdicts: dict[str, FromZero]


class Timings(TypedDict):
    total_iteration_seconds: float
    average_iteration_seconds: float
    iteration_timings: list[JsonObject]


class RunStatus(TypedDict):
    """`told`: somebody else had done it before, and who."""

    runId: str
    status: str
    told: NotRequired[str]


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
    state: RunStateView
    iteration: Iteration | None
    stages: list[Stage]


class StateAnswer(Done):
    state: RunStateView


Occasion = Literal["question", "parked", "ended"]


class RunNotification(TypedDict):
    """What the program of the setting `notify` gets on its standard input: why it is called, the workspace folder, and
    the state of the run."""

    event: Occasion
    root: str
    run: RunStateView


class History(Done):
    loop: Loop
    state: RunStateView
    history: list[Iteration]
    stages: list[Stage]
    count: FromZero
    next: FromZero | None


class Metrics(Done):
    """`duration_seconds` and the timings are all time, `active_seconds` is without pauses and the time in which the run
    waited for a person."""

    loop_id: str
    status: str
    current_iteration: FromZero
    duration_seconds: float
    active_seconds: float
    iterations: Count
    stages: StageCount
    timings: Timings
    calls: FromZero
    tokens: JsonObject
    usd: float | None


class RunList(Done):
    """What the engine answers, newest first; HTTP makes rows of it."""

    runs: list[RunStateView]


class PromptList(Done):
    prompts: list[Prompt]
    count: FromZero


class Artifact(TypedDict):
    """A text that a stage of a role loop kept, without the text itself; `characters` is its length. Whole outputs of
    stages have the type `loop_output`."""

    id: str
    type: str
    title: str
    characters: FromZero
    session_id: str | None
    project_id: str | None
    loop_id: str | None
    created_by: str | None
    created_at: str
    metadata: JsonObject


class Todo(TypedDict):
    id: str
    title: str
    status: str
    session_id: str | None
    loop_id: str | None
    created_by: str | None
    created_at: str
    updated_at: str | None


class Sprint(TypedDict):
    """The record of one iteration in its project; `note` is its summary, or why it was rejected."""

    id: str
    project_id: str | None
    loop_id: str | None
    iteration_id: str | None
    title: str
    acceptance_criteria: str | None
    status: str
    note: str | None
    transitions: list[JsonObject]
    created_at: str
    updated_at: str | None


class Memory(TypedDict):
    """A fact that a stage stored beyond its loop, for all loops of the `workspace`."""

    id: str
    text: str
    workspace: str | None
    session_id: str | None
    created_by: str | None
    created_at: str


class RunArtifacts(Done):
    """What stages wrote down, oldest first."""

    runId: str
    artifacts: list[Artifact]
    todos: list[Todo]
    sprints: list[Sprint]
    memories: list[Memory]


class OneArtifact(Done):
    runId: str
    artifact: Artifact
    content: str


class Facts(Done):
    events: list[EventObject]


class EventPage(Facts):
    next: FromZero | None


class ViewPage(ViewPatch):
    ok: Literal[True]
    state: RunStateView


class Graph(Done):
    nodes: list[Node]


class IterationPage(Done):
    iterations: list[Iteration]
    count: FromZero
    next: FromZero | None


class OneIteration(Done):
    iteration: Iteration
    stages: list[Stage]


class EnhanceState(TypedDict):
    """Where an enhance loop is, by the names of its document; `shown` is for people."""

    state: str
    round: FromZero
    maxRounds: FromZero | None
    spentUsd: float
    capUsd: float | None
    shown: NotRequired[str]
    label: NotRequired[Literal["fixation-risk"]]
    reason: NotRequired[str]
    because: NotRequired[str | None]


class RunEnhanceState(EnhanceState):
    runId: str


class EnhanceStatus(Done):
    state: RunEnhanceState


class EditOutcome(TypedDict):
    """What an editor said about an edit, after how long, or why it refused it."""

    outcome: str
    milliseconds: NotRequired[int | None]
    reason: NotRequired[str]


class TimelineRound(TypedDict):
    """One round with all that is known of it: failures, operations and changes as their facts hold them. `planned` says
    why a last round has no plan, `sent` and `ack` are about its edit. `unfinished`: what fails in it is not known.
    `feedback` is what people said of it."""

    round: FromOne
    status: Literal["running", "failed", "converged"]
    unfinished: NotRequired[bool]
    feedback: NotRequired[list[RoundFeedback]]
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    failed: list[JsonObject]
    proposed: list[JsonObject]
    rejected: list[JsonObject]
    applied: list[JsonObject]
    unfixable: list[JsonObject]
    rationale: str
    diff: str
    trials: NotRequired[str]
    cases: NotRequired[list[CaseScore]]
    notTaken: NotRequired[str]
    planned: NotRequired[str]
    label: Literal["fixation-risk", "ok"]
    planId: NotRequired[str]
    plannerUsd: NotRequired[float]
    roundUsd: NotRequired[float]
    cumulativeUsd: NotRequired[float]
    fingerprint: NotRequired[str]
    totals: NotRequired[JsonObject]
    successful: NotRequired[Json]
    sent: NotRequired[JsonObject]
    ack: NotRequired[EditOutcome]


class EnhanceTimeline(Done):
    status: EnhanceState
    rounds: list[TimelineRound]
    markdown: str


class Acknowledged(Done):
    planId: Json


class Chosen(Done):
    choice: str


class NewRun(Done):
    """`repeated`: a start with this idempotency key was made before. The rest is of role loops and enhance loops."""

    runId: str
    repeated: NotRequired[bool]
    sessionId: NotRequired[str]
    projectId: NotRequired[str]
    ignored: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


@final
class Agreed(Done):
    """What an `agreeOnly` start answers: nothing runs, and these are the sentences that were agreed to."""

    capabilities: list[str]


class Started(NewRun):
    loop: NotRequired[Loop | None]
    iteration: NotRequired[Iteration | None]
    stages: NotRequired[list[Stage]]


class Exported(Done):
    run: JsonObject


class Imported(NewRun):
    known: bool


class Verdicts(Done):
    condition: str
    judge: JudgeName
    verdicts: list[TrialVerdict]
    agreement: list[Agreement]
    costUsd: float
    tokens: FromZero


class Forgotten(Done):
    """What the engine answers: one run, or all that were removed."""

    runId: NotRequired[str]
    deleted: NotRequired[list[str]]


class Deleted(Done):
    deleted: Literal[True] | list[str]
    id: str


class Controlled(Done):
    runs: list[RunStatus]
    id: NotRequired[str]
    status: NotRequired[str]


class Resolved(TypedDict):
    """The question of a run that was answered, and how."""

    runId: str
    loopId: str
    approved: bool
    decision: NotRequired[str]
    feedback: NotRequired[str]


class Approved(Done):
    """One question, all that were asked (`all`), or whether anybody asked (assistants); then `told` says why nobody
    did, and whose answer was first."""

    resolved: Resolved | list[Resolved] | bool
    told: NotRequired[str]


class AnswerOption(TypedDict):
    """`answer` is what is sent, `title` what it is called; `text`: it may take a text along."""

    answer: str
    title: str
    text: bool


class Waiting(TypedDict):
    """One thing that a run waits for. `id` names the question where a run has several; `text` says it in a sentence,
    `context` is what it is about (an output, the question of a stage, a diff); `until`: it continues by itself then.
    `forPeople`: agents may not answer it. `by` and `via`: who paused it, and where."""

    runId: str
    name: str
    format: str
    kind: Wait
    text: str
    answers: list[AnswerOption]
    forPeople: bool
    id: NotRequired[str]
    since: NotRequired[str]
    until: NotRequired[str]
    iteration: NotRequired[int]
    context: NotRequired[str]
    path: NotRequired[str]
    user: NotRequired[str]
    by: NotRequired[str]
    via: NotRequired[Surface]


class Missed(TypedDict):
    """What a person was asked or told at a position of the journal."""

    runId: str
    name: str
    position: FromOne
    at: str
    text: str
    user: NotRequired[str]


class MissedPart(TypedDict, total=False):
    """What happened since a position; `cut`: there was more of it."""

    missed: list[Missed]
    cut: bool


class Inbox(Done, MissedPart):
    """Everything that waits for a person, the longest first. `position`: what to ask `after` for the next time, to be
    told in `missed` what happened since."""

    waiting: list[Waiting]
    position: FromZero


class Answered(Done):
    """What was answered, and with what."""

    runId: str
    kind: Wait
    answer: str


class Noted(Done):
    """`notes`: how many wait for the next prompt, this one included."""

    runId: str
    notes: FromOne


class FileChange(TypedDict):
    """One file that is not as it was where the branch of a run begins."""

    path: str
    status: Literal["added", "changed", "deleted"]


class SavedIteration(TypedDict):
    """A commit of a run in its worktree: after an iteration, or (without one) at the end."""

    commit: str
    iteration: NotRequired[int]
    loop: NotRequired[str]
    verdict: NotRequired[str]


class RunChanges(Done):
    """What a run changed in the worktree of its own, up to its last commit. `cut`: the diff goes on. `decision`: what
    was done with the changes, absent as long as nothing was."""

    runId: str
    branch: str
    folder: str
    base: str
    commit: str
    files: list[FileChange]
    diff: str
    cut: bool
    commits: list[SavedIteration]
    decision: NotRequired[ChangesDecision]


class ChangesDone(Done):
    """What was done with the changes of a run. `told`: what is left, and why."""

    runId: str
    decision: ChangesDecision
    branch: str
    commit: NotRequired[str]
    changed: NotRequired[FromZero]
    told: NotRequired[str]


class EngineState(TypedDict):
    """What an engine says about itself. `inFlight`: calls; `damaged`: runs whose record is."""

    startedAt: float
    running: FromZero
    listeners: FromZero
    position: FromZero
    inFlight: FromZero
    damaged: list[str]
    managers: JsonObject


class CheckFinding(TypedDict):
    """One finding; places count from 1, columns in code points. `diff` shows what `fix` changes."""

    line: FromOne
    column: FromOne
    rule: str
    severity: str
    message: str
    fix: NotRequired[str]
    diff: NotRequired[str]


class CheckedFile(Done):
    """`count` is the number of all findings; `findings` holds the first hundred."""

    path: str
    format: str | None
    findings: list[CheckFinding]
    count: FromZero


class LeastAndMost(TypedDict):
    min: float
    max: float


class CallBounds(TypedDict):
    """`max` is None where nothing bounds it."""

    min: FromZero
    max: FromZero | None


class FileEstimate(Done):
    """`usd` is None where a price is not known; `why` says what was assumed."""

    calls: CallBounds
    usd: LeastAndMost | None
    why: str


class EngineFacts(TypedDict):
    """The process that answers. `journal`: what is wrong with the record; empty where nothing is."""

    version: str
    protocol: FromZero
    pid: FromOne
    port: FromOne
    dataDir: str
    startedAt: str
    running: FromZero
    listeners: FromZero
    position: FromZero
    journal: str
    sandbox: str


class EngineStatus(Done):
    engine: EngineFacts


class EngineStopping(Done):
    status: str
    inFlight: FromZero


class PageCode(Done):
    """`path` leads to the page, and holds the code behind its `#`, which no browser sends."""

    code: str
    path: str
    expiresInSeconds: FromOne


class PageSignedIn(Done):
    """`expiresAt` in seconds since 1970."""

    token: str
    user: str
    role: str
    expiresAt: FromOne


class Health(TypedDict):
    status: str
    workspace_id: str
    version: str
    protocol: FromZero
    managers: JsonObject
    journal: str


class OpenApi(TypedDict):
    openapi: str
    paths: JsonObject
