"""What the loop machine needs of the world, as ports that are passed in.

The driver, the bodies and the judges know only these. Nothing here knows a database, a network,
a clock or a process, so the machine runs in tests without any of them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NotRequired, Protocol, TypedDict, TypeVar, cast

from loop_ls.contract.facts.kinds import ManualApprovalRequired
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.questions import Decision
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.messages import ToolCall, ToolSpec, Turn
from loop_ls.engine.core.price_table import Usage
from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record

#: What a call answers: a JSON value, so that a replay gives the same.
Recordable = TypeVar("Recordable")
#: Characters of an answer with its thoughts, of a model or a program. It is kept in the memory and in the record, so
#: who sends without end must not decide how long it is.
LONGEST_ANSWER = 16 * 1024 * 1024


class Stopped(Exception):
    """A person ended the run: the driver ends it as cancelled. Never an error of a step."""


@dataclass(eq=False)
class Failure(Exception):
    """An iteration, a step or a whole workflow could not give a result: data for the record.

    What its `on_failure` says decides what happens next. `reason` is set where the failure ends a
    loop for another reason than `error` (`timeout`, `rejected`, ...). `until`: Unix time at which what is
    exhausted is there again, where that is known. `booked`: what it cost is on the bill of its call.
    """

    code: str
    message: str
    hint: str = ""
    reason: str = "error"
    place: str = ""
    until: float | None = None
    booked: bool = False

    def __str__(self) -> str:
        return self.message


class FailureFields(TypedDict):
    """A `Failure` in the record."""

    code: str
    message: str
    hint: NotRequired[str]
    place: NotRequired[str]


class RecordedFailure(FailureFields, total=False):
    """A failure that a call raised, in the record: of a model where `kind` says so, with the fields of its class."""

    kind: Literal["model", "failure"]


class Recorded(TypedDict, total=False):
    """What the record keeps of a call: what it answered, or what it raised."""

    value: object
    raised: RecordedFailure


class EndsRun(Stopped):
    """The run fails here, whatever `on_failure` says."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Exhausted(EndsRun):
    """Quota, credit or a usage limit is used up, and nobody knows until when. Going on would only start what fails in
    the same way."""


#: The code of failures that end, or park, the whole run.
EXHAUSTED = "exhausted"


class ApprovalFields(TypedDict, total=False):
    """An `Approval` in the record."""

    approved: bool
    decision: Decision | None
    feedback: str | None


@equal_record
class Approval:
    """What a person decided. `revise` and `retry` are no approval: go on, and heed `feedback`; nor is `restore`: put
    the protected files back that the question names, and go on."""

    approved: bool
    decision: Decision
    feedback: str | None = None

    @classmethod
    def of_fact(cls, body: object) -> Approval:
        """The decision that an `approval_resolved` fact holds, or the record of one."""
        said = cast("ApprovalFields", body)
        approved = bool(said.get("approved"))
        return cls(approved, said.get("decision") or ("approve" if approved else "reject"), said.get("feedback"))


#: The part of a place under which the notes of its prompt are recorded.
NOTES = "notes"


#: The part of a place under which a prompt is recorded that a person put there in place of the usual one.
PROMPT = "prompt"


def read_notes(recorded: object) -> tuple[str, ...]:
    """Notes as they are recorded."""
    return tuple(map(str, recorded)) if isinstance(recorded, list | tuple) else ()


class Earlier(Protocol):
    """Outputs of iterations that are passed over, in order: read when somebody asks for them."""

    def last(self, back: int) -> str:
        """The last but `back - 1`; empty where there are not so many."""
        ...

    def __iter__(self) -> Iterator[str]: ...


class NoOutputs:
    """Nothing was passed over."""

    def last(self, back: int) -> str:
        return ""

    def __iter__(self) -> Iterator[str]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Skipped:
    """What of a loop is passed over on a way that was gone before: the iterations up to `before`, which left
    `earlier`, and those after `last`. `through`: all outputs before `last`; of a loop that is
    `over`, all outputs."""

    before: int = 0
    last: int | None = None
    earlier: Earlier = NoOutputs()  # noqa: RUF009 - it has no state
    through: Earlier | None = None
    over: bool = False


