"""Every kind of fact that a run can hold, with its fields as they travel (camelCase).

Writers build them (`Iteration(...).fact(place)`); readers get plain events and may ask for the typed
payload with `payload`. Fields that are None do not travel. Fields that a reader does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from loop_ls.contract.endings import Judgement
from loop_ls.contract.facts.payload import Error, Payload, UnfixableFailure
from loop_ls.contract.findings import ReviewFinding
from loop_ls.contract.questions import Decision, Surface
from loop_ls.text.json_value import Json

# -- the run -------------------------------------------------------------------------------------


class RunStarted(Payload):
    """`files`: path (relative to the root) -> hash of every file the run can reach.
    `target`: `{kind, name?}`. `attempt` counts starts of the same run id (1, unless it is a fork).
    `user`: whose token started it; None is the owner of the data folder. `project`: the folder whose settings count
    for it, where that is not `root`; its caps of a day and of a project are those of that folder.
    `writes`: whether its plan lets it change any file of its folder; None: an older version started it."""

    kind = "run_started"
    format: str
    name: str
    target: dict[str, Json]
    root: str = ""
    project: str | None = None
    writes: bool | None = None
    uri: str | None = None
    path: str | None = None
    limits: dict[str, Json] = {}
    settings: dict[str, Json] = {}
    attempt: int = 1
    files: dict[str, str] = {}
    input: str | None = None
    goal: str | None = None
    message: str | None = None
    parameters: dict[str, Json] = {}
    session_id: str | None = None
    origin: str = "cli"
    detach: bool = False
    mock: bool = False
    user: str | None = None
    plan: dict[str, Json] = {}
    source: dict[str, Json] | None = None
    imported: bool | None = None
    request_digest: str | None = None  # of a start with an idempotency key


class Completed(Payload):
    """`because` names the limit that ended it, in one sentence. What follows `last_output` is said of enhance
    loops; a `best_round` without a `last_successful_round` is partial, no success."""

    kind = "completed"
    reason: str
    because: str | None = None
    total_iterations: int = 0
    final_output: str = ""
    last_output: str = ""
    mode: str | None = None
    rounds_used: int | None = None
    unfixable: list[UnfixableFailure] | None = None
    best_round: int | None = None
    last_successful_round: int | None = None


class Failed(Payload):
    """`cause` is where it came from (a place); `reason` one of the failing or blocking reasons."""

    kind = "failed"
    error: Error
    reason: str = "error"
    cause: str | None = None
    iteration: int | None = None
    total_iterations: int = 0
    last_output: str | None = None


class Cancelled(Payload):
    kind = "cancelled"
    cause: Literal["user", "teardown", "shutdown"] = "user"
    total_iterations: int = 0
    last_output: str | None = None


class LoopUpdated(Payload):
    """People changed what may be changed of a loop; `unlimited`: it has no limit of iterations any more."""

    kind = "loop_updated"
    goal: str | None = None
    max_iterations: int | None = None
    unlimited: bool | None = None
    metadata: dict[str, Json] | None = None
    labels: list[str] | None = None


class Interrupted(Payload):
    """The run stands, and goes on only when a person says so, or as soon as it can be written down again."""

    kind = "interrupted"
    found_in: str
    reason: Literal["engine_restart", "journal_repaired", "disk_full", "read_only", "busy"] = "engine_restart"


class Recovered(Payload):
    """The engine came back after a crash. `in_flight`: calls that were begun and have no answer."""

    kind = "recovered"
    in_flight: list[str] = []
    may_have_paid_twice: bool = False


# -- control -------------------------------------------------------------------------------------


class Answered(Payload):
    """What somebody said to a run: `by` whom (a user, or the owner), and `via` which surface; neither where the run
    did it by itself."""

    by: str | None = None
    via: Surface | None = None


class Paused(Answered):
    """`until` (ISO 8601): the run goes on by itself then; `because` says in one sentence for what it waits."""

    kind = "paused"
    reason: Literal["user", "between_rounds", "conflict", "stalled", "exhausted"] = "user"
    until: str | None = None
    because: str | None = None


class Resumed(Answered):
    kind = "resumed"


class Stopping(Answered):
    kind = "stopping"
    cause: Literal["user", "teardown", "shutdown"] = "user"


class ManualApprovalRequired(Payload):
    """`revise`: the project lets an answer ask for changes. `protected`: files that an agent touched and must not, each
    with `path` and `change` (`created`, `changed`, `deleted`); then `restore` is an answer, too, and puts them back.
    `blocked`: a stage, or the whole loop, cannot continue without what `output` asks for; then the answers are `retry`,
    with or without a text, and `reject`."""

    kind = "manual_approval_required"
    iteration: int
    output: str
    loop_id: str
    revise: bool | None = None
    protected: list[dict[str, str]] | None = None
    blocked: bool | None = None


class ApprovalResolved(Answered):
    kind = "approval_resolved"
    loop_id: str
    approved: bool
    decision: Decision | None = None
    feedback: str | None = None


class NoteAdded(Payload):
    """What somebody who follows the run says to it. It is in the next prompt of whoever works, once."""

    kind = "note_added"
    text: str


class NoteGiven(Payload):
    """The first `notes` of those that waited are in the prompt that is asked at this place."""

    kind = "note_given"
    notes: int


class PromptChanged(Payload):
    """A person put another prompt in place of the one at this place. Its text is in the record of the run's prompts."""

    kind = "prompt_changed"


