"""Planner answers that lead nowhere, money, back-off, pauses, and what is kept when a loop gives up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import EmbedReply, EmbedRequest, LostAttempt, ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.enhance.report.costs import LoopCosts, dollars
from loop_ls.engine.events import Event
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.money.loop_account import LoopCap, LoopLedger
from loop_ls.formats.settings.enhance import Knobs
from tests.engine.enhance.loops import HEAD, THREE, Loop, failing, instructions, plan_of, priced
from tests.engine.stopping import ends_stopped

BAD = failing("bad_answer", "no JSON")
BETTER = plan_of(instructions("review", "Review {{draft}} kindly"))


async def test_EB_052_prose_is_asked_again_once() -> None:
    loop = Loop(script={"review": [BAD, "good"]}, planner=["I would rewrite it.", BETTER])
    assert (await loop.run()).reason == "converged"
    first, second = loop.planner_calls
    assert "could not be used" not in first.prompt
    assert "could not be used" in second.prompt
    loop = Loop(script={"review": BAD}, planner=["I would rewrite it.", "Really."])
    assert (await loop.run()).reason == "planner_error"
    assert len(loop.planner_calls) == 2
    assert [fact["code"] for fact in loop.of("planner_failed")] == ["no_plan", "no_plan"]


async def test_EB_053_nothing_that_may_be_done() -> None:
    loop = Loop(script={"review": BAD}, planner=[plan_of({"op": "remove_step", "target": "review"})])
    assert (await loop.run()).reason == "no_ops"
    assert len(loop.planner_calls) == 2
    assert [fact["reasonCode"] for fact in loop.of("op_rejected")] == ["op_not_allowed"] * 2


async def test_EB_054_the_planner_learns_what_was_refused() -> None:
    first = plan_of({"op": "remove_step", "target": "draft"}, instructions("review", "Review {{draft}} well"))
    loop = Loop(script={"review": [BAD, failing("bad_answer", "other"), "good"]}, planner=[first, BETTER])
    assert (await loop.run()).reason == "converged"
    told = loop.planner_calls[1].prompt
    assert "op_not_allowed" in told
    assert "remove_step" in told


async def test_a_planner_that_cannot_be_reached() -> None:
    loop = Loop(script={"review": BAD}, planner=[failing("unreachable", "no way to acme")])
    assert (await loop.run()).reason == "planner_error"
    assert len(loop.planner_calls) == 2


# -- money -------------------------------------------------------------------------------------------


def costing(usd: float | None, *answers: Any) -> list[Any]:
    return [priced(one, usd) if isinstance(one, str) else one for one in answers]


async def test_EB_069_no_step_begins_above_the_cap() -> None:
    loop = Loop(
        script={"draft": costing(0.3, "d"), "review": [priced("r", 0.3)], "publish": [BAD, priced("p", 0.3)]},
        planner=[priced(BETTER, 0.0)],
        knobs={"budgetCapUsd": 1.0},
    )
    outcome = await loop.run()
    assert outcome.reason == "budget"
    assert loop.reports[1]["truncated_by_budget"] is True
    assert loop.reports[1]["cost"]["cumulative_usd"] == pytest.approx(1.2)
    assert loop.kinds(2)["publish"] in ("budget_stop", "upstream_failed")
    assert len(loop.prompts("publish")) == 1


class Losing:
    """Each attempt is paid and gives no answer."""

    def problem(self, name: str) -> None:
        return None

    async def ask(self, request: ModelRequest, on_text: Any = None, on_wait: Any = None) -> ModelReply:
        assert request.bill is not None
        request.bill.lost(LostAttempt("acme", "large", "truncated", "it was cut", 10, 10, 0.6))
        await request.bill.again()
        raise failing("truncated")

    async def embed(self, request: EmbedRequest, on_wait: Any = None) -> EmbedReply:
        raise NotImplementedError


async def test_EB_069_a_lost_attempt_counts_before_the_next_one() -> None:
    models = GatedModels(Losing(), Accounts(Ledger(), loop=LoopLedger(1.0, 0.1)), {}, environ={})
    request = ModelRequest("acme", "large", "Draft")
    with pytest.raises(ModelFailure):
        await models.ask(request)
    with pytest.raises(LoopCap):  # its own second attempt
        await models.ask(request)
    with pytest.raises(LoopCap):
        await models.ask(request)


async def test_EB_070_runs_and_plans_are_one_sum() -> None:
    half = {"draft": costing(0.25, "d"), "publish": [failing("bad_answer", word) for word in ("a", "b", "c")]}
    loop = Loop(
        script={**half, "review": [priced("r", 0.25)]},
        planner=[priced(plan_of(instructions("publish", f"Publish {{{{review}}}} {n}")), 0.03) for n in (1, 2)],
    )
    assert (await loop.run()).reason == "max_rounds"
    assert loop.reports[-1]["cost"]["cumulative_usd"] == pytest.approx(1.56)


async def test_EB_071_a_planner_that_does_not_fit_is_not_asked() -> None:
    loop = Loop(
        script={
            "draft": [priced("d", 0.4)],
            "review": [priced("r", 0.4)],
            "publish": [failing("bad_answer", "a"), failing("bad_answer", "b")],
        },
        planner=[priced(plan_of(instructions("publish", "Publish {{review}} 1")), 0.15)],
        knobs={"budgetCapUsd": 1.8, "maxRounds": 5},
    )
    assert (await loop.run()).reason == "budget"
    assert len(loop.planner_calls) == 1


async def test_EB_071_a_planner_that_may_cost_more_than_is_left_is_not_asked() -> None:
    """Its estimate fits: nobody knows a price there. The most that the call may cost does not."""
    price = {"input": 1000.0, "output": 0.0}
    loop = Loop(script={"review": BAD}, planner=[BETTER], knobs={"budgetCapUsd": 0.3}, price=price)
    assert (await loop.run()).reason == "budget"
    assert loop.planner_calls == []
    assert loop.reports[0]["truncated_by_budget"] is False


async def test_EB_069_a_warning_is_given_once_at_four_fifths() -> None:
    loop = Loop(script={"draft": costing(0.5, "d"), "review": costing(0.35, "r")}, knobs={"budgetCapUsd": 1.0})
    await loop.run()
    assert [(fact["spentUsd"], fact["capUsd"]) for fact in loop.of("budget_warning")] == [(0.85, 1.0)]


async def test_EB_072_a_repair_is_paid_like_any_answer() -> None:
    loop = Loop(
        script={"draft": [priced("d", 0.0)], "review": [BAD, priced("good", 0.0)], "publish": [priced("p", 0.0)]},
        planner=[priced("prose", 0.03), priced(BETTER, 0.03)],
    )
    assert (await loop.run()).reason == "converged"
    assert loop.reports[-1]["cost"]["cumulative_usd"] == pytest.approx(0.06)
    assert loop.of("ops_proposed")[0]["spentUsd"] == pytest.approx(0.06)  # what people see meanwhile


async def test_EB_073_a_call_without_a_price_has_one() -> None:
    loop = Loop(script={"draft": [priced("d", None)], "review": [priced("r", 0.0)], "publish": [priced("p", 0.0)]})
    await loop.run()
    cost = loop.reports[0]["cost"]
    assert (cost["cumulative_usd"], cost["unpriced_calls"]) == (pytest.approx(0.05), 1)
    [warned] = [fact for fact in loop.of("warning") if fact["code"] == "unknown_price"]
    assert "$0.05" in warned["message"]


async def test_EB_073_the_warning_is_shown_once_in_all_rounds() -> None:
    script = {"draft": [priced("d", None)], "review": [BAD, priced("r", None)], "publish": [priced("p", None)]}
    loop = Loop(script=script, planner=[priced(BETTER, 0.0)])
    assert (await loop.run()).reason == "converged"
    assert [report["cost"]["unpriced_calls"] for report in loop.reports] == [1, 4]
    assert [fact["code"] for fact in loop.of("warning")].count("unknown_price") == 1


async def test_EB_074_waiting_costs_nothing() -> None:
    loop = Loop(
        script={"draft": [priced("d", 0.1)], "review": [BAD, priced("good", 0.1)], "publish": [priced("p", 0.1)]},
        planner=[priced(BETTER, 0.03)],
        knobs={"pauseBetweenRounds": True},
    )
    running = asyncio.ensure_future(loop.run())
    await _until(loop, "loop_paused")
    before = (await loop.facts("run-1"))[-1].body["spentUsd"]
    facts = await loop.facts("run-1")
    later = [Event(one.run_id, one.seq, one.at + 3600, one.kind, one.body) for one in facts]
    assert LoopCosts.of(later, Knobs()).spent == dollars(before) == dollars(0.13)
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    assert loop.of("round_started")[1]["spentUsd"] == before


def test_EB_069_tenths_of_a_cent_add_up() -> None:
    costs = LoopCosts(1.0, 0.0)
    for _ in range(1000):
        costs.book({"usd": 0.001})
    assert costs.spent == 1
    assert costs.exhausted


# -- what editing cannot mend ------------------------------------------------------------------------


async def test_EB_083_rate_limits_are_waited_for() -> None:
    limited = failing("rate_limited", "slow down")
    loop = Loop(script={"review": [limited, limited, "good"]}, knobs={"transientBackoffSeconds": 0.01})
    assert (await loop.run()).reason == "converged"
    assert loop.planner_calls == []
    assert [fact["seconds"] for fact in loop.of("backing_off")] == [0.01, 0.02]
    assert loop.of("loop_fixation_warning") == []


async def test_EB_084_a_refused_key_ends_the_loop() -> None:
    loop = Loop(script={"draft": failing("auth", "401: wrong key")}, planner=[BETTER])
    outcome = await loop.run()
    assert outcome.reason == "unfixable"
    assert loop.planner_calls == []
    [left] = loop.reports[0]["unfixable"]
    assert left["failure"] == "1:draft:auth"
    assert "`acme`" in left["reason"]
    assert [one.model_dump() for one in outcome.details["unfixable"]] == [left]


async def test_EB_085_what_can_be_mended_is() -> None:
    text = (
        THREE.replace(
            "  - name: publish\n    run: Publish {{review}}\n", "  - name: other\n    run: Look at {{input}}\n"
        )
        .replace("    needs: [draft]\n", "    needs: [draft]\n    on_failure: continue\n")
        .replace("  - name: other\n", "  - name: other\n    on_failure: continue\n")
    )
    loop = Loop(
        text=text,
        script={"review": [BAD, "good"], "other": [failing("auth", "401"), "fine"]},
        planner=[plan_of(instructions("review", "Review {{draft}} well", addresses=["1:review:bad_output"]))],
    )
    assert (await loop.run()).reason == "converged"
    assert [one["failure"] for one in loop.reports[0]["unfixable"]] == ["1:other:auth"]


# -- pause and stop ----------------------------------------------------------------------------------


async def _until(loop: Loop, kind: str, count: int = 1) -> None:
    async with asyncio.timeout(60):
        while len(loop.of(kind)) < count:
            await asyncio.sleep(0)


async def test_EB_075_a_proposal_waits_for_a_person() -> None:
    loop = Loop(script={"review": [BAD, "good"]}, planner=[BETTER], knobs={"pauseBetweenRounds": True})
    running = asyncio.ensure_future(loop.run())
    await _until(loop, "loop_paused")
    state = await loop.state()
    assert (state.status, state.reason) == ("paused", "between_rounds")
    assert loop.of("edit_sent") == []
    assert loop.seen_text() == THREE
    [proposed] = loop.of("ops_proposed")  # what a person looks at before going on
    assert "+    run: Review {{draft}} kindly" in proposed["diff"]
    assert "text" not in proposed
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"


async def test_EB_076_who_goes_on_gets_the_edit() -> None:
    loop = Loop(script={"review": [BAD, "good"]}, planner=[BETTER], knobs={"pauseBetweenRounds": True})
    loop.recorder.tell({"choice": "continue"})
    assert (await loop.run()).reason == "converged"
    assert len(loop.of("edit_sent")) == 1
    assert loop.prompts("review")[-1] == "Review ok kindly"


async def test_EB_077_or_runs_on_what_is_there() -> None:
    loop = Loop(script={"review": [BAD, "good"]}, planner=[BETTER], knobs={"pauseBetweenRounds": True})
    loop.recorder.tell({"choice": "skip"})
    assert (await loop.run()).reason == "converged"
    assert loop.of("edit_sent") == []
    assert loop.prompts("review") == ["Review ok", "Review ok"]


@pytest.mark.parametrize("choice", ["continue", "skip"])
async def test_what_a_person_says_in_a_pause_reaches_the_next_plan(choice: str) -> None:
    loop = Loop(
        script={"review": [BAD, failing("bad_answer", "other"), "good"]},
        planner=[BETTER, plan_of(instructions("review", "Review {{draft}} well"))],
        knobs={"pauseBetweenRounds": True},
    )
    running = asyncio.ensure_future(loop.run())
    await _until(loop, "loop_paused")
    loop.recorder.facts.append(("feedback", {"text": "too dry", "step": "draft", "negative": True}))
    loop.recorder.tell({"choice": choice})
    await _until(loop, "loop_paused", 2)
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    assert ["too dry" in one.prompt for one in loop.planner_calls] == [False, True]
    assert "draft" not in loop.kinds(2)  # it was said of the draft of the round before


async def test_EB_078_no_pause_inside_of_a_round() -> None:
    loop = Loop(knobs={"pauseBetweenRounds": True})
    assert (await loop.run()).reason == "converged"
    assert loop.of("loop_paused") == []


async def test_EB_079_no_pause_behind_the_last_round() -> None:
    loop = Loop(script={"review": BAD}, knobs={"pauseBetweenRounds": True, "maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.of("loop_paused") == []


@pytest.mark.parametrize("kind", ["round_started", "planner_started", "loop_paused", "edit_sent", "backing_off"])
async def test_EB_080_a_stop_ends_it_everywhere(kind: str) -> None:
    knobs: dict[str, Any] = {"pauseBetweenRounds": kind == "loop_paused", "transientBackoffSeconds": 60}
    answer = failing("rate_limited") if kind == "backing_off" else BAD
    loop = Loop(script={"review": answer}, planner=[BETTER], knobs=knobs, editor=lambda sent: None)
    running = asyncio.ensure_future(loop.run())
    await _until(loop, kind)
    asked = len(loop.models.requests)
    loop.recorder.stop()
    await ends_stopped(running)
    assert len(loop.models.requests) == asked
    assert not loop.recorder.control.calls


async def test_EB_075_a_pause_does_not_last_for_ever_where_somebody_says_so() -> None:
    loop = Loop(
        script={"review": BAD}, planner=[BETTER], knobs={"pauseBetweenRounds": True, "pauseTimeoutSeconds": 0.01}
    )
    await ends_stopped(asyncio.ensure_future(loop.run()))


# -- giving up ---------------------------------------------------------------------------------------

ASIDE = """\
  - name: aside
    on_failure: continue
    run: Look at {{input}}
  - name: last
    needs: [publish]
    run: Say {{publish}}
