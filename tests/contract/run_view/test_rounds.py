"""Rounds of an enhance loop, folded from their facts."""

from __future__ import annotations

from typing import Any

from loop_ls.contract.run_view.fold import RunView, folded

Event = dict[str, Any]


def common(number: int) -> Event:
    return {"place": f"report/{number}", "round": number, "maxRounds": 3, "spentUsd": 0.2, "capUsd": 5.0}


FAILED: list[Event] = [
    {"kind": "run_started", "format": "enhance"},
    {"kind": "iteration_started", "place": "report/1", "loop": "report", "iteration": 1, "maxIterations": 3},
    {"kind": "round_started", **common(1)},
    {"kind": "step_started", "place": "report/1/draft", "step": "draft", "mode": "run", "depth": 1},
    {"kind": "step_completed", "place": "report/1/draft", "step": "draft", "mode": "run", "output": "x", "depth": 1},
    {
        "kind": "report_ready",
        **common(1),
        "converged": False,
        "failures": [{"id": "f1", "step": "review", "kind": "step_error", "class": "hard", "message": "refused"}],
        "report": {"cost": {"round_usd": 0.1, "cumulative_usd": 0.2}},
    },
    {"kind": "planner_started", **common(1)},
]
REJECTED = {"kind": "op_rejected", **common(1), "op": "set_instructions", "target": "nowhere",
            "reasonCode": "unknown_target", "message": "there is no step `nowhere`"}  # fmt: skip
CHANGE = {"op": "set_retries", "target": "publish", "reason": "it is last"}
PLANNED = [REJECTED, REJECTED, {"kind": "ops_proposed", **common(1), "ops": [CHANGE], "rationale": "No tone.",
                                "diff": "-a\n+b\n"}]  # fmt: skip
SENT = {"kind": "edit_sent", **common(1), "place": "report/1:plan1", "changes": [CHANGE], "question": "q1",
        "diff": "-a\n+b\n"}  # fmt: skip
TAKEN = {"kind": "edit_acknowledged", **common(1), "place": "report/1:plan1"}


def view_of(*facts: Event) -> RunView:
    return folded({**fact, "seq": number} for number, fact in enumerate(facts, 1))


def first(*facts: Event) -> Event:
    return view_of(*facts).rounds.all()[0].wire()


def test_what_failed_what_it_cost_and_what_is_being_done() -> None:
    found = first(*FAILED)
    told = ("number", "row", "status", "reported", "usd", "cumulativeUsd", "doing")
    assert [found[name] for name in told] == [1, "report/1", "failed", True, 0.1, 0.2, "planning changes"]
    assert found["failed"] == [{"step": "review", "kind": "step_error", "message": "refused"}]


def test_what_was_proposed_and_why_and_what_was_rejected_once() -> None:
    found = first(*FAILED, *PLANNED)
    assert (found["proposed"], found["rationale"], found["applied"]) == ([CHANGE], "No tone.", [])
    assert found["rejected"] == [
        {
            "op": "set_instructions",
            "target": "nowhere",
            "reason": "there is no step `nowhere`",
            "code": "unknown_target",
        }
    ]


def test_a_change_counts_as_applied_once_the_file_shows_it() -> None:
    before = first(*FAILED, *PLANNED, SENT)
    assert (before["applied"], before["doing"]) == ([], "changing the file")
    after = first(*FAILED, *PLANNED, SENT, TAKEN)
    assert (after["applied"], "doing" in after) == ([CHANGE], False)


def test_a_change_that_was_not_taken_says_why() -> None:
    found = first(*FAILED, *PLANNED, SENT, {"kind": "edit_refused", **common(1), "failureReason": "read-only"})
    assert (found["applied"], found["refused"]) == ([], "read-only")


def test_the_round_itself_is_no_part_of_the_graph_and_has_the_steps_in_its_row() -> None:
    view = view_of(*FAILED)
    assert list(view.nodes) == ["draft"]
    assert [stage.name for stage in view.rows["report/1"].stages] == ["draft"]


