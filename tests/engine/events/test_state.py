"""What a run is, folded from its facts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loop_ls.contract.endings import BLOCKINGS, CAUSES, FAILINGS, LIMITS, SUCCESSES
from loop_ls.contract.facts.kinds import Iteration, payload, payloads
from loop_ls.engine.core.location import Place
from loop_ls.engine.events import ENDED, Event, RunState, exit_code, fold, status_of

STARTED = {"format": "workflow", "name": "w", "target": {"kind": "workflow"}, "uri": "file:///w.yaml"}


def run(*facts: tuple[str, dict[str, Any]]) -> list[Event]:
    """Facts one second apart."""
    return [Event("r", n, float(n), kind, body, 100 + n) for n, (kind, body) in enumerate(facts, 1)]


def loop(depth: int = 0, name: str = "develop") -> tuple[str, dict[str, Any]]:
    return "step_started", {"step": name, "mode": "loop", "condition": "ok?", "maxIterations": 5, "depth": depth}


def begins(n: int, depth: int = 0, name: str = "develop") -> tuple[str, dict[str, Any]]:
    return "iteration_started", {"iteration": n, "maxIterations": 5, "loop": name, "depth": depth}


facts = st.lists(
    st.tuples(
        st.sampled_from(sorted(payloads())),
        st.fixed_dictionaries({}, optional={"iteration": st.integers(0, 9), "depth": st.integers(0, 3)}),
    ),
    max_size=20,
)


@given(facts, st.integers(0, 20))
def test_a_fold_may_be_taken_in_parts_and_never_raises(found: list[tuple[str, dict[str, Any]]], cut: int) -> None:
    events = run(("run_started", STARTED), *found)
    assert fold(events) == fold(events[cut:], fold(events[:cut]))
    assert fold(events).last_seq == len(events)


def test_a_loop_is_followed_from_its_first_iteration_to_its_verdict() -> None:
    state = fold(
        run(
            *(("run_started", STARTED), loop(), begins(1), ("iteration", {"output": "a"})),
            ("judged", {"iteration": 1, "verdict": "no", "answer": "NO", "condition": "ok?"}),
            begins(2),
        )
    )
    assert (state.status, state.loop, state.iteration, state.max_iterations) == ("running", "develop", 2, 5)
    assert state.criterion == {"type": "condition", "value": "ok?"}
    assert state.verdict == {"iteration": 1, "verdict": "no", "answer": "NO"}
    assert state.last_output == "a"


def test_an_inner_loop_does_not_take_the_place_of_the_outer_one() -> None:
    state = fold(run(("run_started", STARTED), loop(), begins(2), loop(1, "inner"), begins(4, 1, "inner")))
    assert (state.loop, state.iteration) == ("develop", 2)


def test_money_and_tokens_add_up_and_a_missing_price_is_seen() -> None:
    paid = ("call", {"usd": 0.25, "tokens": {"input": 10, "output": 5}})
    state = fold(run(("run_started", STARTED), paid, paid, ("call", {"tokens": {"input": 1, "output": 0}})))
    assert (state.cost_usd, state.calls, state.unpriced) == (0.5, 3, True)
    assert state.wire()["tokens"] == {"input": 21, "output": 10}


def test_a_price_of_a_script_is_simulated_until_somebody_is_paid() -> None:
    started = {**STARTED, "settings": {"providers": {"actor": {"kind": "scripted"}}}}
    free, acted = ("call", {"provider": "scripted", "usd": 0.0}), ("call", {"provider": "actor", "usd": 0.1})
    assert "simulated" not in fold(run(("run_started", started), free)).wire()
    assert fold(run(("run_started", started), acted)).wire()["simulated"] is True
    paid = ("call", {"provider": "openai", "usd": 0.1})
    assert "simulated" not in fold(run(("run_started", started), acted, paid)).wire()


def test_RB_094_a_clock_that_was_put_back_makes_no_time_negative() -> None:
    first, second = run(("run_started", STARTED), begins(1))
    back = Event(second.run_id, second.seq, first.at - 3600, second.kind, second.body, second.position)
    assert fold([first, back]).wire(now=first.at - 7200)["elapsedMs"] == 0


def test_time_counts_only_while_the_run_works() -> None:
    events = run(("run_started", STARTED), begins(1), ("paused", {}), ("resumed", {}), begins(2))
    crashed = [*events, Event("r", 6, 1000.0, "recovered", {"mayHavePaidTwice": True}, 106)]
    state = fold(crashed)
    assert state.active == 3.0
    assert state.wire(now=1002.0)["elapsedMs"] == 5000
    assert state.may_have_paid_twice


@pytest.mark.parametrize(
    ("fact", "status", "reason"),
    [
        (("paused", {"reason": "user"}), "paused", "user"),
        (("stopping", {"cause": "teardown"}), "stopping", "teardown"),
        (("interrupted", {"foundIn": "running"}), "interrupted", "engine_restart"),
        (("manual_approval_required", {"loopId": "x"}), "waiting_approval", None),
        (("completed", {"reason": "condition_met"}), "completed", "condition_met"),
        (("completed", {"reason": "max_iterations"}), "completed", "max_iterations"),
        (("failed", {"reason": "timeout", "error": {}}), "failed", "timeout"),
        (("failed", {"reason": "question", "error": {}}), "blocked", "question"),
        (("cancelled", {"cause": "user"}), "cancelled", "user"),
    ],
)
def test_every_end_keeps_its_reason(fact: tuple[str, dict[str, Any]], status: str, reason: str | None) -> None:
    state = fold(run(("run_started", STARTED), fact))
    assert (state.status, state.reason, state.ended) == (status, reason, status in ENDED)


def test_reasons_are_never_blurred() -> None:
    sets = [SUCCESSES, LIMITS, FAILINGS, BLOCKINGS, CAUSES]
    assert sum(map(len, sets)) == len(frozenset().union(*sets))
    assert {exit_code(status_of(reason), reason) for reason in SUCCESSES} == {0}
    assert {exit_code(status_of(reason), reason) for reason in LIMITS} == {3}
    assert {exit_code(status_of(reason), reason) for reason in FAILINGS | BLOCKINGS} == {4}
    assert {exit_code(status_of(reason), reason) for reason in CAUSES} == {5}
    assert exit_code("running", None) is None


def test_facts_travel_with_camel_case_names_and_can_be_read_back() -> None:
    place = Place(workflow="w", file="w.yaml").element("develop").turn("develop", 3)
    kind, body = Iteration(iteration=3, max_iterations=5, output="").fact(place)
    event = Event("r", 7, 0.5, kind, body, 9)
    assert event.wire() == {
        "runId": "r",
        "seq": 7,
        "position": 9,
        "at": "1970-01-01T00:00:00.500Z",
        "kind": "iteration",
        "iteration": 3,
        "maxIterations": 5,
        "output": "",
        "place": "develop/3",
        "loop": "develop",
        "workflow": "w",
        "file": "w.yaml",
    }
    assert payload(kind, body) == Iteration(iteration=3, max_iterations=5, output="")
    assert payload("of_a_newer_engine", {}) is None


def test_a_state_of_nothing_travels() -> None:
    assert RunState().wire() == {
        "runId": "",
        "format": "",
        "name": "",
        "origin": "cli",
        "status": "queued",
        "iteration": 0,
        "elapsedMs": 0,
        "tokens": {"input": 0, "output": 0},
        "calls": 0,
        "progressLog": [],
        "lastSeq": 0,
    }


def test_places_of_elements_cannot_be_mistaken_for_each_other() -> None:
    root = Place()
    assert root.element("a/1").key != root.element("a").turn("a", 1).key
    assert root.element("a").turn("a", 1).element("judge").key != root.element("a").turn("a", 1).part("judge")
    assert root.element("a:b").key != root.element("a").part("b")
    assert root.element("a").turn("a", 1, 2).key != root.element("a").turn("a", 12).key


def test_dollars_are_told_without_the_noise_of_their_sum() -> None:
    calls = [("call", {"place": "a", "usd": usd}) for usd in (0.1, 0.2, 0.0011)]
    assert fold(run(("run_started", STARTED), *calls)).wire()["costUsd"] == 0.3011


def test_a_rejection_keeps_out_the_change_that_is_proposed_and_no_other() -> None:
    def after(*facts: tuple[str, dict[str, Any]]) -> RunState:
        return fold(run(*facts))

    no, paused = ("feedback", {"text": "no", "negative": True}), ("loop_paused", {"question": "q", "round": 1})
    proposed, sent = ("ops_proposed", {}), ("edit_sent", {"question": "e"})
    skipped, refused = ("loop_continued", {"withEdits": False}), ("edit_refused", {"outcome": "refused"})
    assert after(no, paused).proposal == ""
    assert after(proposed, paused, ("feedback", {"text": "yes"})).question == {
        "kind": "loop_paused",
        "question": "q",
        "round": 1,
        "since": "1970-01-01T00:00:02.000Z",
    }
    for asked in ((paused, no), (no, paused), (sent, no, refused, paused)):
        question = after(proposed, *asked).question
        assert question is not None
        assert question["rejected"] is True
    assert after(proposed, paused, no, skipped).proposal == ""
    again = after(proposed, paused, no, skipped, proposed, paused)
    assert (again.proposal, "rejected" in (again.question or {})) == ("open", False)
    assert after(proposed, sent, ("edit_acknowledged", {}), no).proposal == ""
