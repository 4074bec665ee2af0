"""Asking models: a chain of targets, each one once, every call recorded.

A failed call is an answer too: it is kept, so a replay does not pay for it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import count
from typing import NotRequired, TypedDict, final

from loop_ls.contract.facts.kinds import Call, Retrying, Tokens, Warned
from loop_ls.contract.facts.payload import Error, Fact
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.messages import RecordedToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import (
    EXHAUSTED,
    EmbedRequest,
    Exhausted,
    Failure,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Models,
    Recorder,
    Waiting,
)
from loop_ls.engine.model_calls.recorded_bill import recorded_bill
from loop_ls.engine.protection.guard import asking
from loop_ls.formats.workflow.model import Target
from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record


class CallError(Error):
    """`until`: Unix time at which what is exhausted is there again, where that is known."""

    until: NotRequired[float]


@final
class FailedCall(TypedDict):
    """A call of a model without an answer, in the record. `booked`: what it cost is on the bill of its attempts."""

    error: CallError
    provider: str
    model: str
    booked: NotRequired[bool]


class TokenCount(TypedDict):
    input: int
    output: int


@final
class ModelAnswer(TypedDict):
    """A whole answer of a model in the record. `usd`: None where no price is known. `duration`: seconds."""

    text: str
    provider: str
    model: str
    tokens: TokenCount
    usd: float | None
    duration: float
    response: str | None
    finish: str
    maxTokens: NotRequired[int | None]
    calls: NotRequired[list[RecordedToolCall]]
    thoughts: NotRequired[str]


@equal_record
class Question:
    """A prompt and whom to send it to. `key` is where the calls are recorded, `place` what they are for.

    `once`: the caller tries again by a rule of its own, so a provider must not. `offered` gives the tools,
    when the model is really asked: a replay needs none.
    """

    place: Place
    key: str
    prompt: str
    targets: tuple[Target, ...]
    temperature: float
    max_tokens: int | None = None
    timeout: float | None = None
    purpose: str = "step"
    request_place: str = ""
    once: bool = False
    shown: dict[str, Json] = field(default_factory=dict)  # fields of streamed text
    system: str | None = None
    turns: tuple[Turn, ...] = ()
    schema: Mapping[str, Json] | None = None
    offered: Callable[[], Awaitable[tuple[ToolSpec, ...]]] | None = None
    closing: bool = False  # it is asked for an answer without tools

    def request(self, target: Target) -> ModelRequest:
        return ModelRequest(
            provider=target.provider,
            model=target.model,
            prompt=self.prompt,
            system=self.system,
            turns=self.turns,
            schema=self.schema,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout=self.timeout,
            purpose=self.purpose,
            patient=target == self.targets[-1],
            closing=self.closing,
            place=self.request_place or self.place.key,
            attempts=1 if self.once or len(self.targets) > 1 else None,
        )


async def ask(
    question: Question,
    models: Models,
    recorder: Recorder,
    before: Sequence[Fact] = (),
    then: Callable[[str], Iterable[Fact]] = lambda text: (),
) -> str:
    """The text of the first whole answer. `then` gives the facts that follow from it, in one
    transaction with it. Raises `Failure` when nobody answered."""
    return (await answered(question, models, recorder, before, lambda answer: then(answer["text"])))["text"]


async def answered(
    question: Question,
    models: Models,
    recorder: Recorder,
    before: Sequence[Fact] = (),
    then: Callable[[ModelAnswer], Iterable[Fact]] = lambda answer: (),
) -> ModelAnswer:
    """The first whole answer of the chain as it is recorded.
    Raises `Failure` when nobody answered, `Exhausted` when that is for good. Where it is known when somebody
    can be asked again, the run is parked until then."""
    key = question.key
    names = [target.provider for target in question.targets]
    async with asking(names, question.purpose, recorder, question.place, key):
        for again in count(1):
            try:
                return await _first_answer(question, key, models, recorder, before if again == 1 else (), then)
            except Failure as failure:
                await parked_or_ended(failure, recorder, f"{key}:wait-for-reset")
            key = f"{question.key}@{again + 1}"
    raise AssertionError("counting does not end")


async def parked_or_ended(failure: Failure, recorder: Recorder, key: str) -> None:
    """Comes back once the call may be made again. Raises the failure where it is no matter of quota, and
    `Exhausted` where nobody knows when that is over."""
    if failure.code != EXHAUSTED:
        raise failure
    if failure.until is None:
        raise Exhausted(failure)
    await recorder.park(key, failure.until, failure.message)


async def _first_answer(
    question: Question,
    first: str,
    models: Models,
    recorder: Recorder,
    before: Sequence[Fact],
    then: Callable[[ModelAnswer], Iterable[Fact]],
) -> ModelAnswer:
    failed: list[str] = []
    errors: list[CallError] = []
    for number, target in enumerate(question.targets, 1):
        key = first if number == 1 else f"{first}.{number}"
        answer = await recorder.call(
            key,
            partial(_asked, key, question.request(target), question, models, recorder),
            lambda answer: [*_facts(answer, question), *(() if "error" in answer else then(answer))],
            before if number == 1 else (),
        )
        if "error" not in answer:
            return answer
        errors.append(answer["error"])
        failed.append(f"{target.provider}/{target.model}: {answer['error']['message']}")
    if not errors:
        raise Failure("provider_unavailable", "no provider and model are set for this call", place=question.place.key)
    if exhausted := [
        error for error in errors if error["code"] == EXHAUSTED
    ]:  # whoever else is out of order now does not bring its quota back
        until = min((error["until"] for error in exhausted if "until" in error), default=None)
        told = exhausted[0]["message"] if len(failed) == 1 else in_one_line(failed)
        raise Failure(EXHAUSTED, told, exhausted[0]["hint"], EXHAUSTED, question.place.key, until)
    raise Failure(errors[-1]["code"], in_one_line(failed), errors[-1]["hint"], place=question.place.key)


async def _asked(
    key: str, request: ModelRequest, question: Question, models: Models, recorder: Recorder
) -> ModelAnswer | FailedCall:
    """One call: the reply, or the error that came instead."""
    notes: list[asyncio.Future[None]] = []

    def on_text(text: str) -> None:
        recorder.stream(text, **question.shown)

    def on_wait(wait: Waiting) -> None:
        """Whoever watches sees at once why nothing happens, and that the text so far is void."""
        because = Error(code="waiting", message=wait.because)
        fact = Retrying(attempt=wait.attempt, because=because, delay=wait.delay).fact(question.place)
        notes.append(asyncio.ensure_future(recorder.record(f"{key}:wait{wait.attempt}", [fact])))

    if question.offered is not None:
        request = replace(request, tools=await question.offered())
    try:
        async with recorded_bill(recorder, key, question.place, question.purpose) as bill:
            return _reply(await models.ask(replace(request, bill=bill), on_text, on_wait), request)
    except ModelFailure as failure:
        return failed_call(failure, request)
    finally:
        recorder.streamed(**question.shown)
        await asyncio.gather(*notes)


def failed_call(failure: ModelFailure, request: ModelRequest | EmbedRequest) -> FailedCall:
    """A failed call as it is recorded."""
    error: CallError = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    if "until" in failure.details:
        error["until"] = failure.details["until"]
    found: FailedCall = {"error": error, "provider": request.provider, "model": request.model}
    if failure.details.get("booked"):
        found["booked"] = True
    return found


def request_of(work: Callable[[], Awaitable[object]]) -> ModelRequest | None:
    """What a recorded call would ask of a model; None where it does something else."""
    if isinstance(work, partial) and work.func is _asked:
        request: ModelRequest = work.args[1]
        return request
    return None


def _reply(reply: ModelReply, request: ModelRequest) -> ModelAnswer:
    answer: ModelAnswer = {
        "text": reply.text,
        "provider": reply.provider,
        "model": reply.model,
        "tokens": {"input": reply.input_tokens, "output": reply.output_tokens},
        "usd": reply.usd,
        "duration": reply.duration,
        "response": reply.response_id,
        "finish": reply.finish,
        "maxTokens": reply.max_tokens or request.max_tokens,
    }
    if reply.calls:
        answer["calls"] = [call.wire() for call in reply.calls]
        answer["thoughts"] = reply.thoughts
    return answer


def facts_of_failed(answer: FailedCall, place: Place, purpose: str) -> list[Fact]:
    """What it cost is on the bill of its attempts, where it is booked."""
    if answer.get("booked"):
        return []
    call = Call(provider=answer["provider"], model=answer["model"], purpose=purpose, error=answer["error"])
    return [call.fact(place)]


def _facts(answer: ModelAnswer | FailedCall, question: Question) -> Iterable[Fact]:
    place = question.place
    if "error" in answer:
        yield from facts_of_failed(answer, place, question.purpose)
        return
    cut = answer["finish"] == "length"
    yield Call(
        provider=answer["provider"],
        model=answer["model"],
        purpose=question.purpose,
        tokens=Tokens(**answer["tokens"]),
        usd=answer["usd"],
        duration=answer["duration"],
        response_id=answer["response"],
        cut=cut or None,
        max_tokens=answer.get("maxTokens") if cut else None,
    ).fact(place)
    if cut:
        whose = "the judge's answer" if question.purpose == "judge" else f"the answer of `{place.key}`"
        limit = answer.get("maxTokens")
        told = f"`max_tokens` is {limit}" if limit else "the model's own; `max_tokens` is not set"
        yield Warned(code="cut_off", message=f"{whose} was cut off at its length limit ({told})").fact(place)
