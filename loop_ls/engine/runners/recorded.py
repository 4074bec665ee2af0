"""An agent's work as one recorded call of a run: paid once, shown while it goes on, counted afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial
from itertools import count

from loop_ls.contract.facts.kinds import Call, Tokens
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import EXHAUSTED, Failure, ModelFailure, Recorder
from loop_ls.engine.model_calls.ask import parked_or_ended
from loop_ls.engine.model_calls.recorded_bill import recorded_bill
from loop_ls.engine.runners.runner import Assignment, Runner, Work
from loop_ls.text.json_value import JsonObject, from_fields


async def perform(runner: Runner, work: Assignment, recorder: Recorder, place: Place, key: str) -> Work:
    """Do it once per run under `key`. Raises `Failure`, `ModelFailure` and `Stopped`. Where a usage limit is
    reached, the run waits for its reset, or fails (`Exhausted`)."""
    own = key
    for again in count(1):
        done = partial(_done, runner, work, recorder, place, own)
        try:
            answer = await recorder.call(own, done, lambda answer: _facts(from_fields(Work, answer), work, place))
            return from_fields(Work, answer)
        except Failure as failure:
            await parked_or_ended(failure, recorder, f"{own}:wait-for-reset")
        except ModelFailure as failure:
            if failure.code != EXHAUSTED:
                raise
            until = failure.details.get("until")
            same = Failure(failure.code, failure.message, failure.hint, EXHAUSTED, place.key, until)
            await parked_or_ended(same, recorder, f"{own}:wait-for-reset")
        own = f"{key}@{again + 1}"
    raise AssertionError("counting does not end")


def assigned_in(work: Callable[[], Awaitable[object]]) -> tuple[str, Assignment] | None:
    """Whom a recorded call would give which work; None where it does something else."""
    if isinstance(work, partial) and work.func is _done:
        runner, assignment = work.args[:2]
        return runner.name, assignment
    return None


async def _done(runner: Runner, work: Assignment, recorder: Recorder, place: Place, key: str) -> JsonObject:
    def hear(text: str) -> None:
        recorder.stream(text, **place.fields())

    async with recorded_bill(recorder, key, place, work.purpose) as bill:
        try:
            if not runner.program:  # a model, whose answers are bounded one by one
                return asdict(await runner.run(replace(work, bill=bill), hear))
            async with recorder.unbounded(bill) as allowed:
                budget = min((usd for usd in (work.budget_usd, allowed.usd) if usd is not None), default=None)
                done = await runner.run(replace(work, bill=allowed.bill, budget_usd=budget), hear)
                usd = allowed.told(done.usd, done.input_tokens + done.output_tokens)
                return asdict(replace(done, usd=usd))
        finally:
            recorder.streamed(**place.fields())


def _facts(done: Work, work: Assignment, place: Place) -> list[Fact]:
    call = Call(
        provider=done.runner,
        model=done.model,
        purpose=work.purpose,
        tokens=Tokens(input=done.input_tokens, output=done.output_tokens),
        usd=done.usd,
        duration=done.duration,
        response_id=done.response_id,
    )
    return [call.fact(place)]
