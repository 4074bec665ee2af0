"""The account of a run: what fits, what waits, what ends the run."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.ledger import Cost, Ledger


def call(usd: float, tokens: int = 0) -> tuple[str, dict[str, object]]:
    return "call", {"usd": usd, "tokens": {"input": 0, "output": tokens}}


async def test_calls_side_by_side_cannot_overshoot_together() -> None:
    ledger = Ledger(Caps(usd=1.0))
    _, first = await ledger.hold([Cost(0.6)])
    second = asyncio.create_task(ledger.hold([Cost(0.6)]))
    await asyncio.sleep(0)
    assert not second.done()
    ledger.settle(first, Cost(0.1))
    _, hold = await asyncio.wait_for(second, 60)
    assert hold.most == Cost(0.6)


async def test_what_does_not_fit_alone_ends_the_run_but_only_once_the_others_are_home() -> None:
    ledger = Ledger(Caps(usd=1.0))
    _, first = await ledger.hold([Cost(0.6)])
    second = asyncio.create_task(ledger.hold([Cost(0.6)]))
    await asyncio.sleep(0)
    ledger.settle(first, Cost(0.6))
    with pytest.raises(CapReached) as reached:
        await asyncio.wait_for(second, 60)
    assert reached.value.reason == "budget"
    assert "$0.60 of $1.00 are spent" in reached.value.told


async def test_an_answer_counts_from_the_moment_it_is_there_and_once() -> None:
    ledger = Ledger(Caps(usd=1.0))
    _, hold = await ledger.hold([Cost(0.9)])
    ledger.settle(hold, Cost(0.9))
    assert ledger.left_usd == pytest.approx(0.1)
    ledger.count([call(0.9)])
    assert ledger.left_usd == pytest.approx(0.1)


async def test_what_was_taken_beyond_a_cap_is_said_once_and_not_again_after_a_restart() -> None:
    ledger = Ledger(Caps(usd=1.0, tokens=100))
    codes = [body.get("code") for _, body in ledger.count([call(1.5, 90)])]
    assert "cap_overshot" in codes
    assert ledger.count([call(0.5, 90)]) == []
    with pytest.raises(CapReached) as reached:
        ledger.check()
    assert "used up the rest, $2.00 of $1.00 spent" in reached.value.told
    again = Ledger(spent=ledger.spent)
    again.limit(ledger.caps)
    assert again.count([call(0.1, 1)]) == []


async def test_a_call_that_cost_nothing_gives_its_place_back() -> None:
    ledger = Ledger(Caps(usd=1.0))
    _, hold = await ledger.hold([Cost(1.0)])
    ledger.settle(hold, None)
    await ledger.hold([Cost(1.0)])


async def test_a_shorter_answer_is_asked_for_before_the_run_ends() -> None:
    ledger = Ledger(Caps(tokens=100))
    number, hold = await ledger.hold([Cost(tokens=400), Cost(tokens=90)])
    assert (number, hold.most.tokens) == (1, 90)


def test_the_warning_comes_once_at_four_fifths() -> None:
    ledger = Ledger(Caps(usd=1.0, tokens=1000))
    assert ledger.count([call(0.79, 100)]) == []
    ((kind, body),) = ledger.count([call(0.01, 100)])
    assert (kind, body["spentUsd"], body["capUsd"]) == ("budget_warning", pytest.approx(0.8), 1.0)
    assert (body["spentTokens"], body["capTokens"]) == (200, 1000)
    assert ledger.count([call(0.1)]) == []


def test_a_run_that_comes_back_is_not_warned_again() -> None:
    ledger = Ledger(spent=Cost(0.9))
    ledger.limit(Caps(usd=1.0))
    assert ledger.count([call(0.05)]) == []


def test_copied_calls_were_paid_by_another_run() -> None:
    ledger = Ledger(Caps(usd=1.0))
    kind, body = call(0.9)
    ledger.count([(kind, {**body, "copied": True})])
    assert ledger.spent == Cost()


def test_who_cannot_say_what_a_call_costs_may_ask_whether_anything_is_left() -> None:
    ledger = Ledger(Caps(usd=1.0))
    ledger.check()
    ledger.count([call(1.0)])
    with pytest.raises(CapReached):
        ledger.check()
    assert Ledger().left_usd is None


def test_the_narrower_of_two_caps_holds() -> None:
    caps = Caps.of({"budgetUsd": 5, "wallClock": "10m"}, {"budgetUsd": 0.5, "maxTokens": 10}, None)
    assert caps == Caps(usd=0.5, tokens=10, seconds=600.0)
    assert Caps.of(caps.wire()) == caps


@given(
    cap=st.integers(1, 60),
    calls=st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=20),
    failing=st.sets(st.integers(0, 19)),
)
@settings(max_examples=60, deadline=None)
def test_whatever_calls_cost_and_however_they_end_the_cap_holds(
    cap: int, calls: list[tuple[int, int]], failing: set[int]
) -> None:
    """Each call: the most it may cost, and what it costs in the end, which is never more."""

    async def all_at_once() -> int:
        ledger = Ledger(Caps(tokens=cap))
        let_through = 0

        async def one(number: int, most: int, real: int) -> None:
            nonlocal let_through
            try:
                _, hold = await ledger.hold([Cost(tokens=most)])
            except CapReached:
                return
            let_through += 1
            await asyncio.sleep(0)
            if number in failing:
                ledger.settle(hold, None)
                return
            paid = min(most, real)
            ledger.settle(hold, Cost(tokens=paid))
            await asyncio.sleep(0)
            ledger.count([call(0.0, paid)])

        await asyncio.wait_for(asyncio.gather(*(one(n, *costs) for n, costs in enumerate(calls))), 60)
        assert ledger.spent.tokens <= cap
        assert ledger.left_tokens() == cap - ledger.spent.tokens
        return let_through

    through = asyncio.run(all_at_once())
    if sum(most for most, _ in calls) <= cap:
        assert through == len(calls)
