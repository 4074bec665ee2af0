"""Run state: what a run is now, as it travels to every client.

Folded from facts by `engine.events.state`; a test validates what the fold answers against this model, the HTTP
description and the client's TypeScript are made from it. Fields that are None do not travel.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from loop_ls.contract.endings import Kind, Status
from loop_ls.contract.facts.payload import Json, WireModel


class StateModel(WireModel):
    """A part of a run's state: complete, so a field that nobody declared is an error."""

    model_config = ConfigDict(extra="forbid")


class Target(StateModel):
    """What was started: a workflow, a loop, a step, a role loop (`definition`) or an assistant."""

    kind: str
    name: str | None = None


class EndingView(StateModel):
    """How the run ended, in the words of `contract.endings`."""

    kind: Kind
    sign: str
    short: str
    line: str


class TokenCount(StateModel):
    input: int = 0
    output: int = 0


class Caps(StateModel):
    """What the run may spend: US dollars, tokens, seconds of its own time."""

    budget_usd: float | None = None
    max_tokens: float | None = None
    wall_clock: float | str | None = None


class StageTurn(StateModel):
    """The stage of a role loop that is at work."""

    index: int | None = None
    role: str | None = None
    label: str | None = None


class VerdictView(StateModel):
    """The last verdict on the loop that the state follows. `local`: decided without a model."""

    iteration: int | None = None
    verdict: Literal["yes", "no", "unclear", "error"] | None = None
    answer: str | None = None
    local: bool | None = None
    cut: bool | None = None


class PendingApproval(StateModel):
    """A decision that a person is asked for. `revise`: the answer may ask for changes."""

    loop_id: str | None = None
    iteration: int | None = None
    output: str | None = None
    place: str | None = None
    revise: bool | None = None


class Question(StateModel):
    """What an enhance loop asks an editor (`edit_sent`) or a person (`loop_paused`)."""

    kind: Literal["edit_sent", "loop_paused"]
    question: str | None = None
    plan_id: str | None = None
    reason: str | None = None
    conflict: str | None = None
    failure_reason: str | None = None
    round: int | None = None
    place: str | None = None


class ErrorView(WireModel):
    """A failure as data: which one, one sentence, what to do."""

    model_config = ConfigDict(extra="allow")
    code: str = ""
    message: str = ""
    hint: str | None = None


class CutAnswer(StateModel):
    """An answer that ended at its length limit (tokens)."""

    place: str = ""
    purpose: str | None = None
    max_tokens: int | None = None


class Source(WireModel):
    """Whose answers the run takes: a fork or a replay of another run."""

    model_config = ConfigDict(extra="allow")
    kind: str | None = None
    run_id: str | None = None
    iteration: int | None = None


class RunStateView(StateModel):
    """The state of one run. Times are ISO 8601 in UTC; `elapsedMs` is time in which the run was at work."""

    run_id: str
    format: str = ""
    name: str = ""
    uri: str | None = None
    path: str | None = None
    target: Target | None = None
    session_id: str | None = None
    goal: str | None = None
    metadata: dict[str, Json] | None = None
    project_id: str | None = None
    origin: str = "cli"
    detach: bool | None = None
    user: str | None = None
    status: Status
    reason: str | None = None
    ending: EndingView | None = Field(None, description="How the run ended; absent until it has.")
    label: str | None = None
    loop: str | None = None
    iteration: int = 0
    max_iterations: int | None = None
    stage: str | None = None
    turn: StageTurn | None = None
    dispatch: dict[str, Json] | None = None
    started_at: str | None = None
    ended_at: str | None = None
    elapsed_ms: int = 0
    cost_usd: float | None = None
    unpriced: bool | None = Field(None, description="Some calls have no known price; `costUsd` is what is known.")
    caps: Caps | None = None
    because: str | None = None
    resumes_at: str | None = None
    cut_off: list[CutAnswer] | None = None
    source: Source | None = None
    imported: bool | None = None
    mock: bool | None = None
    tokens: TokenCount = TokenCount()
    calls: int = 0
    criterion: dict[str, Json] | None = None
    verdict: VerdictView | None = None
    progress_log: list[str] = []
    pending_approval: PendingApproval | None = None
    pending_approvals: list[PendingApproval] | None = None
    question: Question | None = None
    last_output: str | None = None
    error: ErrorView | None = None
    may_have_paid_twice: bool | None = None
    exit_code: int | None = None
    last_seq: int = 0
