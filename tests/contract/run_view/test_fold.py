"""Facts folded into the view of a run: rows, stages, verdicts, money, the graph, and what is new since a number."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from loop_ls.contract.endings import ENDINGS
from loop_ls.contract.run_view.fold import RunView, folded
from loop_ls.contract.run_view.wire import ViewPatch
from loop_ls.testing.call_count import calls_in

Event = dict[str, Any]


def numbered(*facts: Event, first: int = 1) -> list[Event]:
    return [
        {"at": f"2026-01-01T00:00:{number % 60:02}Z", **fact, "seq": number} for number, fact in enumerate(facts, first)
    ]


def view_of(*facts: Event) -> RunView:
    return folded(numbered(*facts))


def iteration(number: int, verdict: str, output: str = "") -> list[Event]:
    """One iteration of `develop` with two steps and its verdict."""
    place = f"develop/{number}"
    within = {"loop": "develop", "iteration": number, "depth": 1}
    said = output or f"output {number}"
    own = {"place": place, "loop": "develop", "iteration": number}
    return [
        {"kind": "iteration_started", **own, "maxIterations": 5},
        {"kind": "step_started", "place": f"{place}/write", "step": "write", "mode": "run", **within},
        {"kind": "call", "place": f"{place}/write", "usd": 0.01, "tokens": {"input": 10, "output": 5}, **within},
        {"kind": "step_completed", "place": f"{place}/write", "step": "write", "output": "draft", **within},
        {"kind": "step_started", "place": f"{place}/review", "step": "review", "mode": "run", **within},
        {"kind": "step_completed", "place": f"{place}/review", "step": "review", "output": said, **within},
        {"kind": "iteration", **own, "output": said, "maxIterations": 5},
        {"kind": "judged", **own, "verdict": verdict, "answer": verdict.upper(), "outputRef": place},
    ]


BEGUN: list[Event] = [
    {"kind": "run_started", "format": "workflow", "name": "flow"},
    {"kind": "step_started", "place": "plan", "step": "plan", "mode": "run"},
    {"kind": "step_completed", "place": "plan", "step": "plan", "mode": "run", "output": "the plan"},
    {"kind": "step_started", "place": "develop", "step": "develop", "mode": "loop", "condition": "It is good",
     "maxIterations": 5},
]  # fmt: skip


def rows(view: RunView) -> dict[str, Event]:
    return {row.id: row.wire() for row in view.rows.values()}


def test_steps_headings_and_iterations_stand_in_the_order_in_which_they_began() -> None:
    view = view_of(*BEGUN, *iteration(1, "no"), *iteration(2, "yes"))
    assert [(row["kind"], row["id"], row.get("parent")) for row in rows(view).values()] == [
        ("step", "plan", None),
        ("loop", "develop#loop", None),
        ("iteration", "develop/1", "develop#loop"),
        ("iteration", "develop/2", "develop#loop"),
    ]


def test_an_iteration_has_verdict_beginning_of_its_output_steps_and_cost() -> None:
    row = rows(view_of(*BEGUN, *iteration(1, "no"), *iteration(2, "yes")))["develop/1"]
    told = {name: row[name] for name in ("status", "verdict", "excerpt", "tokens", "max", "first", "last")}
    assert told == {"status": "completed", "verdict": "no", "excerpt": "output 1", "tokens": 15, "max": 5,
                    "first": 5, "last": 12}  # fmt: skip
    assert (row["usd"], row["cost"]) == (0.01, "$0.01")
    assert [(stage["name"], stage["status"], stage.get("usd")) for stage in row["stages"]] == [
        ("write", "completed", 0.01),
        ("review", "completed", None),
    ]
    assert (row["startedAt"], row["endedAt"]) == ("2026-01-01T00:00:05Z", "2026-01-01T00:00:12Z")


def test_the_heading_says_the_condition_and_how_far_it_is() -> None:
    heading = rows(view_of(*BEGUN, *iteration(1, "no"), *iteration(2, "yes")))["develop#loop"]
    assert [heading[name] for name in ("condition", "number", "max", "verdict")] == ["It is good", 2, 5, "yes"]


def test_the_graph_is_lit_where_something_was_and_dark_again_in_the_next_iteration() -> None:
    view = view_of(*BEGUN, *iteration(1, "no"), *iteration(2, "yes"))
    assert {path: node.wire() for path, node in view.nodes.items()} == {
        "plan": {"status": "completed"},
        "develop": {"status": "running", "note": "2/5"},
        "develop/write": {"status": "completed"},
        "develop/review": {"status": "completed"},
    }
    assert list(view_of(*BEGUN, *iteration(1, "no"), iteration(2, "no")[0]).nodes) == ["plan", "develop"]


def test_a_name_that_is_a_number_is_no_iteration() -> None:
    started = {"kind": "run_started", "format": "workflow"}
    view = view_of(started, {"kind": "step_started", "place": "3", "step": "3", "mode": "run"})
    assert list(view.nodes) == ["3"]


def test_loops_inside_of_iterations_lie_below_them_and_their_cost_counts_for_both() -> None:
    view = view_of(
        {"kind": "run_started", "format": "workflow"},
        {"kind": "step_started", "place": "outer", "step": "outer", "mode": "loop"},
        {"kind": "iteration_started", "place": "outer/1", "loop": "outer", "iteration": 1},
        {"kind": "step_started", "place": "outer/1/inner", "step": "inner", "mode": "loop", "depth": 1},
        {"kind": "iteration_started", "place": "outer/1/inner/1", "loop": "inner", "iteration": 1, "depth": 1},
        {"kind": "call", "place": "outer/1/inner/1/write", "usd": 0.5, "tokens": {"input": 1, "output": 1}},
    )
    found = rows(view)
    assert found["outer/1/inner/1"]["parent"] == "outer/1/inner#loop"
    assert found["outer/1/inner#loop"]["parent"] == "outer/1"
    assert {found[id]["usd"] for id in ("outer/1/inner/1", "outer/1/inner#loop", "outer/1", "outer#loop")} == {0.5}
    assert (view.usd, view.calls, view.rows["outer/1"].usd, view.rows["outer/1/inner/1"].usd) == (0.5, 1, None, 0.5)
    assert list(view.own_loops) == ["outer"]


def test_what_another_run_has_paid_for_costs_nothing_here() -> None:
    begun = {"kind": "iteration_started", "place": "develop/1", "loop": "develop", "iteration": 1}
    view = view_of(*BEGUN, begun, {"kind": "call", "place": "develop/1/write", "usd": 1, "copied": True})
    assert ("usd" in rows(view)["develop/1"], view.usd, view.calls) == (False, None, 0)


def test_waiting_for_another_try_is_said_and_forgotten_when_it_goes_on() -> None:
    waiting = {"kind": "retrying", "place": "develop/1/write", "attempt": 2, "delay": 4,
               "because": {"message": "Too many requests."}}  # fmt: skip
    facts = [*BEGUN, *iteration(1, "no")[:2], waiting]
    row = rows(view_of(*facts))["develop/1"]
    assert row["note"] == row["stages"][0]["note"] == "try 2, in 4 s: Too many requests."
    on = rows(view_of(*facts, *iteration(1, "no")[3:]))["develop/1"]
    assert "note" not in on and "note" not in on["stages"][0]


def test_a_decision_of_a_person_is_waited_for() -> None:
    asked = {"kind": "manual_approval_required", "place": "develop/1", "loopId": "x", "iteration": 1, "output": "o"}
    facts = [*BEGUN, *iteration(1, "no")[:-1], asked]
    assert rows(view_of(*facts))["develop/1"]["status"] == "waiting"
    answered = {"kind": "approval_resolved", "place": "develop/1", "approved": True}
    assert rows(view_of(*facts, answered))["develop/1"]["status"] == "completed"


def test_what_still_ran_when_a_run_was_stopped_says_so() -> None:
    view = view_of(*BEGUN, *iteration(1, "no")[:2], {"kind": "cancelled", "cause": "user"})
    row = rows(view)["develop/1"]
    assert (row["status"], row["stages"][0]["status"], view.nodes["develop/write"].status) == ("cancelled",) * 3


def test_a_long_output_is_known_by_its_length_and_kept_only_where_it_is_wanted() -> None:
    facts = numbered(*BEGUN, *iteration(1, "no", "x" * 4000))
    row = folded(facts).rows["develop/1"]
    assert (row.length, len(row.output or ""), len(row.wire()["excerpt"])) == (4000, 600, 200)
    assert len(folded(facts, keep=None).rows["develop/1"].output or "") == 4000


def test_a_stage_of_a_role_loop_that_is_handed_out_again_is_one_stage() -> None:
    begun = {"kind": "stage_started", "place": "pair/1/writer", "stage": "writer", "role": "dev", "index": 0}
    view = view_of(
        {"kind": "run_started", "format": "role_loop", "name": "pair"},
        {"kind": "iteration_started", "place": "pair/1", "loop": "pair", "iteration": 1},
        {**begun, "task": "t1"},
        {**begun, "task": "t2"},
        {"kind": "stage_completed", "place": "pair/1/writer", "stage": "writer", "output": "done", "artifact": "a1"},
    )
    (stage,) = view.rows["pair/1"].stages
    assert (stage.status, stage.role, stage.more["task"], stage.artifact) == ("completed", "dev", "t2", "a1")
    assert (stage.wire()["mode"], view.own_loops["pair"].iteration) == ("role", 1)


def test_an_assistant_has_iterations_without_a_heading() -> None:
    own = {"place": "fixer/1", "loop": "Fixer", "iteration": 1}
    view = view_of(
        {"kind": "run_started", "format": "assistant", "name": "Fixer"},
        {"kind": "iteration_started", **own, "maxIterations": 3},
        {"kind": "iteration", **own, "output": "red"},
        {"kind": "judged", **own, "verdict": "no", "answer": "1 failed", "outputRef": "fixer/1", "local": True},
    )
    assert list(rows(view)) == ["fixer/1"]
    loop = view.own_loops["Fixer"]
    assert (loop.iteration, loop.max, loop.verdicts) == (1, 3, [(1, "no", "red", "1 failed", True)])


def test_what_a_reader_does_not_have_yet_is_told_by_number() -> None:
    view = view_of(*BEGUN, *iteration(1, "no"))
    seen = view.seq
    assert view.patch(seen) == {"seq": seen, "rows": []}
    for fact in numbered(*iteration(2, "no")[:2], first=seen + 1):
        view.take(fact)
    patch = view.patch(seen)
    assert (patch["seq"], {row["id"] for row in patch["rows"]}) == (seen + 2, {"develop#loop", "develop/2"})
    assert patch["nodes"]["develop"] == {"status": "running", "note": "2/5"}


def test_pages_of_a_view_are_the_whole_of_it() -> None:
    facts = [fact for number in range(1, 41) for fact in iteration(number, "no")]
    view = view_of(*BEGUN, *facts)
    found: dict[str, Event] = {}
    after, pages, more = 0, 0, True
    while more:
        patch = view.patch(after, 7)
        found |= {row["id"]: row for row in patch["rows"]}
        after, more, pages = patch["seq"], patch.get("more", False), pages + 1
    assert found == rows(view)
    assert (after, pages > 4, "nodes" in patch) == (view.seq, True, True)


def test_facts_of_another_version_are_passed_over() -> None:
    odd = [{}, {"kind": None}, {"kind": "judged"}, {"kind": "iteration", "loop": 3}, {"kind": "call", "tokens": 3},
           {"kind": "step_completed"}, {"kind": "retrying"}, {"kind": "new", "place": 7}]  # fmt: skip
    view = folded(odd)
    assert (view.own_loops, view.usd) == ({}, None)


def test_a_fact_costs_the_same_in_a_long_run() -> None:
    """Ten times as many iterations are ten times as much work, not a hundred times."""

    def work(iterations: int) -> int:
        facts = numbered(*BEGUN, *(fact for number in range(1, iterations + 1) for fact in iteration(number, "no")))

        def folded() -> None:
            view = RunView()
            for fact in facts:
                view.take(fact)
                view.changed_after(view.seq - 1)

        return calls_in(folded)

    assert work(1000) < 11 * work(100)


def test_warnings_stand_in_their_row_in_the_words_of_endings() -> None:
    warned = [
        {"kind": "loop_fixation_warning", "place": "plan"},
        {"kind": "unchanged_output_warning", "place": "plan", "repeated": 3},
        {"kind": "warning", "place": "plan", "message": "look"},
    ]
    found = rows(view_of(*BEGUN, *warned))["plan"]["warnings"]
    assert found == ["The same failure again.", "The last 3 outputs are the same.", "look"]
    assert found[0].lower().rstrip(".") == ENDINGS["fixation"].short


def test_the_length_of_a_shortened_output_is_that_of_the_whole() -> None:
    own = {"place": "develop/1", "loop": "develop", "iteration": 1, "cut": True}
    shortened = {"kind": "iteration", **own, "output": "beginning", "lengths": {"output": 5000}}
    view = view_of(*BEGUN, {"kind": "iteration_started", **own}, shortened)
    assert rows(view)["develop/1"]["length"] == 5000


def test_what_travels_is_what_the_contract_declares() -> None:
    """No field that it does not declare, and each of its type."""
    patch = TypeAdapter(ViewPatch)
    view = RunView()
    facts = [
        *BEGUN,
        *iteration(1, "no"),
        {"kind": "retrying", "place": "plan", "attempt": 2, "delay": 4, "because": {"message": "busy"}},
        {"kind": "tool_called", "place": "plan"},
        {"kind": "warning", "place": "plan", "message": "look"},
        {"kind": "step_failed", "place": "develop", "step": "develop", "mode": "loop", "error": {"message": "boom"}},
        {"kind": "failed", "error": {"code": "error", "message": "boom"}},
    ]
    for fact in numbered(*facts):
        view.take(fact)
        patch.validate_python(view.patch(0), strict=True)