# -- a worktree of its own -----------------------------------------------------------------------


class WorktreeMade(Payload):
    """The run works in `folder`, on `branch`, which begins at the commit `base`. `left_out` are files (the first of
    them) whose uncommitted changes are not there, `left_out_total` is how many there are."""

    kind = "worktree_made"
    branch: str
    folder: str
    base: str
    left_out: list[str] | None = None
    left_out_total: int | None = None


class WorktreeCommitted(Payload):
    """What the worktree was after an iteration (its loop, number and verdict), or at the end of the run. `changed`:
    files that differ from where the branch begins, told at the end."""

    kind = "worktree_committed"
    commit: str
    iteration: int | None = None
    loop: str | None = None
    verdict: str | None = None
    changed: int | None = None


class WorktreeDecided(Payload):
    """What a person did with the changes of a run that has ended. `commit`: the branch is there now, `iteration`:
    because its state after that one was restored. `told`: what is left, and why."""

    kind = "worktree_decided"
    decision: Literal["applied", "kept", "discarded", "restored"]
    commit: str | None = None
    iteration: int | None = None
    loop: str | None = None
    changed: int | None = None
    told: str | None = None


# -- loops ---------------------------------------------------------------------------------------


class IterationStarted(Payload):
    kind = "iteration_started"
    iteration: int
    max_iterations: int | None = None
    attempt: int = 1


class Iteration(Payload):
    """A round that succeeded, with its output."""

    kind = "iteration"
    iteration: int
    output: str
    max_iterations: int | None = None


class IterationFailed(Payload):
    kind = "iteration_failed"
    iteration: int
    error: Error
    attempt: int = 1


class Progress(Payload):
    kind = "progress"
    iteration: int
    learning: str


class StageVerdict(TypedDict):
    place: str
    verdict: Judgement


class Judged(Payload):
    """`condition` as written, `interpolated` only where it differs. `output_ref` is the place of the
    `iteration` fact that was judged: question = condition + that output, rendered on reading. `cut`: the
    judge's answer ended at its length limit. `may_be_impossible`: the question offered IMPOSSIBLE as an answer.
    `findings`: what is wrong, and what was and is no more. `stages`: of a role loop whose stages judge, what each of
    them said."""

    kind = "judged"
    criterion: str
    verdict: Judgement
    iteration: int | None = None
    condition: str = ""
    interpolated: str | None = None
    output_ref: str = ""
    answer: str = ""
    local: bool = False
    cut: bool | None = None
    may_be_impossible: bool | None = None
    findings: list[ReviewFinding] | None = None
    stages: list[StageVerdict] | None = None


class DeadlineSet(Payload):
    """When the time of a role loop is up (ISO 8601)."""

    kind = "deadline_set"
    deadline: str


class Checked(Payload):
    """A declared check was decided (`NAME.checks.yaml`); `on` is what it looked at. `error`: nobody could say.
    `score` is from 0 to 1."""

    kind = "checked"
    check: str
    type: str
    verdict: Literal["pass", "fail", "error"]
    reason: str = ""
    on: str = "result"
    severity: Literal["error", "warn"] = "error"
    weight: float = 1.0
    score: float | None = None
    iteration: int | None = None


class Retrying(Payload):
    kind = "retrying"
    attempt: int
    because: Error
    delay: float = 0.0


# -- steps and stages ----------------------------------------------------------------------------