def test_nothing_is_being_done_once_the_loop_has_ended() -> None:
    view = view_of(*FAILED)
    seen = view.seq
    view.take({"kind": "cancelled", "cause": "user", "seq": seen + 1})
    (told,) = view.patch(seen)["rounds"]
    assert ("doing" in told, view.rounds.phase) == (False, "cancelled")


def test_phases_are_those_of_the_document() -> None:
    paused = {"kind": "loop_paused", **common(1), "question": "q2", "reason": "between_rounds"}
    phases = [
        ((), "planning"),
        ((*PLANNED, SENT), "awaiting_ack"),
        ((paused,), "awaiting_user"),
        (({**paused, "reason": "conflict"},), "conflict"),
        ((paused, {"kind": "interrupted"}), "interrupted"),
        ((paused, {"kind": "interrupted"}, {"kind": "resumed"}), "awaiting_user"),
        (({"kind": "completed", "reason": "converged"},), "converged"),
        (({"kind": "completed", "reason": "max_rounds"},), "gave_up"),
    ]
    for facts, phase in phases:
        assert view_of(*FAILED, *facts).rounds.phase == phase
    assert view_of(*FAILED, *PLANNED, SENT).rounds.question == "q1"


def test_a_wait_that_is_no_plain_pause_says_why_until_it_has_its_answer() -> None:
    asked = {"kind": "loop_paused", **common(1), "question": "q2", "reason": "conflict"}
    refused = {**asked, "conflict": "refused", "failureReason": "it is read-only"}
    typed = {**asked, "conflict": "document_invalid", "failureReason": "`a.yaml` cannot be run: line 3. Fix it."}
    told = {
        "The change is not in the file: it is read-only.": refused,
        "`a.yaml` cannot be run: line 3. Fix it.": typed,
        "": {**asked, "reason": "between_rounds"},
    }
    for why, fact in told.items():
        assert view_of(*FAILED, fact).rounds.waiting == why
        done = {"kind": "loop_continued", **common(1), "question": "q2", "withEdits": True}
        assert view_of(*FAILED, fact, done).rounds.waiting == ""


def test_loops_of_a_round_are_those_of_the_file_until_the_next_one_begins() -> None:
    own = {"place": "report/1/polish/1", "loop": "polish", "iteration": 1, "depth": 1}
    facts = [*FAILED, {"kind": "iteration_started", **own}, {"kind": "judged", **own, "verdict": "no"}]
    view = view_of(*facts)
    assert (list(view.own_loops), view.results) == (["polish"], {"draft": "x"})
    again = view_of(*facts, {"kind": "round_started", **common(2)})
    assert (again.own_loops, again.results) == ({}, {})


def trial(case: str, outcome: str, **more: Any) -> Event:
    return {"kind": "trial_finished", **common(1), "case": case, "outcome": outcome, "usd": 0.02, **more}


def test_trials_are_told_by_round_and_case() -> None:
    trials = [trial("sea", "pass"), trial("sea", "fail"), trial("hills", "pass"), trial("town", "void")]
    held = [trial("night", "pass", held=True), {"kind": "holdout_looked", **common(1), "passed": 1, "of": 1}]
    evidence = {"kind": "evidence", **common(1), "trials": 3, "passes": 2, "e": 0.55, "wanted": 10.0}
    decided = {"kind": "candidate_decided", **common(1), "accepted": False, "by": "regression", "case": "sea",
               "bestRound": 1, "bestPasses": 3, "bestTrials": 7}  # fmt: skip
    found = first(*FAILED[:3], *trials, *held, evidence, decided)
    told = "2 of 3 trials passed (3 of 7 in round 1), e 0.55 of 10, held out 1 of 1, runs $0.10"
    assert (found["trials"], found["notTaken"]) == (told, "a test case fails that passed before: `sea`")
    scores = [{"case": "sea", "passes": 1, "trials": 2}, {"case": "hills", "passes": 1, "trials": 1}]
    assert found["cases"] == scores
    assert first(*FAILED[:3], *trials)["doing"] == "testing it on cases"
    assert "trials" not in first(*FAILED)
