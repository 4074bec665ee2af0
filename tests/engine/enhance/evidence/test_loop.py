"""Enhance loops with cases, through the real engine: what is tried, what is written, and how it ends."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelRequest
from tests.engine.enhance.evidence.noisy import CASES, HELD, TEXT, noisy
from tests.engine.enhance.loops import Loop, failing, priced

#: Loops with a planner that never helps; `tests/bench/evidence_loops.py` runs hundreds of them.
FEW = 12


def rates(good: str, high: float = 1.0, low: float = 0.6) -> Any:
    return lambda prompt: high if good in prompt else low


async def test_EB_124_a_text_that_always_passes_converges_on_all_cases_without_a_plan() -> None:
    loop = noisy(1, lambda prompt: 1.0, {1: "never asked"})
    outcome = await loop.run()
    assert (outcome.reason, outcome.iterations, len(loop.planner_calls)) == ("converged", 1, 0)
    seen = [one["case"] for one in loop.of("trial_finished") if not one["held"]]
    assert Counter(seen) == dict.fromkeys((case["name"] for case in CASES), 2)
    assert [(one["passed"], one["of"]) for one in loop.of("holdout_looked")] == [(4, 4)]
    [evidence] = loop.of("evidence")
    assert (evidence["trials"], evidence["passes"], evidence["e"] >= evidence["wanted"]) == (10, 10, True)
    assert outcome.because is not None
    assert "10 of 10 trials passed: at least 79% would" in outcome.because


async def test_EB_124_cases_that_change_while_held_out_ones_are_tried_prove_nothing(tmp_path: Path) -> None:
    file = tmp_path / "report.cases.yaml"
    file.write_text("as it was")

    def answer(request: ModelRequest) -> str:
        if "other" in request.prompt:
            file.write_text("another")
        return "good"

    files = {file.name: hashlib.sha256(b"as it was").hexdigest()}
    loop = Loop(TEXT, {"draft": answer}, cases=(*CASES, *HELD), files=files, root=tmp_path)
    outcome = await loop.run()
    assert (outcome.reason, [one["passed"] for one in loop.of("holdout_looked")]) == ("void", [4])
    assert "were changed while they were in use" in (outcome.because or "")


async def test_EB_124_a_plan_is_tried_from_memory_and_written_when_it_is_better() -> None:
    loop = noisy(3, rates("carefully", low=0.3), {1: "Write about {{input}}, carefully"})
    outcome = await loop.run()
    kinds = [kind for kind, _ in loop.recorder.facts]
    assert outcome.reason == "converged"
    assert kinds.index("edit_sent") > max(at for at, kind in enumerate(kinds) if kind == "trial_finished")
    assert "carefully" in loop.seen_text()
    assert [one["accepted"] for one in loop.of("candidate_decided")] == [True, True]


async def test_EB_124_a_plan_that_is_no_better_is_not_written() -> None:
    loop = noisy(3, rates("carefully", high=0.0, low=0.3), {1: "Write about {{input}}, carefully"})
    outcome = await loop.run()
    assert outcome.reason not in ("converged", "improved")
    assert loop.of("edit_sent") == []
    assert loop.seen_text() == TEXT
    first, second, *_ = loop.of("candidate_decided")
    assert (first["accepted"], second["accepted"], second["by"]) == (True, False, "screen")
    told = loop.planner_calls[-1].prompt
    assert "refused (screen)" in told


async def test_EB_124_a_text_that_fits_the_seen_cases_only_does_not_converge() -> None:
    def fitted(prompt: str) -> float:
        return 0.0 if "other" in prompt else 1.0

    loop = noisy(1, fitted, {1: "Write about {{input}} well", 2: "Write about {{input}} better"})
    outcome = await loop.run()
    assert outcome.reason != "converged"
    assert [(one["passed"], one["of"]) for one in loop.of("holdout_looked")] == [(0, 4)]
    assert loop.of("candidate_decided")[0]["by"] == "holdout"


async def test_EB_124_the_planner_hears_nothing_of_held_out_cases() -> None:
    loop = noisy(2, lambda prompt: 0.0, {1: "Write about {{input}} well"})
    await loop.run()
    assert all("held-" not in one.prompt and "other 1" not in one.prompt for one in loop.planner_calls)
    assert any("case-1" in one.prompt for one in loop.planner_calls)


async def test_EB_124_a_provider_that_is_out_of_order_says_nothing_about_the_text() -> None:
    answers = [failing("server"), "good"]
    loop = Loop(TEXT, {"draft": [*answers, "good"]}, cases=CASES)
    outcome = await loop.run()
    assert outcome.reason == "converged"
    outcomes = [one["outcome"] for one in loop.of("trial_finished")]
    assert Counter(outcomes) == {"void": 1, "pass": 10}
    gone = Loop(TEXT, {"draft": failing("server")}, cases=CASES)
    assert (await gone.run()).reason == "void"
    assert [one["outcome"] for one in gone.of("trial_finished")] == ["void"] * 3


async def test_EB_124_the_money_and_the_trials_of_a_loop_have_an_end() -> None:
    loop = noisy(1, lambda prompt: 0.9, {1: "Write about {{input}} well"}, {"maxTrials": 4})
    assert (await loop.run()).reason == "budget"
    assert len(loop.of("trial_finished")) == 4


async def test_EB_124_money_that_ends_in_the_held_out_cases_is_the_reason() -> None:
    """Each trial counts 5 cents: ten on the seen cases, and the third of the others does not fit."""
    loop = noisy(1, lambda prompt: 1.0, {1: "never asked"}, {"budgetCapUsd": 0.62})
    assert (await loop.run()).reason == "budget"
    assert [one["outcome"] for one in loop.of("trial_finished")] == [*["pass"] * 12, "void"]


async def test_EB_124_a_replay_makes_no_trial_again() -> None:
    loop = noisy(3, rates("carefully", low=0.3), {1: "Write about {{input}}, carefully"})
    first = await loop.run()
    asked = len(loop.models.requests)
    again = await loop.again()
    again.cases = loop.cases
    assert (await again.run()).reason == first.reason
    assert len(loop.models.requests) == asked


async def test_EB_124_a_trial_that_a_crash_cut_costs_what_all_of_it_has_cost() -> None:
    """A text that looked cheap because of a crash would make a dearer one of each later text."""
    text = TEXT + "  - name: end\n    needs: [draft]\n    run: End {{draft}}\n"
    reached = asyncio.Event()

    async def hangs(request: Any) -> Any:
        reached.set()
        await asyncio.sleep(60)

    loop = Loop(text, {"draft": [priced("good", 0.2)], "end": [priced("done", 0.1)]}, cases=CASES[:1])
    asked = loop.models.ask

    async def ask(request: Any, *more: Any) -> Any:
        return await (hangs(request) if request.place.endswith("/end") else asked(request, *more))

    loop.models.ask = ask  # type: ignore[method-assign]
    running = asyncio.ensure_future(loop.run())
    await reached.wait()
    running.cancel()
    again = await loop.again()
    again.cases = loop.cases
    again.models.ask = asked  # type: ignore[method-assign]
    await again.run()
    assert [one["usd"] for one in again.of("trial_finished")][:2] == [pytest.approx(0.3)] * 2


@pytest.mark.parametrize("input", ["one two three four five six seven eight nine"])
async def test_EB_124_a_plan_that_knows_a_case_by_heart_is_refused(input: str) -> None:
    cases = ({"name": "long", "input": input}, *CASES[:2])
    loop = noisy(1, lambda prompt: 0.0, {1: f"For {input} say yes, else {{{{input}}}}"}, cases=cases)
    await loop.run()
    assert {one["reasonCode"] for one in loop.of("op_rejected")} == {"leaks_check"}


async def test_EB_124_a_text_after_the_last_look_at_the_held_out_cases_is_not_written() -> None:
    """The first two proven texts fail there; the third would pass, and nobody may know."""

    def rate(prompt: str) -> float:
        if "first" in prompt or "second" in prompt:
            return 0.0 if "other" in prompt else 1.0
        return 1.0 if "third" in prompt else 0.3

    plans = {
        number: f"Write about {{{{input}}}}, {word}" for number, word in enumerate(("first", "second", "third"), 1)
    }
    loop = noisy(3, rate, plans, {"maxRounds": 4})
    outcome = await loop.run()
    assert [(one["accepted"], one["by"]) for one in loop.of("candidate_decided")] == [
        (True, "first"),
        (False, "holdout"),
        (False, "holdout"),
        (False, "unlooked"),
    ]
    assert (outcome.reason, loop.seen_text(), loop.of("edit_sent")) == ("max_rounds", TEXT, [])
    assert outcome.because is not None
    assert "not tried on all held-out ones and was not written: a loop uses them at most 2 times" in outcome.because


async def test_EB_124_a_text_whose_look_at_the_held_out_cases_was_cut_short_is_not_written() -> None:
    loop = noisy(3, rates("carefully", low=0.3), {1: "Write about {{input}}, carefully"}, {"maxTrials": 16})
    outcome = await loop.run()
    assert (outcome.reason, loop.seen_text()) == ("budget", TEXT)
    assert loop.of("candidate_decided")[-1]["by"] == "unlooked"
    assert outcome.because is not None
    assert "`enhance.maxTrials`" in outcome.because


async def test_EB_124_held_out_cases_that_cannot_run_prove_nothing() -> None:
    def answer(request: Any) -> Any:
        return failing("server") if "other" in request.prompt else "good"

    loop = Loop(TEXT, {"draft": answer}, cases=(*CASES, *HELD))
    outcome = await loop.run()
    assert outcome.reason == "void"
    assert outcome.because is not None
    assert "a trial on them failed repeatedly" in outcome.because


@pytest.mark.parametrize("improves", [True, False])
async def test_EB_124_a_file_that_was_changed_by_hand_meanwhile_has_not_converged(
    improves: bool, tmp_path: Path
) -> None:
    """Its text is not the one that the trials are about."""
    path = tmp_path / "report.yaml"
    path.write_text(TEXT)
    rate = rates("carefully", low=0.3) if improves else lambda prompt: 1.0
    loop = noisy(3, rate, {1: "Write about {{input}}, carefully"}, headless=path)
    [outside] = loop.models.script["draft"]

    def answer(request: Any) -> Any:
        if "other" in request.prompt:
            path.write_text(TEXT.replace("Write", "Sing"))
        return outside(request)

    loop.models.script["draft"] = [answer]
    outcome = await loop.run() if not improves else await stopped_at_conflict(loop)
    assert outcome.reason in ("file_changed", "apply_rejected")
    assert path.read_text() == TEXT.replace("Write", "Sing")
    assert outcome.because is not None
    if not improves:
        assert "`report.yaml` was changed while the loop ran" in outcome.because


async def stopped_at_conflict(loop: Loop) -> Any:
    loop.recorder.tell({"choice": "stop"})
    return await loop.run()


@pytest.mark.parametrize("when", ["trial", "pause"])
async def test_EB_124_what_a_person_says_is_told_to_the_next_plan(when: str) -> None:
    knobs = {"pauseBetweenRounds": True} if when == "pause" else {}
    plans = {1: "Write about {{input}}, carefully", 2: "Write about {{input}}, carefully and well"}
    loop = noisy(3, rates("carefully", high=0.8, low=0.1), plans, knobs)
    said = ("feedback", {"text": "Name the sources.", "negative": False, "step": None})
    if when == "trial":
        [draft] = loop.models.script["draft"]

        def heard(request: Any) -> Any:
            if not loop.of("feedback"):
                loop.recorder.facts.append(said)
            return draft(request)

        loop.models.script["draft"] = [heard]
        await loop.run()
        assert "Name the sources." in loop.planner_calls[0].prompt
        assert all("Name the sources." not in one.prompt for one in loop.planner_calls[1:])
        return
    running = asyncio.ensure_future(loop.run())
    async with asyncio.timeout(60):
        while not loop.of("loop_paused"):
            await asyncio.sleep(0)
        loop.recorder.facts.append(said)
        loop.recorder.tell({"choice": "continue"})
        while len(loop.planner_calls) < 2:
            await asyncio.sleep(0)
    running.cancel()
    assert "Name the sources." not in loop.planner_calls[0].prompt
    assert "Name the sources." in loop.planner_calls[1].prompt


async def test_EB_124_what_a_person_rejects_has_not_converged() -> None:
    loop = noisy(1, lambda prompt: 1.0, {1: "Write about {{input}} well"}, {"maxRounds": 1})
    [draft] = loop.models.script["draft"]

    def heard(request: Any) -> Any:
        if not loop.of("feedback"):
            loop.recorder.facts.append(("feedback", {"text": "Much too long.", "negative": True, "step": "draft"}))
        return draft(request)

    loop.models.script["draft"] = [heard]
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"draft": "user_rejected"}


async def test_EB_124_a_person_who_goes_on_without_a_plan_leaves_the_text_as_it_was() -> None:
    knobs = {"pauseBetweenRounds": True, "maxRounds": 2}
    loop = noisy(3, rates("carefully", low=0.1), {1: "Write about {{input}}, carefully"}, knobs)
    loop.recorder.tell({"choice": "skip"})
    outcome = await loop.run()
    assert (outcome.reason, loop.seen_text(), loop.of("edit_sent")) == ("max_rounds", TEXT, [])
    assert "was changed" not in (outcome.because or "")


async def test_EB_124_the_end_names_the_limit() -> None:
    told = {}
    for name, knobs in (
        ("maxTrials", {"maxTrials": 4}),
        ("maxRounds", {"maxRounds": 1}),
        ("budgetCapUsd", {"budgetCapUsd": 0.3}),
    ):
        loop = noisy(1, lambda prompt: 0.5, {1: "Write about {{input}} well"}, knobs)
        told[name] = (await loop.run()).because or ""
    assert told["maxTrials"].startswith("All 4 trials that `enhance.maxTrials` allows were used.")
    assert told["maxRounds"].startswith("`enhance.maxRounds` allows 1 round.")
    assert told["budgetCapUsd"].startswith("`enhance.budgetCapUsd` is $0.30, and $0.")


async def test_EB_124_noise_is_not_taken_for_success() -> None:
    """Every plan is as bad as what it changes; each text passes three trials of five."""
    ends: Counter[str] = Counter()
    for seed in range(FEW):
        plans = {number: f"Write about {{{{input}}}}, way {number}" for number in (1, 2)}
        ends[(await noisy(seed, lambda prompt: 0.6, plans).run()).reason] += 1
    assert ends["converged"] == 0


async def test_EB_124_only_one_case_and_no_held_out_one_is_said() -> None:
    loop = Loop(TEXT, {"draft": "good"}, cases=CASES[:1])
    outcome = await loop.run()
    assert outcome.reason == "converged"
    assert outcome.because is not None
    assert "No test case was held out" in outcome.because