"""


async def test_EB_081_the_last_success_is_kept() -> None:
    text = THREE + ASIDE
    loop = Loop(
        text=text,
        script={
            "aside": [failing("bad_answer", "a"), failing("bad_answer", "b"), "fine"],
            "last": ["first", "second", failing("bad_answer", "c")],
        },
        planner=[plan_of(instructions("aside", f"Look {n}")) for n in ("well", "better")],
    )
    outcome = await loop.run()
    assert (outcome.reason, outcome.output) == ("max_rounds", "second")
    assert outcome.because is not None
    assert "round 2" in outcome.because
    assert "`last`" in outcome.because


LOOPS_ALONE = HEAD + "".join(
    f"{key}: {name}, workflow: shorten, with: {{draft: '{{{{input}}}}'}}, max_iterations: 1, until: It is {until}}}\n"
    for key, name, until in (("loops:\n  - {name", "aside", "done"), ("  - {name", "last", "short"))
)


async def test_EB_081_a_workflow_of_loops_alone_succeeds_by_its_last_loop() -> None:
    loop = Loop(
        text=LOOPS_ALONE,
        more={"shorten.yaml": HEAD.replace("report", "shorten") + "steps: [{name: go, run: 'Shorten {{draft}}'}]\n"},
        script={"judge": lambda request: "YES" if "It is short" in request.prompt else "NO"},
        knobs={"maxRounds": 1},
    )
    outcome = await loop.run()
    assert [one["step"] for one in loop.reports[0]["failures"]] == ["aside"]
    assert outcome.details["last_successful_round"] == 1


async def test_EB_082_without_a_success_nothing_is_called_one() -> None:
    answers = [BAD, failing("bad_answer", "worse")]
    loop = Loop(
        text=THREE.replace("    needs: [draft]\n", "    needs: [draft]\n    on_failure: continue\n"),
        script={"review": answers, "publish": ["first", failing("bad_answer", "no")]},
        planner=[BETTER],
        knobs={"maxRounds": 2},
    )
    outcome = await loop.run()
    assert (outcome.reason, outcome.details["best_round"], outcome.details["last_successful_round"]) == (
        *("max_rounds", 1),
        None,
    )
    assert outcome.because is not None
    assert outcome.because.startswith(
        "`enhance.maxRounds` allows 2 rounds. No round succeeded. The output is from round 1, the one with the fewest"
    )
    assert not any(report["converged"] for report in loop.reports)


async def test_EB_086_the_first_text_comes_back() -> None:
    loop = Loop(script={"review": BAD}, planner=[BETTER], knobs={"onGiveUp": "revert"})
    assert (await loop.run()).reason == "fixation"
    assert [fact["label"].startswith("Enhance") for fact in loop.of("edit_sent")] == [True, True]
    assert loop.seen_text() == THREE


@pytest.mark.parametrize(
    ("knobs", "price", "told"),
    [
        ({"maxRounds": 1}, None, "`enhance.maxRounds` allows 1 round. No round succeeded."),
        ({"budgetCapUsd": 0.1}, None, "`enhance.budgetCapUsd` is $0.10, and $0.10 were spent. "),
        (
            {"budgetCapUsd": 0.01},
            {"input": 9e6, "output": 9e6},
            "$0 of the $0.01 of `enhance.budgetCapUsd` were spent, and the next call may cost more than what is left: "
            "set a higher cap. ",
        ),
        ({"maxRounds": 5}, None, "The last two rounds failed in the same way; `enhance.onFixation: warn` continues "),
    ],
)
async def test_the_end_of_a_loop_names_its_limit(
    knobs: dict[str, Any], price: dict[str, float] | None, told: str
) -> None:
    loop = Loop(script={"review": BAD}, planner=[BETTER], knobs=knobs, price=price)
    outcome = await loop.run()
    assert outcome.because is not None
    assert outcome.because.startswith(told), outcome.because
    if price is not None:
        skipped = {one["skip_reason"] for one in loop.reports[0]["failures"]}
        assert skipped == {"its next call did not fit in `budgetCapUsd`"}


@pytest.mark.parametrize("headless", [True, False])
async def test_a_file_that_was_changed_in_the_last_round_has_not_converged(headless: bool, tmp_path: Path) -> None:
    """What ran was clean; what the file says now has never been run."""
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    more: dict[str, Any] = {"headless": path} if headless else {"root": tmp_path}
    loop = Loop(script={"review": [BAD, "good"]}, planner=[BETTER], **more)

    def last(request: ModelRequest) -> str:
        path.write_text(THREE.replace("about", "nothing about"))
        return "two"

    loop.models.script["draft"] = ["one", last]
    outcome = await loop.run()
    assert outcome.reason == "file_changed"
    assert outcome.because == (
        "Round 2 was clean, but `report.yaml` was changed while the loop ran, so the text that was tried is not "
        "in the file. Start the loop again to try the current text."
    )
    assert path.read_text() == THREE.replace("about", "nothing about")


async def test_a_called_file_that_was_changed_in_the_last_round_is_told(tmp_path: Path) -> None:
    callee = HEAD.replace("report", "part") + "steps: [{name: go, run: Go}]\n"
    caller = HEAD + "steps: [{name: use, template: {name: part}}]\n"
    (tmp_path / "part.yaml").write_text(callee)
    path = tmp_path / "report.yaml"
    path.write_text(caller)

    def changes(request: ModelRequest) -> str:
        (tmp_path / "part.yaml").write_text(callee.replace("Go}", "Stop}"))
        return "done"

    loop = Loop(caller, {"go": changes}, headless=path, more={"part.yaml": callee})
    outcome = await loop.run()
    assert outcome.reason == "file_changed"
    assert outcome.because is not None
    assert "`part.yaml` was changed" in outcome.because


@pytest.mark.parametrize("saved", ["buffer", "reformatted", "comment"])
async def test_a_file_that_says_what_was_run_has_converged(saved: str, tmp_path: Path) -> None:
    """In an editor the file is behind its buffer until somebody saves it."""
    path = tmp_path / "report.yaml"
    path.write_text("name: older\n")
    loop = Loop(script={"review": [BAD, "good"]}, planner=[BETTER], root=tmp_path)
    texts = {"buffer": THREE, "reformatted": THREE.replace("[draft]", "[ draft ]"), "comment": THREE + "# mine\n"}

    def saves(request: ModelRequest) -> str:
        path.write_text(texts[saved].replace("Review {{draft}}", "Review {{draft}} kindly"))
        return "two"

    loop.models.script["draft"] = ["one", saves]
    assert (await loop.run()).reason == "converged"
