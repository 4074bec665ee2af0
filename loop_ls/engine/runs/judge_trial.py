"""Trying a condition: the judge of a loop, asked about outputs that exist already, as often as wished.

Nothing is run and nothing is journalled; the calls are real and cost what they cost, within the caps of
the project, and count for those of all its runs. How often the judge agrees with itself says whether the
condition is clear.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast, runtime_checkable

from loop_ls.contract.answers import Agreement, JudgeName, TrialVerdict, Verdicts
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.values import Capabilities
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Turn
from loop_ls.engine.core.null_recorder import NullRecorder
from loop_ls.engine.core.plan import ModelAccess, Plan
from loop_ls.engine.core.ports import EXHAUSTED, Exhausted, Failure, Models, Recordable
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.core.task_group import together
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.judges.choice import Choice
from loop_ls.engine.judges.condition import UntilJudge
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Cost, Ledger, cost_of, total
from loop_ls.formats.workflow.judge_question import until_question
from loop_ls.formats.workflow.model import Loop
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field, text_field

#: Questions of one trial.
MOST = 100
#: Told of each paid call as the facts of a run have it.
Paid = Callable[[JsonObject], None]


@dataclass(frozen=True, slots=True)
class Judging:
    """Who judges which loop, the run that it would be part of, and what the trial may do."""

    loop: Loop
    choice: Choice
    plan: Plan
    access: ModelAccess
    capabilities: Capabilities


@runtime_checkable
class JudgesConditions(Protocol):
    """A preparer that knows the judge of a loop without starting it."""

    async def judging(self, request: StartRequest, loop: str, models: Callable[[Plan], ModelAccess]) -> Judging:
        """As a run would ask it. Raises `Refused`."""
        ...


@dataclass(frozen=True, slots=True)
class Output:
    """A text to judge. `before` are the outputs of the iterations before it."""

    text: str
    iteration: int | None = None
    before: tuple[str, ...] = ()


async def tried(
    judging: Judging,
    outputs: Sequence[Output],
    times: object,
    shared: Sequence[Ledger],
    paid: Paid,
) -> Verdicts:
    """`{ok, verdicts: [{iteration?, verdict, answer, prompt}], agreement: [...], judge, ...}`. `shared` are accounts of
    the project; `paid` hears of every call, also of those that gave no answer. Raises `Refused`."""
    count = _times(times, len(outputs), local=judging.choice.local is not None)
    if not judging.loop.until:
        raise Refused("bad_argument", f"`{judging.loop.name}` has no `until`, so there is nothing to judge.")
    plan = judging.plan
    caps = Caps.of(plan.settings.get("limits"), plan.limits)
    accounts = Accounts(Ledger(caps), shared)
    models = GatedModels(judging.access, accounts, as_object(plan.settings.get("providers")), plan.mock)
    try:
        with permitting(lambda: judging.capabilities):
            async with asyncio.timeout(caps.seconds) as time:
                rows = await together(_one(judging, models, output, paid) for output in outputs for _ in range(count))
    except TimeoutError:
        if not time.expired():
            raise
        told = f"The trial reached the `wallClock` of {caps.seconds:g} s."
        raise Refused("limit_reached", told, "Try fewer outputs, or fewer times.") from None
    except CapReached as reached:
        raise Refused("limit_reached", reached.told, "Try fewer outputs, or fewer times.") from None
    except Exhausted as ended:
        raise Refused("provider_unavailable", ended.failure.message, ended.failure.hint) from None
    verdicts = [row for row, _ in rows]
    agreement = [_agreement(verdicts[at : at + count]) for at in range(0, len(verdicts), count)]
    return {
        "ok": True,
        "condition": judging.loop.until,
        "judge": _who(judging.choice),
        "verdicts": verdicts,
        "agreement": agreement,
        "costUsd": sum(cost.usd for _, cost in rows),
        "tokens": sum(cost.tokens for _, cost in rows),
    }


async def _one(judging: Judging, models: Models, output: Output, paid: Paid) -> tuple[TrialVerdict, Cost]:
    recorder = _Trial(paid)
    history = History()
    history.outputs += [*output.before, output.text]
    number = output.iteration or 1
    place = Place().element(judging.loop.name).turn(judging.loop.name, number)
    plan = judging.plan
    scope = Scope(plan.input or "", arguments=plan.parameters)
    judge = UntilJudge(judging.loop.until or "", judging.choice, scope, history, models, recorder)
    verdict = await judge.judge(Turn(place, number), output.text)
    judged = next((body for kind, body in reversed(recorder.facts) if kind == "judged"), {})
    asked = cast("str | None", judged.get("interpolated")) or judging.loop.until or ""
    cost = total(cost_of(body) for kind, body in recorder.facts if kind == "call")
    found: TrialVerdict = {
        "verdict": verdict.verdict,
        "answer": verdict.answer,
        "prompt": _prompt(judging.choice, asked, output.text),
    }
    if judging.choice.local is not None:
        found["local"] = True
    if warned := [text_field(body, "message") for kind, body in recorder.facts if kind == "warning"]:
        found["because"] = warned[-1]
    if output.iteration is not None:
        found["iteration"] = output.iteration
    return found, cost


def _prompt(choice: Choice, condition: str, output: str) -> str:
    return "" if choice.local is not None else until_question(condition, output, choice.impossible)


def _agreement(rows: Sequence[TrialVerdict]) -> Agreement:
    """How often the same question got the same verdict: 1.0 is always."""
    counts = Counter(row["verdict"] for row in rows)
    verdict, most = counts.most_common(1)[0]
    found: Agreement = {"times": len(rows), "verdict": verdict, "agrees": most / len(rows), "verdicts": dict(counts)}
    if "iteration" in rows[0]:
        found["iteration"] = rows[0]["iteration"]
    return found


def _who(choice: Choice) -> JudgeName:
    if choice.local is not None:
        return {"local": True}
    first = choice.targets[0]
    return {"provider": first.provider, "model": first.model}


def _times(given: object, outputs: int, local: bool) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise Refused("bad_argument", "`times` must be an integer from 1.")
    if given * outputs > MOST:
        told = f"{outputs} outputs, {given} times each, are more than the limit of {MOST} calls."
        raise Refused("limit_reached", told, "Try one output, or fewer times.")
    return 1 if local else given  # what is looked up is the same each time


@dataclass
class _Trial(NullRecorder):
    """The `Recorder` port of a trial: what happens is kept for its answer alone."""

    paid: Paid
    run_id: str = "trial"
    facts: list[Fact] = field(default_factory=list)

    def recall(self, key: str) -> object:
        return None

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Recordable]],
        facts: Callable[[Recordable], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Recordable:
        self._keep(before)
        answer = await work()
        self._keep(facts(answer))
        return answer

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: object = None) -> None:
        self._keep(facts)

    def _keep(self, facts: Iterable[Fact]) -> None:
        told = list(facts)
        self.facts += told
        for kind, body in told:
            if kind == "call":
                self.paid(body)

    async def now(self, key: str) -> float:
        return 0.0

    async def sleep(self, key: str, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def park(self, key: str, until: float, because: str) -> None:
        """A person waits for the answer: not for hours."""
        raise Exhausted(Failure(EXHAUSTED, because))


def given_output(argument: Mapping[str, Json]) -> Output | None:
    output = argument.get("output")
    if output is None:
        return None
    if not isinstance(output, str):
        raise Refused("bad_argument", "`output` must be a string.")
    return Output(plain_text(output))


def recorded_outputs(events: Iterable[Mapping[str, Json]], loop: str) -> list[Output]:
    """The outputs of a loop in a run, each with those before it."""
    found: list[Output] = []
    before: tuple[str, ...] = ()
    for event in events:
        if event.get("kind") == "iteration" and event.get("loop") == loop:
            text = str(event.get("output", ""))
            found.append(Output(text, int_field(event, "iteration"), before))
            before = (*before, text)
    return found
