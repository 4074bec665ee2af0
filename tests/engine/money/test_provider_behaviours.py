"""Whatever a provider reports, breaks off or charges: that is booked at least, and one call at most passes a cap."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from loop_ls.engine.core.ports import LostAttempt, ModelFailure, ModelRequest
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.providers import Providers
from tests.engine.money.paid_server import INPUT, OUTPUT, PRICE, Account, Answer, chunk, counted, events, paid_server
from tests.engine.money.paid_server import prompt_of as sent

TEXT = "word " * 200
HALF = "half " * 100
CALLS = 12
#: Tokens that one answer may have: what one call may cost follows from it.
MOST = 1000
CAP = 3.0

Respond = Callable[[dict[str, Any], int], Answer]


def usage(request: dict[str, Any], got: int, **others: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": sent(request), "completion_tokens": got, **others}}


def whole(report: Callable[[dict[str, Any], int], Any], text: str = TEXT) -> Respond:
    """A good answer, with a report of its usage."""

    def respond(request: dict[str, Any], number: int) -> Answer:
        got = counted(text)
        return Answer(events(chunk(text), chunk(None, "stop"), report(request, got)), sent(request), got)

    return respond


def reported(**fields: Any) -> Respond:
    """A good answer whose usage says exactly this."""
    return whole(lambda request, got: {"choices": [], "usage": fields})


def raw(written: str) -> Respond:
    """A good answer whose usage is written letter by letter, as JSON libraries would not."""
    return whole(lambda request, got: '{"choices": [], "usage": {' + written + "}}")


def as_written(change: Callable[[int], Any]) -> Respond:
    """Both counts, in another type."""
    return whole(
        lambda request, got: {
            "choices": [],
            "usage": {"prompt_tokens": change(sent(request)), "completion_tokens": change(got)},
        }
    )


def pieces(*found: Any, got: int, done: bool = True, hold: bool = False, tell: bool = False, **others: Any) -> Respond:
    """Whatever these events are, so many tokens of output are charged."""

    def respond(request: dict[str, Any], number: int) -> Answer:
        told = [usage(request, got)] if tell else []
        body = events(*found[:-1], *told, found[-1], done=done) if found else events(*told, done=done)
        return Answer(body, sent(request), got, hold=hold, **others)

    return respond


def broken_first(status: int, times: int = 1, then: Respond = whole(usage), body: bytes = b"{}") -> Respond:  # noqa: B008
    def respond(request: dict[str, Any], number: int) -> Answer:
        if (number - 1) % (times + 1) < times:
            return Answer(body, status=status, kind="application/json", headers="retry-after-ms: 1\r\n")
        return then(request, number)

    return respond


def in_turn(*answers: Respond) -> Respond:
    return lambda request, number: answers[(number - 1) % len(answers)](request, number)


OVERLOADED = {"error": {"type": "overloaded_error", "message": "Overloaded", "code": 529}}
THOUGHT = counted(TEXT)

OPENAI: dict[str, Respond] = {
    "reports both": whole(usage),
    "reports nothing": whole(lambda request, got: {"choices": []}),
    "reports floats": as_written(float),
    "reports digits": as_written(str),
    "reports digits with a fraction": as_written(lambda count: f"{count}.0"),
    "reports negative numbers": as_written(lambda count: -count),
    "reports booleans": as_written(bool),
    "reports lists": as_written(lambda count: [count]),
    "reports null": as_written(lambda count: None),
    "reports zero": as_written(lambda count: 0),
    "reports more than there is": as_written(lambda count: 10**40),
    "reports 400 digits": as_written(lambda count: 10**400),
    "reports strange digits": as_written(lambda count: "\u00b2"),
    "reports NaN": raw('"prompt_tokens": NaN, "completion_tokens": NaN'),
    "reports infinity": raw('"prompt_tokens": Infinity, "completion_tokens": -Infinity'),
    "reports its input only": whole(lambda request, got: {"choices": [], "usage": {"prompt_tokens": sent(request)}}),
    "reports its output only": whole(lambda request, got: {"choices": [], "usage": {"completion_tokens": got}}),
    "reports an empty usage": reported(),
    "reports a usage that is a list": whole(lambda request, got: {"choices": [], "usage": [1, 2]}),
    "reports a cost of zero": whole(lambda request, got: usage(request, got, cost=0)),
    "reports a cost below zero": whole(lambda request, got: usage(request, got, cost=-5)),
    "reports a cost that is tiny": whole(lambda request, got: usage(request, got, cost=1e-9)),
    "reports a cost that is NaN": whole(lambda request, got: usage(request, got, cost=float("nan"))),
    "reports a cost that is endless": whole(lambda request, got: usage(request, got, cost=float("inf"))),
    "reports with its last choice": lambda request, number: Answer(
        events(
            chunk(TEXT), chunk(None, "stop") | usage(request, counted(TEXT)) | {"choices": [{"finish_reason": "stop"}]}
        ),
        sent(request),
        counted(TEXT),
    ),
    "reports as it goes": lambda request, number: Answer(
        events(
            chunk("word "),
            usage(request, 1),
            chunk(TEXT.removeprefix("word ")),
            usage(request, counted(TEXT)),
            chunk(None, "stop"),
        ),
        sent(request),
        counted(TEXT),
    ),
    "reports at its first word only": lambda request, number: Answer(
        events(chunk("word "), usage(request, 1), chunk(TEXT.removeprefix("word ")), chunk(None, "stop")),
        sent(request),
        counted(TEXT),
    ),
    "takes its report back": lambda request, number: Answer(
        events(chunk(TEXT), usage(request, counted(TEXT)), chunk(None, "stop"), usage(request, 0)),
        sent(request),
        counted(TEXT),
    ),
    "reports reasoning beside its output": whole(
        lambda request, got: usage(request, got, completion_tokens_details={"reasoning_tokens": 0})
    ),
    "charges reasoning that only the total holds": lambda request, number: Answer(
        events(chunk(TEXT), chunk(None, "stop"), usage(request, 250, total_tokens=sent(request) + 650)),
        sent(request),
        650,
    ),
    "charges more reasoning than it says to have written": lambda request, number: Answer(
        events(
            chunk(TEXT),
            chunk(None, "stop"),
            usage(request, 250, completion_tokens_details={"reasoning_tokens": 400}),
        ),
        sent(request),
        650,
    ),
    "reports cached tokens": whole(
        lambda request, got: usage(request, got, prompt_tokens_details={"cached_tokens": sent(request) // 2})
    ),
    "reports cached tokens under another name": whole(
        lambda request, got: usage(request, got, prompt_cache_hit_tokens=sent(request) // 2)
    ),
    "reports more cached tokens than there are": whole(
        lambda request, got: usage(request, got, prompt_tokens_details={"cached_tokens": 10**9})
    ),
    "answers in one piece": lambda request, number: Answer(
        json.dumps(
            {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}], **usage(request, counted(TEXT))}
            | {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}
        ).encode(),
        sent(request),
        counted(TEXT),
        kind="application/json",
    ),
    "answers in one piece without a report": lambda request, number: Answer(
        json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}).encode(),
        sent(request),
        counted(TEXT),
        kind="application/json",
    ),
    "only thinks": pieces(chunk(None, "length"), got=900, tell=True),
    "only thinks, and shows it": pieces(chunk(None, None, reasoning_content=TEXT), chunk(None, "length"), got=THOUGHT),
    "only thinks, and calls it reasoning": pieces(
        chunk(None, None, reasoning=TEXT), chunk(None, "length"), got=THOUGHT
    ),
    "thinks and answers without a report": pieces(
        chunk(None, None, reasoning_content=TEXT), chunk(TEXT), chunk(None, "stop"), got=2 * THOUGHT
    ),
    "is overloaded in the middle": pieces(chunk(HALF), OVERLOADED, got=counted(HALF)),
    "is overloaded in the middle, and reports": pieces(chunk(HALF), OVERLOADED, got=900, tell=True),
    "is overloaded in its thoughts": pieces(chunk(None, None, reasoning_content=TEXT), OVERLOADED, got=THOUGHT),
    "is overloaded every other time": in_turn(pieces(chunk(HALF), OVERLOADED, got=900, tell=True), whole(usage)),
    "ends without an end": pieces(chunk(HALF), got=counted(HALF), done=False),
    "ends without an end, and reports": pieces(chunk(HALF), chunk(HALF), got=900, tell=True),
    "ends in the middle of an event": pieces(chunk(HALF), '{"choices": [{"delta"', got=counted(HALF), done=False),
    "says something that is not valid JSON": pieces(chunk(HALF), "<html>", got=counted(HALF)),
    "says a list": pieces(chunk(HALF), "[1, 2]", got=counted(HALF)),
    "says choices of another shape": pieces(chunk(HALF), {"choices": [{"delta": 7}]}, got=counted(HALF)),
    "filters its answer": pieces(chunk(HALF), chunk(None, "content_filter"), got=counted(HALF)),
    "refuses": pieces(chunk(None, None, refusal="I must not."), chunk(None, "stop"), got=5),
    "refuses in a part of its content": pieces(
        chunk([{"type": "refusal", "refusal": TEXT}]),  # type: ignore[arg-type]
        chunk(None, "stop"),
        got=counted(TEXT),
    ),
    "refuses, and reports": pieces(chunk(None, None, refusal="I must not."), chunk(None, "stop"), got=700, tell=True),
    "is empty": pieces(chunk(""), chunk(None, "stop"), got=0),
    "is empty, and reports": pieces(chunk(" "), chunk(None, "stop"), got=600, tell=True),
    "asks for a tool that nobody offered": pieces(
        chunk(None, None, tool_calls=[{"index": 0, "id": "1", "function": {"name": "rm", "arguments": '{"a": 1}'}}]),
        chunk(None, "tool_calls"),
        got=300,
        tell=True,
    ),
    "asks for a tool that nobody offered, beside words": pieces(
        chunk(HALF),
        chunk(None, None, tool_calls=[{"index": 0, "id": "1", "function": {"name": "rm", "arguments": HALF}}]),
        chunk(None, "tool_calls"),
        got=2 * counted(HALF),
    ),
    "ends at the length limit": pieces(chunk(TEXT), chunk(None, "length"), got=counted(TEXT)),
    "falls silent in the middle": pieces(chunk(HALF), got=counted(HALF), done=False, hold=True),
    "never says a word": pieces(got=0, done=False, hold=True),
    "begins with a byte-order mark": lambda request, number: Answer(
        b"\xef\xbb\xbf" + events(chunk(TEXT), chunk(None, "stop"), usage(request, counted(TEXT))),
        sent(request),
        counted(TEXT),
    ),
    "ends its lines with returns": lambda request, number: Answer(
        events(chunk(TEXT), chunk(None, "stop"), usage(request, counted(TEXT))).replace(b"\n", b"\r"),
        sent(request),
        counted(TEXT),
    ),
    "is out of order once": broken_first(500),
    "is out of order twice": broken_first(503, 2),
    "is busy once": broken_first(429),
    "reports an error with a strange code": broken_first(200, body=b'{"error": {"code": "\xc2\xb2"}}'),
    "reports an error with a code of 5,000 digits": broken_first(
        200, body=b'{"error": {"code": "' + b"9" * 5000 + b'"}}'
    ),
    "reports an error whose code is a list": pieces(chunk(HALF), {"error": {"code": [529]}}, got=counted(HALF)),
    "asks for tools under an index that is none": pieces(
        chunk(HALF), chunk(None, None, tool_calls=[{"index": {}, "function": []}]), got=counted(HALF)
    ),
    "breaks off, then answers": in_turn(pieces(chunk(HALF), got=counted(HALF), done=False), whole(usage)),
}


def message(request: dict[str, Any], *found: dict[str, Any], begun: Any = None) -> bytes:
    start = {"type": "message_start", "message": {"id": "m", "usage": begun}}
    return events(start, *found, done=False)


def delta(text: str, kind: str = "text_delta", name: str = "text") -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, name: text}}


def ended(reason: str, **counts: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    stop = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": counts}
    return stop, {"type": "message_stop"}


def spoken(*found: dict[str, Any], got: int, reports: bool = True) -> Respond:
    def respond(request: dict[str, Any], number: int) -> Answer:
        begun = {"input_tokens": sent(request), "output_tokens": 1} if reports else None
        return Answer(message(request, *found, begun=begun), sent(request), got)

    return respond


def cached(request: dict[str, Any], number: int) -> Answer:
    """Tokens that go into the cache are dearer than others."""
    begun = {"input_tokens": 0, "cache_creation_input_tokens": 400, "cache_read_input_tokens": 100}
    usd = (INPUT * (1.25 * 400 + 0.1 * 100) + OUTPUT * counted(TEXT)) / 1e6
    body = message(request, delta(TEXT), *ended("end_turn", output_tokens=counted(TEXT)), begun=begun)
    return Answer(body, usd=usd)


def cached_for_an_hour(request: dict[str, Any], number: int) -> Answer:
    """Those that are kept for an hour are dearer still."""
    kinds = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300}
    begun = {"input_tokens": 0, "cache_creation_input_tokens": 400, "cache_creation": kinds}
    usd = (INPUT * (1.25 * 100 + 2 * 300) + OUTPUT * counted(TEXT)) / 1e6
    body = message(request, delta(TEXT), *ended("end_turn", output_tokens=counted(TEXT)), begun=begun)
    return Answer(body, usd=usd)


ANTHROPIC: dict[str, Respond] = {
    "reports both": spoken(delta(TEXT), *ended("end_turn", output_tokens=counted(TEXT)), got=counted(TEXT)),
    "reports nothing": spoken(delta(TEXT), *ended("end_turn"), got=counted(TEXT), reports=False),
    "reports at its beginning only": spoken(delta(TEXT), *ended("end_turn"), got=counted(TEXT)),
    "reports before it only thinks": spoken(
        delta(TEXT, "thinking_delta", "thinking"), *ended("max_tokens"), got=THOUGHT
    ),
    "reports floats": spoken(delta(TEXT), *ended("end_turn", output_tokens=250.0), got=250),
    "reports negative numbers": spoken(delta(TEXT), *ended("end_turn", output_tokens=-250), got=250, reports=False),
    "reports cached tokens": cached,
    "reports tokens that are cached for an hour": cached_for_an_hour,
    "reports counts of another shape": spoken(
        delta(TEXT), *ended("end_turn", output_tokens=10**400, cache_creation=[1]), got=counted(TEXT)
    ),
    "is overloaded in the middle": spoken(delta(HALF), {"type": "error", **OVERLOADED}, got=counted(HALF)),
    "is overloaded before a word": spoken({"type": "error", **OVERLOADED}, got=0),
    "ends without an end": spoken(delta(HALF), got=counted(HALF)),
    "only thinks": spoken(delta(TEXT, "thinking_delta", "thinking"), *ended("max_tokens", output_tokens=900), got=900),
    "only thinks without a report": spoken(
        delta(TEXT, "thinking_delta", "thinking"), *ended("max_tokens"), got=THOUGHT, reports=False
    ),
    "refuses": spoken(delta("I must not."), *ended("refusal", output_tokens=40), got=40),
    "is out of order once": broken_first(529, then=spoken(delta(TEXT), *ended("end_turn", output_tokens=250), got=250)),
}

BEHAVIOURS = [("openai", name, each) for name, each in OPENAI.items()] + [
    ("anthropic", name, each) for name, each in ANTHROPIC.items()
]


class RecordingBill:
    """A bill that counts."""

    def __init__(self) -> None:
        self.attempts: list[LostAttempt] = []

    def lost(self, attempt: LostAttempt) -> None:
        self.attempts.append(attempt)

    async def again(self) -> None:
        return


def is_silent(name: str) -> bool:
    """Whether a provider of this behaviour is left alone because it says nothing any more."""
    return "silent" in name or "word" in name.split()[-1:]


class Spent:
    """What a run of calls under a cap has booked. `silent`: its limits of time are to pass."""

    def __init__(
        self, account: Account, kind: str, cap: float | None = CAP, silent: bool = False, **settings: Any
    ) -> None:
        url = f"{account.url}/v1" if kind == "openai" else account.url
        limits = {"timeoutSeconds": 0.3, "idleSeconds": 0.2} if silent else {"timeoutSeconds": 90, "idleSeconds": 60}
        self.settings = {"house": {"kind": kind, "baseUrl": url, "price": PRICE, **limits}, **settings}
        self.house = Providers({})
        self.ledger, self.bill, self.answered = Ledger(Caps(usd=cap)), RecordingBill(), 0.0
        self.models = GatedModels(self.house.models(self.settings), self.ledger, self.settings, environ={})

    async def call(self, provider: str = "house", **more: Any) -> None:
        request = ModelRequest(provider, "m", f"Say a lot. {'Please. ' * 20}", max_tokens=MOST, bill=self.bill, **more)
        try:
            reply = await self.models.ask(request)
            self.answered += reply.usd or 0.0
        except ModelFailure:
            pass

    @property
    def booked(self) -> float:
        return self.answered + sum(attempt.usd or 0.0 for attempt in self.bill.attempts)


def one_call(account: Account) -> float:
    """What one call may cost at most: its prompt, and an answer that is as long as it may be."""
    prompt = max((sent(request) for request in account.requests), default=0)
    return (INPUT * 1.25 * (prompt + 500) + OUTPUT * MOST) / 1e6


@pytest.mark.parametrize(
    ("kind", "name", "respond"), BEHAVIOURS, ids=[f"{kind}: {name}" for kind, name, _ in BEHAVIOURS]
)
async def test_what_is_charged_is_booked_and_the_cap_holds(
    kind: str, name: str, respond: Respond, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.retry.FIRST_WAIT", 0.001)
    monkeypatch.setattr("loop_ls.engine.providers.limits.circuit_breaker.PAUSE_NEAR", 0.0)
    calls = 3 if is_silent(name) else CALLS
    async with paid_server(respond) as account:
        spent = Spent(account, kind, silent=is_silent(name))
        try:
            for _ in range(calls):
                await spent.call()
        except CapReached:
            pass
        assert account.requests
        assert spent.booked >= account.total - 1e-9, (spent.booked, account.total)
        assert account.total - CAP <= one_call(account)
        await spent.house.aclose()


async def test_calls_side_by_side_pass_the_cap_by_no_more_than_one() -> None:
    for respond in (
        OPENAI["reports nothing"],
        OPENAI["only thinks"],
        OPENAI["is overloaded in the middle, and reports"],
    ):
        async with paid_server(respond) as account:
            spent = Spent(account, "openai")
            await asyncio.gather(*(spent.call() for _ in range(CALLS)), return_exceptions=True)
            assert spent.booked >= account.total - 1e-9
            assert account.total - CAP <= one_call(account)
            await spent.house.aclose()


async def test_a_first_provider_that_gave_nothing_is_booked_beside_the_one_that_answered_instead() -> None:
    for first in ("never says a word", "is overloaded in the middle, and reports"):
        async with paid_server(OPENAI[first]) as lost, paid_server(OPENAI["reports both"]) as good:
            other = {"kind": "openai", "baseUrl": f"{good.url}/v1", "price": PRICE}
            spent = Spent(lost, "openai", cap=30.0, silent=is_silent(first), other=other)
            spent.settings["house"]["fallback"] = ["other/m"]
            for _ in range(3):
                await spent.call(attempts=1)
            assert len(good.requests) == 3
            assert spent.booked >= lost.total + good.total - 1e-9
            assert {attempt.provider for attempt in spent.bill.attempts} == {"house"}
            await spent.house.aclose()


async def test_nobody_is_asked_instead_where_the_lost_attempt_took_what_was_left() -> None:
    dear = pieces(chunk(HALF), OVERLOADED, got=3000, tell=True)
    async with paid_server(dear) as lost, paid_server(OPENAI["reports both"]) as good:
        other = {"kind": "openai", "baseUrl": f"{good.url}/v1", "price": PRICE}
        spent = Spent(lost, "openai", cap=2.0, other=other)
        spent.settings["house"]["fallback"] = ["other/m"]
        with pytest.raises(CapReached):
            await spent.call(attempts=1)
        assert good.requests == []
        await spent.house.aclose()


async def test_what_was_heard_is_not_asked_for_again_behind_anybodys_back() -> None:
    for name in ("is overloaded in the middle", "is overloaded in its thoughts", "ends without an end"):
        async with paid_server(OPENAI[name]) as account:
            spent = Spent(account, "openai", cap=None)
            await spent.call()
            assert len(account.requests) == 1, name
            assert [attempt.provider for attempt in spent.bill.attempts] == ["house"]
            await spent.house.aclose()


async def test_attempts_are_booked_without_any_cap() -> None:
    async with paid_server(OPENAI["only thinks"]) as account:
        spent = Spent(account, "openai", cap=None)
        await spent.call()
        assert spent.booked == pytest.approx(account.total)
        await spent.house.aclose()


async def test_a_call_that_is_given_up_is_booked_with_what_was_heard() -> None:
    async with paid_server(OPENAI["falls silent in the middle"]) as account:
        spent, heard = Spent(account, "openai"), asyncio.Event()
        spent.settings["house"] |= {"timeoutSeconds": 600, "idleSeconds": 600}
        request = ModelRequest("house", "m", "Say a lot.", max_tokens=MOST, bill=spent.bill)
        asking = asyncio.create_task(spent.models.ask(request, lambda text: heard.set()))
        await asyncio.wait_for(heard.wait(), 60)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert [attempt.code for attempt in spent.bill.attempts] == ["given_up"]
        assert spent.booked >= account.total
        await spent.house.aclose()


async def test_only_a_service_that_bills_what_it_says_is_believed() -> None:
    told = whole(lambda request, got: usage(request, got, cost=0.125))
    async with paid_server(told) as account:
        url = f"{account.url}/v1"
        for name, settings, environ, usd in (
            ("openrouter", {}, {"OPENROUTER_BASE_URL": url}, 0.125),
            ("openrouter", {"baseUrl": url}, {}, None),  # somebody else who calls himself so
            ("openai", {"baseUrl": url}, {}, None),
        ):
            house = Providers({f"{name.upper()}_API_KEY": "k", **environ})
            models = house.models({name: {"price": PRICE, **settings}})
            reply = await models.ask(ModelRequest(name, "m", "Say a lot."))
            assert reply.usd == pytest.approx(account.charged[-1] if usd is None else usd)
            await house.aclose()


@pytest.mark.parametrize("cost", [0, -3, -0.0, float("nan"), float("inf"), 10**400, True, "0.1", [1], None])
async def test_nor_is_such_a_service_where_what_it_says_is_no_amount(cost: Any) -> None:
    told = whole(lambda request, got: usage(request, got, cost=cost))
    async with paid_server(told) as account:
        house = Providers({"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": f"{account.url}/v1"})
        models = house.models({"openrouter": {"price": PRICE}})
        reply = await models.ask(ModelRequest("openrouter", "m", "Say a lot."))
        assert reply.usd == pytest.approx(account.total)
        await house.aclose()


async def test_what_is_reported_well_is_booked_to_the_cent() -> None:
    for name in ("reports both", "reports floats", "reports digits", "reports as it goes", "answers in one piece"):
        async with paid_server(OPENAI[name]) as account:
            spent = Spent(account, "openai")
            await spent.call()
            assert spent.booked == pytest.approx(account.total), name
            await spent.house.aclose()


async def test_a_provider_that_is_left_alone_is_waited_for_where_nobody_else_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.circuit_breaker.PAUSE_NEAR", 0.05)
    down = [True]

    def respond(request: dict[str, Any], number: int) -> Answer:
        return Answer(b"{}", status=500, kind="application/json") if down[0] else whole(usage)(request, number)

    async with paid_server(respond) as account:
        spent = Spent(account, "openai", cap=None)
        for _ in range(5):
            await spent.call(attempts=1)
        asked = len(account.requests)
        await spent.call(attempts=1)
        assert len(account.requests) == asked, "others are asked in its place"
        down[0] = False
        await spent.call(attempts=1, patient=True)
        assert len(account.requests) == asked + 1
        assert spent.answered > 0
        await spent.house.aclose()


async def test_the_last_of_a_fallback_is_waited_for_and_the_first_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.circuit_breaker.PAUSE_NEAR", 0.3)
    down = [True]

    def second(request: dict[str, Any], number: int) -> Answer:
        return Answer(b"{}", status=500, kind="application/json") if down[0] else whole(usage)(request, number)

    async with paid_server(broken_first(500, 10**6)) as first, paid_server(second) as last:
        other = {"kind": "openai", "baseUrl": f"{last.url}/v1", "price": PRICE}
        spent = Spent(first, "openai", cap=None, other=other)
        spent.settings["house"]["fallback"] = ["other/m"]
        for _ in range(5):
            await spent.call(attempts=1)
        asked, down[0] = len(first.requests), False
        await spent.call(attempts=1, patient=True)
        assert spent.answered > 0
        assert (len(first.requests), len(last.requests)) == (asked, 6)
        await spent.house.aclose()


ASKING = {"index": 0, "id": "1", "function": {"name": "search", "arguments": TEXT}}


@pytest.mark.parametrize(
    "piece",
    [
        *(chunk(TEXT), chunk(None, reasoning_content=TEXT), chunk(None, refusal=TEXT)),
        chunk(None, tool_calls=[ASKING]),
    ],
    ids=["text", "thoughts", "refusal", "arguments of a tool"],
)
async def test_an_endless_answer_is_cut_and_booked(piece: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.http.LONGEST_ANSWER", 10_000)
    endless = pieces(*(piece for _ in range(100)), got=counted(TEXT) * 10, done=False)
    async with paid_server(endless) as account:
        spent = Spent(account, "openai", cap=None)
        await spent.call()
        assert [attempt.code for attempt in spent.bill.attempts] == ["truncated"]
        assert spent.booked >= account.total
        await spent.house.aclose()


async def test_an_answer_in_one_piece_that_does_not_end_is_left_and_booked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.http.WHOLE_BODY_BYTES", 10_000)
    body = json.dumps({"choices": [{"message": {"content": TEXT * 50}, "finish_reason": "stop"}]}).encode()
    async with paid_server(lambda request, number: Answer(body, sent(request), 0, kind="application/json")) as account:
        spent = Spent(account, "openai", cap=None)
        await spent.call()
        assert spent.answered == 0
        assert [attempt.code for attempt in spent.bill.attempts] == ["bad_answer"] * len(account.requests)
        assert spent.booked >= account.total
        await spent.house.aclose()
