"""What a turn of a real program has taken: as many tokens as its provider has served, agents below it included, also
where it is stopped in the middle or dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from typing import Any

import pytest

from loop_ls.engine.core.price_table import known_price
from tests.engine.providers.support.recording_provider import GOT, SENT, Answer, Request
from tests.real_clis.workplace import WORD, Workplace

SECONDS = 150
#: Dollars for a million tokens of the model that the assistant asks: input, output.
SONNET = (3.0, 15.0)


def booked(facts: list[dict[str, Any]]) -> tuple[int, int]:
    calls = [fact["tokens"] for fact in facts if fact["kind"] == "call"]
    return sum(one["input"] for one in calls), sum(one["output"] for one in calls)


def served(workplace: Workplace) -> tuple[int, int]:
    answered = len(workplace.provider.requests)
    return answered * SENT, answered * GOT


async def test_tokens_of_a_turn_are_those_that_were_served_with_agents_below(workplace: Workplace) -> None:
    agent, task = workplace.agent, "the task of whoever is below"
    workplace.model_says(agent.delegates(task), agent.writes(workplace.root))
    end = await workplace.work("assistant")
    assert end["kind"] == "completed", end
    sent, got = served(workplace)
    assert booked(end["facts"]) == (sent, got)
    if agent.speaks == "claude-code":  # who has agents below it, and says what they cost
        [call] = [fact for fact in end["facts"] if fact["kind"] == "call"]
        assert len(workplace.provider.requests) > 3
        assert call["usd"] == pytest.approx((sent * SONNET[0] + got * SONNET[1]) / 1e6)
    if agent.speaks == "codex":  # which says what it has taken, and not what that costs
        calls = [fact for fact in end["facts"] if fact["kind"] == "call"]
        assert {fact["model"] for fact in calls} == {agent.model}
        price = known_price("openai", agent.model)
        assert price is not None
        assert sum(fact["usd"] for fact in calls) == pytest.approx(price.usd(sent, got))


async def test_tokens_that_were_cached_or_thought_are_counted(workplace: Workplace) -> None:
    workplace.provider.cached, workplace.provider.thought = 40, 3
    workplace.model_says(workplace.agent.writes(workplace.root))
    end = await workplace.work("assistant")
    assert end["kind"] == "completed", end
    assert booked(end["facts"]) == served(workplace)


@pytest.mark.parametrize("how", ["stop", "SIGINT", "SIGTERM", "SIGKILL"])
async def test_tokens_of_a_turn_that_is_ended_are_those_that_were_served(workplace: Workplace, how: str) -> None:
    """The model has asked for a tool, which was used, and is thinking."""
    agent, thinking, ended = workplace.agent, threading.Event(), threading.Event()
    first = agent.writes(workplace.root)

    def answer(request: Request) -> Answer:
        if not request.results:
            return first
        thinking.set()
        ended.wait(SECONDS)
        return WORD

    workplace.provider.answer = answer
    running = asyncio.create_task(workplace.work("assistant"))
    try:
        assert await asyncio.to_thread(thinking.wait, SECONDS)
        if how == "stop":
            [run] = (await workplace.engine.runs())["runs"]
            await workplace.engine.control("stop", run["runId"])
        else:
            pid = json.loads(workplace.log.read_text().splitlines()[-1])["pid"]
            os.kill(pid, getattr(signal, how))
        end = await asyncio.wait_for(running, SECONDS)
    finally:
        ended.set()
    answered = [one for one in workplace.provider.requests if not one.results]
    assert booked(end["facts"]) == (len(answered) * SENT, len(answered) * GOT)