class StepStarted(Payload):
    """An element of a workflow begins: `mode` is `run`, `template`, `loop`, ...; a loop says its
    condition (as written) and limit once, here."""

    kind = "step_started"
    step: str
    mode: str = "run"
    condition: str | None = None
    max_iterations: int | None = None
    attempt: int = 1


class StepCompleted(Payload):
    """Loops add why they ended and after how many iterations."""

    kind = "step_completed"
    step: str
    output: str
    mode: str = "run"
    reason: str | None = None
    total_iterations: int | None = None


class StepFailed(Payload):
    kind = "step_failed"
    step: str
    error: Error
    mode: str = "run"
    reason: str | None = None
    total_iterations: int | None = None


class StepSkipped(Payload):
    kind = "step_skipped"
    step: str
    condition: str = ""
    mode: str = "run"


class StageStarted(Payload):
    """A turn of a role was handed to its agent: `task` names that work, `session` where it is done."""

    kind = "stage_started"
    stage: str
    role: str | None = None
    index: int | None = None
    task: str | None = None
    session: str | None = None
    model: str | None = None


class StageCompleted(Payload):
    """`artifact` holds the output for stages and people that look for it later."""

    kind = "stage_completed"
    stage: str
    output: str
    role: str | None = None
    index: int | None = None
    artifact: str | None = None


class StageFailed(Payload):
    """`dispatch`: it was never handed to an agent."""

    kind = "stage_failed"
    stage: str
    error: Error
    role: str | None = None
    index: int | None = None
    dispatch: bool | None = None


# -- calls, money, warnings ----------------------------------------------------------------------


class Tokens(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)
    input: int = 0
    output: int = 0


class Call(Payload):
    """One answered model call. `usd` is None where no price is known; `duration` in seconds. `copied`: another
    run paid for it; `discarded`: it came after the run was stopped, so nothing was made of it;
    `cut`: it ended at its length limit, `max_tokens` where there was one."""

    kind = "call"
    provider: str
    model: str
    purpose: str = "step"
    tokens: Tokens = Tokens()
    usd: float | None = None
    duration: float = 0.0
    response_id: str | None = None
    error: Error | None = None
    copied: bool | None = None
    discarded: bool | None = None
    cut: bool | None = None
    max_tokens: int | None = None


class ToolCalled(Payload):
    """A tool was called by a model; `source` is the server that answered, `arguments` JSON as written.
    The answer is in the record of the call, here is only how long it was."""

    kind = "tool_called"
    tool: str
    source: str = ""
    arguments: str = ""
    failed: bool = False
    characters: int = 0
    duration: float = 0.0


class Text(Payload):
    """Streamed output: shown, never journalled."""

    kind = "text"
    text: str


class Warned(Payload):
    """Something worth a look that stops nothing (an unknown variable, an unclear verdict)."""

    kind = "warning"
    code: str
    message: str


class BudgetWarning(Payload):
    """Most of what the run may spend is spent: dollars, tokens, or both where both have a cap."""

    kind = "budget_warning"
    spent_usd: float | None = None
    cap_usd: float | None = None
    spent_tokens: int | None = None
    cap_tokens: int | None = None


class UnchangedOutputWarning(Payload):
    """The last `repeated` outputs said the same; `empty`: they said nothing."""

    kind = "unchanged_output_warning"
    iteration: int
    repeated: int = 2
    empty: bool | None = None


def _kinds(base: type[Payload]) -> Iterator[type[Payload]]:
    for cls in base.__subclasses__():
        if cls.kind:
            yield cls
        yield from _kinds(cls)


@cache
def payloads() -> dict[str, type[Payload]]:
    """The model of each kind. Those of enhance loops have a module of their own, which no start has to wait for."""
    from loop_ls.contract.facts import enhance

    assert issubclass(enhance.RoundFact, Payload)
    return {cls.kind: cls for cls in _kinds(Payload)}


def payload(kind: str, body: dict[str, Json]) -> Payload | None:
    """The typed payload of an event; None for kinds that have no model here."""
    model = payloads().get(kind)
    return model.model_validate(body) if model else None


class _Placed(BaseModel):
    """What facts of every kind say of where they happened."""

    place: str = ""
    loop: str | None = None
    iteration: int | None = None
    depth: int = 0


def readable(kind: str, body: dict[str, Json]) -> None:
    """Raises `ValidationError` where a fact does not have the fields that readers rely on."""
    _Placed.model_validate(body, strict=True)
    if model := payloads().get(kind):
        model.model_validate(body, strict=True)
