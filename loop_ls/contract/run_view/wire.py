"""Run views as they travel: what `parts` and `rounds` write. What is None does not travel; moments are ISO 8601.
`cost` is `usd` in the words of `contract.amounts`."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from loop_ls.contract.endings import Judgement
from loop_ls.contract.run_state import closed
from loop_ls.contract.run_view.parts import Status


@closed
class StageView(TypedDict):
    """A step or a stage of a row. `note`: what it waits for, or what went wrong with it. `verdict`: of a stage whose
    output approves or refuses the iteration."""

    place: str
    name: str
    mode: str
    status: Status
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    verdict: NotRequired[Judgement]
    usd: NotRequired[float]
    cost: NotRequired[str]
    tools: NotRequired[int]
    note: NotRequired[str]


@closed
class RowView(TypedDict):
    """A line of a run: the heading of a loop, a try of an iteration, or a step that lies in none. `excerpt` is the
    beginning of an output of `length` characters; `findings` say what its judge found wrong;
    `first` and `last` number its facts."""

    id: str
    kind: Literal["loop", "iteration", "step"]
    parent: NotRequired[str]
    name: str
    depth: int
    number: int
    max: NotRequired[int]
    attempt: int
    item: NotRequired[str]
    status: Status
    verdict: NotRequired[Judgement]
    local: NotRequired[bool]
    findings: NotRequired[list[str]]
    condition: NotRequired[str]
    reason: NotRequired[str]
    excerpt: str
    length: int
    usd: NotRequired[float]
    cost: NotRequired[str]
    tokens: int
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    note: NotRequired[str]
    stages: list[StageView]
    warnings: list[str]
    first: int
    last: int


@closed
class FailureView(TypedDict):
    step: str
    kind: str
    message: str


@closed
class ChangeView(TypedDict):
    op: str
    target: str
    reason: str
    code: NotRequired[str]


@closed
class CaseScore(TypedDict):
    """How often a case passed in the trials of a round."""

    case: str
    passes: int
    trials: int


@closed
class RoundFeedback(TypedDict):
    """What a person said of a round or of one of its steps; `negative`: rejected it."""

    text: str
    step: NotRequired[str]
    negative: bool


@closed
class RoundView(TypedDict):
    """What an enhance loop made of one round; `row` is the row of it. Where its text was tried on cases, `trials` is
    what that came to, and `notTaken` why it was refused."""

    number: int
    row: str
    status: Literal["running", "failed", "converged"]
    doing: NotRequired[str]
    failed: list[FailureView]
    proposed: list[ChangeView]
    rejected: list[ChangeView]
    applied: list[ChangeView]
    rationale: str
    diff: str
    usd: NotRequired[float]
    cumulativeUsd: NotRequired[float]
    cost: NotRequired[str]
    cumulativeCost: NotRequired[str]
    fixation: bool
    reported: bool
    refused: NotRequired[str]
    planned: bool
    planProblem: NotRequired[str]
    trials: NotRequired[str]
    cases: NotRequired[list[CaseScore]]
    notTaken: NotRequired[str]
    unfinished: NotRequired[bool]
    feedback: NotRequired[list[RoundFeedback]]


@closed
class NodeView(TypedDict):
    status: Status
    note: NotRequired[str]


class ViewPatch(TypedDict):
    """What is new in a view: whole rows and rounds that changed, and all nodes of the graph where one did. `seq` is the
    fact that it goes up to; with `more`, there is more to ask for after it."""

    seq: int
    rows: list[RowView]
    rounds: NotRequired[list[RoundView]]
    nodes: NotRequired[dict[str, NodeView]]
    more: NotRequired[bool]


class ViewNotice(ViewPatch):
    """`loopLs/view`: what is new in the view of an open run, since fact `after`."""

    runId: str
    after: int
