"""Each setting of enhance loops at its far end: what it changes of a loop, against one that lets it be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import Stopped
from loop_ls.formats.settings.enhance import defaults
from tests.engine.enhance.evidence.noisy import CASES, HELD, TEXT
from tests.engine.enhance.loops import THREE, Loop, failing, instructions, plan_of, priced

BAD = failing("bad_answer", "no JSON " * 200)
Seen = Callable[[dict[str, Any]], Awaitable[object]]


def failing_loop(knobs: dict[str, Any], plans: int = 6, **more: Any) -> Loop:
    """A review that always fails, and a planner with ever new words for it."""
    planner = [plan_of(instructions("review", f"Review {{{{draft}}}}, try {number}")) for number in range(plans)]
    return Loop(**{"script": {"review": BAD}, "planner": planner, "knobs": knobs, **more})


async def rounds(knobs: dict[str, Any]) -> object:
    loop = failing_loop({"onFixation": "warn", **knobs})
    await loop.run()
    return len(loop.of("round_started"))


async def reason(knobs: dict[str, Any]) -> object:
    return (await failing_loop(knobs).run()).reason


async def lenient(knobs: dict[str, Any]) -> object:
    skipping = THREE.replace("    run: Publish", "    if: \"{{draft}} == 'x'\"\n    run: Publish")
    return (await Loop(skipping, {}, [plan_of()], knobs).run()).reason


async def paused(knobs: dict[str, Any]) -> object:
    loop = failing_loop({**knobs, "maxRounds": 2})
    if knobs.get("pauseBetweenRounds"):
        loop.recorder.tell({"choice": "continue"})
    await loop.run()
    return len(loop.of("loop_paused"))


async def pause_ends(knobs: dict[str, Any]) -> object:
    loop = failing_loop({"pauseBetweenRounds": True, "maxRounds": 2, **knobs})
    if not knobs.get("pauseTimeoutSeconds"):
        loop.recorder.tell({"choice": "continue"})
    try:
        await loop.run()
    except Stopped:
        return len(loop.of("round_started"))
    return "went on"


async def operations(knobs: dict[str, Any]) -> object:
    ops = [instructions("review", "Review {{draft}} kindly"), instructions("draft", "Write on {{input}}")]
    loop = Loop(script={"review": BAD}, planner=[plan_of(*ops)], knobs={**knobs, "maxRounds": 2})
    await loop.run()
    return [one["reasonCode"] for one in loop.of("op_rejected")]


async def waits_for_the_editor(knobs: dict[str, Any]) -> object:
    loop = failing_loop(knobs, editor=lambda sent: None)
    asked, limits = loop.recorder.outside, list[float | None]()

    async def outside(key: str, facts: Any, seconds: float | None, late: Any) -> Any:
        limits.append(seconds)
        return {"choice": "stop"} if facts[0][0] == "loop_paused" else late

    loop.recorder.outside = outside  # type: ignore[method-assign]
    await loop.run()
    assert asked is not None
    return limits[0]


async def planner_request(knobs: dict[str, Any], field: str) -> object:
    loop = failing_loop({**knobs, "maxRounds": 2})
    await loop.run()
    return getattr(loop.planner_calls[0], field)


async def planner_answers(knobs: dict[str, Any]) -> object:
    loop = Loop(script={"review": BAD}, planner=["prose"], knobs=knobs)
    await loop.run()
    return len(loop.planner_calls)


async def excerpt(knobs: dict[str, Any]) -> object:
    text = THREE.replace("Review {{draft}}", "Review {{draft}}, begin with PASS or FAIL")
    loop = Loop(text, {"draft": "long " * 1000, "review": "FAIL: too long"}, [plan_of()], knobs)
    await loop.run()
    return max(len(one["output_excerpt"]) for one in loop.reports[0]["failures"])


async def pool(knobs: dict[str, Any]) -> object:
    fallbacks = [{"provider": "other", "model": "small"}]
    op = {"op": "set_provider_fallback", "target": "review", "fallbacks": fallbacks}
    text = THREE.replace("    run: Review", "    provider: acme\n    model: large\n    run: Review")
    loop = Loop(text, {"review": BAD}, [plan_of(op)], {**knobs, "maxRounds": 2})
    await loop.run()
    return len(loop.of("edit_sent"))


async def verifiers(knobs: dict[str, Any]) -> object:
    return (await Loop(script={"review": "FAIL: bad"}, planner=[plan_of()], knobs=knobs).run()).reason


async def backs_off(knobs: dict[str, Any]) -> object:
    loop = Loop(script={"review": [failing("rate_limited"), "good"]}, knobs=knobs)
    running = asyncio.ensure_future(loop.run())
    async with asyncio.timeout(60):
        while not loop.of("backing_off"):
            await asyncio.sleep(0)
    loop.recorder.stop()  # instead of waiting for so long
    with suppress(Stopped):
        await running
    return loop.of("backing_off")[0]["seconds"]


async def given_up(knobs: dict[str, Any]) -> object:
    loop = failing_loop({**knobs, "maxRounds": 2})
    await loop.run()
    return loop.seen_text() == THREE


async def unpriced(knobs: dict[str, Any]) -> object:
    loop = Loop(script={"draft": priced("x", None)}, knobs=knobs)
    await loop.run()
    return loop.of("report_ready")[0]["report"]["cost"]["round_usd"]


async def trials(knobs: dict[str, Any], say: Any = "good", **more: Any) -> Loop:
    planner = [plan_of(instructions("draft", "Write about {{input}} well"))]
    loop = Loop(TEXT, {"draft": say}, planner, knobs, cases=(*CASES, *HELD), **more)
    await loop.run()
    return loop


async def counted(knobs: dict[str, Any]) -> object:
    return len((await trials(knobs)).of("trial_finished"))


async def held_out(knobs: dict[str, Any]) -> object:
    return (await trials(knobs)).of("holdout_looked")[0]["of"]


def half(request: Any) -> Any:
    """Passes two cases of five at first, and four after the plan."""
    passed = ("thing 1", "thing 2", *(("thing 3", "thing 4") if " well" in request.prompt else ()))
    return "good" if any(one in request.prompt for one in passed) else BAD


async def screened(knobs: dict[str, Any]) -> object:
    loop = await trials({**knobs, "maxRounds": 2}, lambda request: "good" if "thing 1" in request.prompt else BAD)
    return [one["by"] for one in loop.of("candidate_decided")], len(loop.of("trial_finished"))


async def accepted(knobs: dict[str, Any]) -> object:
    loop = await trials({**knobs, "maxRounds": 2, "minibatch": 5}, half)
    return loop.of("candidate_decided")[-1]["accepted"]


async def most_of_a_text(knobs: dict[str, Any]) -> object:
    return len([one for one in (await trials(knobs)).of("trial_finished") if one["round"] == 1])


#: setting -> a value of it, and what it changes.
FAR_END: dict[str, tuple[Any, Seen]] = {
    "maxRounds": (1, rounds),
    "budgetCapUsd": (0.01, reason),
    "convergenceMode": ("lenient", lenient),
    "pauseBetweenRounds": (True, paused),
    "onFixation": ("warn", reason),
    "maxOpsPerRound": (1, operations),
    "maxEditedStepsPerRound": (1, operations),
    "ackTimeoutSeconds": (7, waits_for_the_editor),
    "plannerTimeoutSeconds": (33, lambda knobs: planner_request(knobs, "timeout")),
    "plannerAttempts": (3, planner_answers),
    "pauseTimeoutSeconds": (0.01, pause_ends),
    "excerptChars": (300, excerpt),
    "fallbackPool": ([{"provider": "other", "model": "small"}], pool),
    "verifiers": (["review"], verifiers),
    "transientBackoffSeconds": (9, backs_off),
    "onGiveUp": ("revert", given_up),
    "unknownPriceUsdPerCall": (0.5, unpriced),
    "minPassRate": (0.5, counted),
    "confidence": (0.99, counted),
    "confirmRuns": (4, counted),
    "minibatch": (5, screened),
    "acceptProbability": (0.99, accepted),
    "holdoutRuns": (3, held_out),
    "maxTrialsPerText": (5, most_of_a_text),
    "maxTrials": (4, counted),
}
#: Settings that decide before a loop begins: `test_real_engine.py` and `test_other_files.py` start loops with them.
AT_THE_START = {"plannerProvider", "plannerModel", "applyWhenHeadless", "files"}


def test_no_setting_is_left_out() -> None:
    assert FAR_END.keys() | AT_THE_START == defaults().keys()
    assert not FAR_END.keys() & AT_THE_START
    files = ("test_real_engine.py", "test_other_files.py")
    there = "".join((Path(__file__).parent / name).read_text("utf-8") for name in files)
    assert [name for name in AT_THE_START if name not in there] == []


@pytest.mark.parametrize("name", FAR_END)
async def test_EB_128_a_setting_changes_what_a_loop_does(name: str) -> None:
    value, seen = FAR_END[name]
    assert value != defaults()[name]
    assert await seen({name: value}) != await seen({})
