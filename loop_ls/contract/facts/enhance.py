"""Facts of enhance loops: rounds, failure reports, plans, edits, pauses.

Written by `engine.enhance`, read by every view of its rounds. The nested failure report keeps the snake_case names of
its own schema (`enhance/failure-report/1`), in which planners get it, too.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from loop_ls.contract.endings import PauseReason
from loop_ls.contract.facts.payload import Fact, Location, Payload, ReportModel, UnfixableFailure, WireModel
from loop_ls.contract.questions import Surface
from loop_ls.text.json_value import Json


class Totals(ReportModel):
    """How many steps of a round ended how. `fallback` are completed ones, counted there too."""

    steps: int = 0
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    fallback: int = 0
    not_run: int = 0


class ReportCost(ReportModel):
    """US dollars: of this round, of its plans, of the loop so far, and its cap."""

    round_usd: float = 0.0
    planner_usd: float = 0.0
    cumulative_usd: float = 0.0
    cap_usd: float = 0.0
    unpriced_calls: int = 0


class ReportVerifier(ReportModel):
    verdict: Literal["pass", "fail", "error", "none"] = "none"
    criterion: str = ""
    reason: str = ""


class UsedIterations(TypedDict):
    """How many were used of how many, and why the loop ended."""

    used: int
    max: int | None
    exit_reason: str | None


class ReportFailure(ReportModel):
    """One failed step, loop or execution of a round. `weight` is its `class`: hard, soft, transient, permanent."""

    id: str
    step: str
    kind: str
    weight: str = Field(validation_alias="class", serialization_alias="class")
    target: str = "step"
    range: dict[str, Json] | None = None
    fixable: bool = True
    attempts: int = 1
    error: dict[str, Json] | None = None
    output_excerpt: str = ""
    output_chars: int = 0
    output_sha256: str = ""
    verifier: ReportVerifier = ReportVerifier()
    feedback: list[str] = []
    skip_reason: str | None = None
    fallback: dict[str, Json] | None = None
    iterations: UsedIterations | None = None
    upstream: list[str] = []
    duration_ms: int = 0
    cost_usd: float = 0.0


class FailureReport(ReportModel):
    """What a round was like, with evidence."""

    schema_: str = Field(default="enhance/failure-report/1", validation_alias="schema", serialization_alias="schema")
    loop_id: str = ""
    run_id: str = ""
    round: int = 0
    workflow: dict[str, Json] = {}
    started_at: str = ""
    ended_at: str = ""
    totals: Totals = Totals()
    converged: bool = False
    mode: str = "strict"
    failures: list[ReportFailure] = []
    user_feedback: list[dict[str, Json]] = []
    cost: ReportCost = ReportCost()
    fingerprint: str | None = None
    previous_fingerprint: str | None = None
    truncated_by_budget: bool = False
    unfixable: list[UnfixableFailure] = []


class FailedStepLine(WireModel):
    """One failure as lists show it."""

    id: str = ""
    step: str
    kind: str
    weight: str = Field(default="hard", validation_alias="class", serialization_alias="class")
    range: dict[str, Json] | None = None
    message: str = ""


class Change(WireModel):
    """An operation of a plan, as people read it."""

    op: str
    target: str = ""
    reason: str = ""


class Choice(TypedDict):
    """What a person chose: the next round with what was proposed (`continue`), with the workflow as it is (`skip`), or
    none. `text` is what the document holds now; `late`: nobody chose in time."""

    choice: Literal["continue", "skip", "stop"]
    text: NotRequired[str]
    late: NotRequired[bool]


class EditAnswer(TypedDict):
    """What became of an edit. `text` is what the document holds now. `document_invalid`: a file cannot be read."""

    outcome: Literal["applied", "refused", "stale", "no_change_seen", "client_gone", "document_invalid"]
    text: NotRequired[str]
    failureReason: NotRequired[str]


class RoundNumbers(TypedDict):
    """The numbers that the facts of a round share."""

    round: int
    max_rounds: int
    spent_usd: float
    cap_usd: float


class RoundFact(Payload):
    """What every fact of a round says: which round, and what is spent of the cap so far (US dollars)."""

    round: int
    max_rounds: int | None = None
    spent_usd: float | None = None
    cap_usd: float | None = None

    def fact(self, place: Location | None = None) -> Fact:
        """Only fields of the fact itself are left out where they are None: the nested report keeps its nulls."""
        body = {name: value for name, value in self.model_dump(by_alias=True).items() if value is not None}
        return self.kind, {**place.fields(), **body} if place else body


class RoundStarted(RoundFact):
    kind = "round_started"
    text_sha256: str


class RoundFinished(RoundFact):
    kind = "round_finished"
    totals: Totals
    round_usd: float | None = None


class ReportReady(RoundFact):
    """`successful`: the workflow ended well, whatever its checks said."""

    kind = "report_ready"
    failures: list[FailedStepLine] = []
    fingerprint: str | None = None
    converged: bool = False
    successful: bool | None = None
    report: FailureReport


class LoopFixationWarning(RoundFact):
    """The same steps failed in the same way as in the round before."""

    kind = "loop_fixation_warning"
    fingerprint: str = ""
    previous_round: int | None = None
    repeated_failures: list[str] = []
    action: Literal["warn", "abort"] = "warn"
    state_label: str = "fixation-risk"


class PlannerStarted(RoundFact):
    kind = "planner_started"
    provider: str
    model: str
    attempt: int = 1


class PlannerFinished(RoundFact):
    """`ops`: how many operations the answer held. What the planner said stands here whether or not anything of it
    was accepted: why it proposes this, why it gives up, and what it holds for unfixable."""

    kind = "planner_finished"
    ops: int
    attempt: int = 1
    planner_usd: float = 0.0
    rationale: str = ""
    give_up: str | None = None
    unfixable: list[UnfixableFailure] = []


class PlannerFailed(RoundFact):
    kind = "planner_failed"
    code: str
    message: str
    attempt: int = 1
    planner_usd: float | None = None


class OpRejected(RoundFact):
    kind = "op_rejected"
    op: str
    target: str
    reason_code: str
    message: str


class OpsProposed(RoundFact):
    """`ops` are the operations that were accepted, each with the fields of its kind."""

    kind = "ops_proposed"
    plan_id: str
    ops: list[dict[str, Json]] = []
    rationale: str = ""
    unfixable: list[UnfixableFailure] = []
    diff: str = ""


class EditedFile(WireModel):
    """One file of an edit that changes several: all of them, the workflow first."""

    path: str
    uri: str
    base_sha256: str = ""
    text_sha256: str = ""
    edits: list[dict[str, Json]] = []


class EditSent(RoundFact):
    """An edit on its way to an editor, which answers `question`, or to a file (no question). With `files` it changes
    several at once; the text of an answer is then a JSON object of their paths and texts."""

    kind = "edit_sent"
    plan_id: str
    label: str = ""
    base_sha256: str = ""
    text_sha256: str = ""
    changes: list[Change] = []
    diff: str = ""
    uri: str = ""
    edits: list[dict[str, Json]] | None = None
    files: list[EditedFile] | None = None
    question: str | None = None


class EditAcknowledged(RoundFact):
    kind = "edit_acknowledged"
    plan_id: str
    text_sha256: str = ""
    question: str | None = None
    answer: EditAnswer | None = None
    by: str | None = None


class EditRefused(RoundFact):
    kind = "edit_refused"
    plan_id: str
    outcome: str = "refused"
    failure_reason: str = ""
    text_sha256: str | None = None
    question: str | None = None
    answer: EditAnswer | None = None
    by: str | None = None


class LoopPaused(RoundFact):
    """The loop waits for a person: between rounds, or because an edit did not arrive (`conflict`)."""

    kind = "loop_paused"
    question: str
    reason: PauseReason
    plan_id: str | None = None
    conflict: str | None = None
    failure_reason: str | None = None


class LoopContinued(RoundFact):
    """A person's choice. `with_edits`: the next round runs what was proposed. `by` is where it was made, in words;
    `via` is that surface, and `user` who made it."""

    kind = "loop_continued"
    question: str
    answer: Choice
    with_edits: bool
    reason: str | None = None
    plan_id: str | None = None
    conflict: str | None = None
    failure_reason: str | None = None
    by: str | None = None
    via: Surface | None = None
    user: str | None = None


class BackingOff(RoundFact):
    kind = "backing_off"
    seconds: float
    because: str = ""


class TrialCheck(WireModel):
    """What one declared check said of a trial."""

    name: str
    verdict: Literal["pass", "fail", "error"]
    reason: str = ""


class TrialFinished(RoundFact):
    """One run of the round's text on one case. `void`: it says nothing about the text (no provider, no judge).
    `held`: the planner hears nothing of it. `run` is the place below which its steps lie."""

    kind = "trial_finished"
    case: str
    outcome: Literal["pass", "fail", "void"]
    held: bool = False
    failed: list[str] = []
    checks: list[TrialCheck] = []
    usd: float = 0.0
    judge_usd: float = 0.0
    run: str = ""


class Evidence(RoundFact):
    """What the trials of the round's text say: `e` of the `wanted` against a rate of `minPassRate` or less."""

    kind = "evidence"
    trials: int
    passes: int
    e: float
    wanted: float
    cases: dict[str, tuple[int, int]] = {}  # passes and trials of each


#: What decides whether the text of a round is taken.
DecidedBy = Literal[
    "first", "probability", "screen", "regression", "cost", "holdout", "unlooked", "unfinished", "rejected"
]


class CandidateDecided(RoundFact):
    """Whether the text of the round is taken in place of the best so far (`best_round`), and what decided it."""

    kind = "candidate_decided"
    accepted: bool
    by: DecidedBy
    passes: int
    trials: int
    best_round: int | None = None
    best_passes: int | None = None
    best_trials: int | None = None
    case: str | None = None


class HoldoutLooked(RoundFact):
    """The text of the round was tried on the cases that no plan has seen."""

    kind = "holdout_looked"
    passed: int
    of: int


class Feedback(Payload):
    """What a person said of a round; `negative` rejects the step."""

    kind = "feedback"
    text: str
    negative: bool = False
    step: str | None = None