class Recorder(Protocol):
    """What a loop sees of its run: recorded calls, pause and stop, recorded time.

    Keys are logical places such as `develop/3:judge`, unique inside a run. A key that is already
    journalled answers what was recorded and does no work, whatever order replayed branches take.
    """

    run_id: str

    def recall(self, key: str) -> object:
        """What was recorded under `key`; None where nothing (or null) was."""
        ...

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Recordable]],
        facts: Callable[[Recordable], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Recordable:
        """Do `work` once per run. Its answer (a JSON value) and the facts that follow from it are
        one transaction; the call is finished when that is committed. Raises `Stopped`.

        `before` are facts that hold once the call begins (`step_started`): they are committed with
        the mark that it began. A `ModelFailure` or `Failure` of `work` is recorded like an answer
        (without `facts`) and raised again, then and in every replay."""
        ...

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: object = None) -> None:
        """Journal facts that follow from no call, once per key, and a JSON value for `recall`. Committed
        before any later call begins, not before this returns."""
        ...

    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        """Ask a person, once per place and run, and wait for the answer however long it takes: no time
        limit comes nearer. A restart goes on waiting, or knows the answer. Raises `Stopped`."""
        ...

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Recordable) -> Recordable:
        """Ask somebody outside of the engine (an editor, a person) by facts, once per key, and wait for the
        answer: the first one that the journal takes. `late` is the answer when `seconds` have passed; with
        None it is waited for however long it takes. Raises `Stopped`."""
        ...

    def skipped(self, loop: str, place: Place) -> Skipped:
        """What of this loop nobody has to go through: nothing in a run."""
        ...

    async def gate(self) -> None:
        """Wait here while the run is paused. Raises `Stopped` when it was stopped."""
        ...

    def changed(self) -> Mapping[str, Json]:
        """What people changed of the loop since it was started: `goal`, `maxIterations` (None: no limit)."""
        ...

    async def notes(self, place: Place, key: str) -> tuple[str, ...]:
        """What people said to the run since the last prompt, for the prompt at `place`: taken once, and the same
        when that place asks again. Nothing for a call that `key` has the answer of."""
        ...

    async def changed_prompt(self, place: Place) -> str | None:
        """What a person put in place of the prompt at `place`, in this run alone; None: it is asked as usual."""
        ...

    async def iterated(self, place: Place, loop: str, number: int, verdict: str | None) -> None:
        """An iteration is over, with its verdict (None: nobody judged it): what keeps the work of each does so now."""
        ...

    async def hold(self, key: str, reason: Literal["stalled"]) -> None:
        """Pause the run from inside, once per key: it waits at its next gate until somebody resumes it."""
        ...

    async def park(self, key: str, until: float, because: str) -> None:
        """Pause the run, once per key, until that moment (Unix time) has come or somebody resumes it before.
        It goes on by itself, after a restart too. Raises `Stopped`."""
        ...

    def undivided(self) -> AbstractContextManager[None]:
        """What is called inside belongs together (a stage with its tools): a pause waits for its end."""
        ...

    def stream(self, text: str, **place: Json) -> None:
        """Show streamed text (kind `text`): never journalled, may be throttled. Its last letters may be held
        back while they could be the beginning of a secret."""
        ...

    def streamed(self, **place: Json) -> None:
        """The text of this place has ended: show what was held back."""
        ...

    async def now(self, key: str) -> float:
        """The time (Unix seconds), recorded under `key` so that a replay reads the same."""
        ...

    async def sleep(self, key: str, seconds: float) -> None:
        """Wait; a stop ends it at once with `Stopped`. After a restart only the rest is waited."""
        ...

    def unbounded(self, bill: Bill) -> AbstractAsyncContextManager[Allowance]:
        """For work whose cost nobody can bound, an agent's: all that is left is set aside for it, so nobody else
        spends it meanwhile. Raises `Stopped` where nothing is left: the run ends."""
        ...

    def active(self) -> float:
        """Seconds that the run has worked so far: pauses and the time the engine was gone are out."""
        ...


@equal_record
class LostAttempt:
    """An attempt that was paid, wholly or in part, and gave no answer. `usd` is None where no price is known."""

    provider: str
    model: str
    code: str
    message: str
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    duration: float = 0.0
    hint: str = ""


class Bill(Protocol):
    """Where attempts without an answer are booked, at the moment in which each of them ends. What the answer
    itself costs is part of the reply."""

    def lost(self, attempt: LostAttempt) -> None: ...

    async def again(self) -> None:
        """Another attempt of the same call is about to begin. Raises `Stopped` where it is not paid for."""
        ...


@dataclass(slots=True)
class Allowance:
    """What work may spend whose cost nobody can bound. `usd`: dollars, None where nobody limits them. `bill` is
    where its lost attempts are booked, `unsaid` what counts where it does not say its cost (None: that is unknown),
    `paid` what it has cost in the end, dollars and tokens."""

    usd: float | None
    bill: Bill | None
    unsaid: float | None = None
    paid: tuple[float | None, int] | None = None

    def told(self, usd: float | None, tokens: int) -> float | None:
        """The work is done: what goes on record for it. Where it does not say its cost, a limit of dollars holds only
        if it counts for all that it was allowed."""
        counted = self.unsaid if usd is None else usd
        self.paid = counted, tokens
        return counted


