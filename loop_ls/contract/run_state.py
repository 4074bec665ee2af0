"""Run state: what a run is now, as it travels to every client.

Folded from facts by `engine.events.state`; a test validates what the fold answers against this type, the HTTP
description and the client's TypeScript are made from it. Fields that are None do not travel.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from loop_ls.contract.endings import Judgement, Kind, Status
from loop_ls.contract.facts.payload import Error
from loop_ls.contract.questions import Surface
from loop_ls.text.json_value import JsonObject

#: A field that nobody declared is an error.
closed = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True))


class Shortened(TypedDict):
    """What an answer with cut texts says of each of its objects."""

    lengths: NotRequired[dict[str, int]]
    """How long the texts are that were cut."""


@closed
class Target(Shortened):
    """What was started: a workflow, a loop, a step, a role loop (`definition`) or an assistant."""

    kind: str
    name: NotRequired[str | None]


@closed
class EndingView(Shortened):
    """How the run ended, in the words of `contract.endings`."""

    kind: Kind
    sign: str
    short: str
    line: str


@closed
class TokenCount(Shortened):
    input: int
    output: int


@closed
class Caps(Shortened):
    """What the run may spend: US dollars, tokens, seconds of its own time."""

    budgetUsd: NotRequired[float | None]
    maxTokens: NotRequired[float | None]
    wallClock: NotRequired[float | str | None]


@closed
class StageTurn(Shortened):
    """The stage of a role loop that is at work."""

    index: NotRequired[int | None]
    role: NotRequired[str | None]
    label: NotRequired[str | None]


@closed
class VerdictView(Shortened):
    """The last verdict on the loop that the state follows. `local`: decided without a model; `cut`: by an answer that
    ended at its length limit."""

    iteration: NotRequired[int | None]
    verdict: NotRequired[Judgement | None]
    answer: NotRequired[str | None]
    local: NotRequired[bool | None]
    cut: NotRequired[bool | None]


@closed
class ProtectedChange(TypedDict):
    """A protected file that an agent touched."""

    path: str
    change: Literal["created", "changed", "deleted"]


@closed
class PendingApproval(Shortened):
    """A decision that a person is asked for. `revise`: the answer may ask for changes. `protected`: the files that an
    agent touched; the answer `restore` puts them back. `blocked`: a stage or loop cannot continue without an answer;
    `retry` gives one."""

    loopId: NotRequired[str]
    place: NotRequired[str]
    iteration: NotRequired[int | None]
    output: NotRequired[str | None]
    revise: NotRequired[bool | None]
    protected: NotRequired[list[ProtectedChange] | None]
    blocked: NotRequired[bool | None]
    since: NotRequired[str]


@closed
class GivenAnswer(Shortened):
    """What somebody answered or ordered, `at` when, `by` whom and `via` which surface. `question` is the id of what it
    answers; a pause, a resume and a stop have none."""

    answer: str
    at: str
    by: NotRequired[str | None]
    via: NotRequired[Surface | None]
    text: NotRequired[str | None]
    question: NotRequired[str | None]


@closed
class Question(Shortened):
    """What an enhance loop asks an editor (`edit_sent`) or a person (`loop_paused`). `rejected`: a person has said no
    to the change that it is about."""

    kind: Literal["edit_sent", "loop_paused"]
    question: NotRequired[str | None]
    planId: NotRequired[str | None]
    reason: NotRequired[str | None]
    conflict: NotRequired[str | None]
    failureReason: NotRequired[str | None]
    rejected: NotRequired[bool]
    round: NotRequired[int | None]
    place: NotRequired[str | None]
    since: NotRequired[str]


@closed
class CutAnswer(Shortened):
    """An answer that was cut off at its length limit (tokens)."""

    place: NotRequired[str | None]
    purpose: NotRequired[str | None]
    maxTokens: NotRequired[int | None]


class Source(Shortened):
    """Whose answers the run takes: a fork or a replay of another run."""

    kind: NotRequired[str | None]
    runId: NotRequired[str | None]
    iteration: NotRequired[int | None]
    at: NotRequired[str | None]
    """The place from which on it does not."""
    changed: NotRequired[bool | None]
    """It was asked there with another prompt."""


#: What was done with the changes of a run that works in a worktree of its own.
ChangesDecision = Literal["applied", "kept", "discarded", "restored"]


@closed
class WorktreeView(TypedDict):
    """Where a run works that has a worktree of its own. `base`: the commit at which `branch` begins, `commit`: its last
    one. `changed`: files that differ, known at the end. `decision`: what a person did with them last."""

    branch: str
    folder: str
    base: str
    commit: str
    changed: NotRequired[int]
    decision: NotRequired[ChangesDecision]


@closed
class RunStateView(Shortened):
    """The state of one run. Times are ISO 8601 in UTC; `elapsedMs` is time in which the run was at work, without pauses
    and the time in which it waited for a person."""

    runId: str
    format: str
    name: str
    uri: NotRequired[str]
    path: NotRequired[str]
    target: NotRequired[Target]
    sessionId: NotRequired[str]
    goal: NotRequired[str]
    metadata: NotRequired[JsonObject]
    projectId: NotRequired[str]
    origin: str
    detach: NotRequired[bool]
    user: NotRequired[str]
    status: Status
    reason: NotRequired[str]
    ending: NotRequired[EndingView]
    """How the run ended; absent until it has."""
    label: NotRequired[str]
    loop: NotRequired[str]
    iteration: int
    maxIterations: NotRequired[int]
    stage: NotRequired[str]
    turn: NotRequired[StageTurn]
    dispatch: NotRequired[JsonObject]
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    lastActivityAt: NotRequired[str]
    """When something happened last."""
    deadline: NotRequired[str]
    """When the time of a role loop is up that ends after a time or at a date."""
    elapsedMs: int
    costUsd: NotRequired[float]
    unpriced: NotRequired[bool]
    """Some calls have no known price; `costUsd` is what is known."""
    simulated: NotRequired[bool]
    """Scripts gave all answers that have a price: nobody is paid `costUsd`."""
    caps: NotRequired[Caps]
    because: NotRequired[str]
    resumesAt: NotRequired[str]
    cutOff: NotRequired[list[CutAnswer]]
    source: NotRequired[Source]
    imported: NotRequired[bool]
    mock: NotRequired[bool]
    tokens: TokenCount
    calls: int
    criterion: NotRequired[JsonObject]
    verdict: NotRequired[VerdictView]
    progressLog: list[str]
    pendingApproval: NotRequired[PendingApproval]
    pendingApprovals: NotRequired[list[PendingApproval]]
    question: NotRequired[Question]
    waitingSince: NotRequired[str]
    """Since when it is paused."""
    lastAnswer: NotRequired[GivenAnswer]
    """What somebody said to it last."""
    notes: NotRequired[list[str]]
    """What people said to the run, for its next prompt."""
    worktree: NotRequired[WorktreeView]
    lastOutput: NotRequired[str]
    error: NotRequired[Error]
    mayHavePaidTwice: NotRequired[bool]
    exitCode: NotRequired[int]
    lastSeq: int