@equal_record
class ModelRequest:
    """One question to one model. `prompt` is the only message; `system` is rarely set.

    `purpose` (`step`, `judge`, `planner`, ...) and `place` (such as `develop/3/write`) go to the
    record of calls and to scripted providers, never to the model. `attempts` bounds how often it is
    asked in all when a provider is busy or out of order; None: as often as the provider's rule says
    (1 where the caller has a rule of its own: `on_failure: retry`, a next provider in the chain).
    `tools` are offered, unless it is `closing`: then they are only what earlier rounds speak of, and it has to answer
    without them; `turns` are the rounds of tools since the prompt. `budget_usd` is what an agent, whose
    cost nobody can bound, may spend on it. `bill` hears of the attempts that gave no answer.
    `schema` is the JSON Schema of the answer, for providers that hold a model to one; what comes is text all the same.
    `patient`: nobody is asked after this provider and its `fallback`, so the last of them, where it is left alone
    for a while, is waited for.
    """

    provider: str
    model: str
    prompt: str
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    purpose: str = "step"
    place: str = ""
    attempts: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    turns: tuple[Turn, ...] = ()
    schema: Mapping[str, Json] | None = None
    budget_usd: float | None = None
    bill: Bill | None = field(default=None, compare=False, repr=False)
    patient: bool = False
    closing: bool = False

    @property
    def texts(self) -> Iterator[str]:
        """Everything that is sent, for whoever reckons what it may cost."""
        yield self.prompt
        if self.system:
            yield self.system
        for turn in self.turns:
            yield from turn.texts
        for tool in self.tools:
            yield f"{tool.name} {tool.description} {json.dumps(dict(tool.schema))}"
        if self.schema is not None:
            yield json.dumps(dict(self.schema))


@equal_record
class ModelReply:
    """A whole answer. `usd` is None where no price is known; `duration` in seconds. `usage` is what the
    provider itself says of it: the tokens and dollars beside it are what is booked. `max_tokens` is the limit
    under which it was asked for, where there was one.

    `finish` is `length` where `max_tokens` (or the model's own limit) ended it, `tools` where it asks for
    `calls`, else `stop`.
    """

    text: str
    provider: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    duration: float = 0.0
    response_id: str | None = None
    finish: str = "stop"
    calls: tuple[ToolCall, ...] = ()
    thoughts: str = ""
    usage: Usage | None = field(default=None, compare=False, repr=False)
    max_tokens: int | None = None


@equal_record
class EmbedRequest:
    """Texts that one model makes vectors of. Without `model` the provider's own embedding model, else
    `otherwise`. `encoding` is what the provider is asked for."""

    provider: str
    texts: tuple[str, ...]
    model: str = ""
    otherwise: str = ""
    dimensions: int | None = None
    encoding: Literal["float", "base64"] = "float"
    timeout: float | None = None
    purpose: str = "embeddings"
    place: str = ""
    attempts: int | None = None
    bill: Bill | None = field(default=None, compare=False, repr=False)


@equal_record
class EmbedReply:
    """One vector for each text, in their order: numbers, or the provider's own base64."""

    output_tokens: ClassVar[int] = 0
    vectors: tuple[list[float] | str, ...]
    provider: str
    model: str
    input_tokens: int = 0
    usd: float | None = None
    duration: float = 0.0


class FailureDetails(TypedDict, total=False):
    """What a provider's rules know of a failed call: `status`, `said` and `type` as it answered. `final`: asking
    again helps nothing, `refused`: nor does asking the one instead of it. `until`: Unix time at which what is
    exhausted is there again. `booked`: what it cost is on the bill of its attempts."""

    status: int
    said: str
    type: str
    final: bool
    refused: bool
    booked: bool
    until: float


@dataclass(eq=False)
class ModelFailure(Exception):
    """A call that gave no complete answer.

    `code`: `unknown_provider`, `missing_key`, `auth`, `not_found`, `bad_request`, `rate_limited`,
    `server`, `unreachable`, `timeout`, `truncated`, `empty`, `bad_answer`, `exhausted`. `message` is one
    sentence; `hint` says what to do. (Not frozen: Python sets `__traceback__` on what is raised.)
    """

    code: str
    message: str
    hint: str = ""
    provider: str = ""
    model: str = ""
    retry_after: float | None = None
    details: FailureDetails = field(default_factory=lambda: FailureDetails())

    def __str__(self) -> str:
        return self.message


@equal_record
class Waiting:
    """Why a call is not going on right now: the next attempt of so many comes after `delay` seconds."""

    attempt: int
    attempts: int
    delay: float
    because: str


class Models(Protocol):
    """All configured providers behind one port. Retries, limits and prices are its business."""

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        """The whole answer; `on_text` hears it as it streams in, `on_wait` hears of each wait before
        another attempt (text heard so far is void then). Raises `ModelFailure`."""
        ...

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        """A vector for each text. Raises `ModelFailure`."""
        ...
