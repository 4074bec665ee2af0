"""Which variables exist where, and what they are."""

import pytest

from loop_ls.index.document import Document
from loop_ls.index.scope import Variable, look_up, scope_at
from loop_ls.index.workspace import Workspace
from tests.index.building import document, element, workspace

LOOPS = """
env: {MODE: fast}
steps:
  - {name: plan, run: x}
  - {name: find, rag: {query: q}}
loops:
  - name: polish
    workflow: callee
    with: {text: "{{plan}}"}
    max_iterations: 3
    until: says PASS
    accumulate: versions
  - name: each
    workflow: callee
    mode: iterate
    items: "[1]"
    max_iterations: 3
steps:
  - {name: report, needs: [polish], run: y}
  - {name: late, needs: [each], run: y}
  - {name: alone, run: z}
"""


def names(found: Document, who: str, field: str, inside: Workspace | None = None) -> list[str]:
    return list(scope_at(inside or workspace(found), found, element(found, who), field).variables)


def variable(found: Document, who: str, field: str, name: str, inside: Workspace | None = None) -> Variable:
    one = look_up(inside or workspace(found), found, element(found, who), field, name)
    assert one is not None, name
    return one


@pytest.mark.parametrize("field", ["with", "until"])
def test_a_refine_loop_has_its_four_variables(field: str) -> None:
    found = names(document(LOOPS), "polish", field)
    assert found[:4] == ["loop.iteration", "loop.last.output", "loop.history", "loop.output"]
    assert "loop.index" not in found


@pytest.mark.parametrize(
    ("name", "in_with", "in_until"),
    [
        ("loop.iteration", "1", "1"),
        ("loop.last.output", "", ""),
        ("loop.history", "", None),
        ("loop.output", "", None),
    ],
)
def test_C1_values_in_iteration_1(name: str, in_with: str | None, in_until: str | None) -> None:
    found = document(LOOPS)
    assert variable(found, "polish", "with", name).first == in_with
    assert variable(found, "polish", "until", name).first == in_until


def test_loop_output_is_the_previous_one_in_with_and_the_judged_one_in_until() -> None:
    found = document(LOOPS)
    assert "previous" in variable(found, "polish", "with", "loop.output").meaning
    assert "judged" in variable(found, "polish", "until", "loop.output").meaning


def test_an_iterate_loop_has_others_and_none_in_items() -> None:
    found = document(LOOPS)
    assert {n for n in names(found, "each", "with") if n.startswith("loop.")} == {
        *("loop.current", "loop.index", "loop.count", "loop.stats.succeeded", "loop.stats.failed")
    }
    assert not [n for n in names(found, "each", "items") if n.startswith("loop.")]


def test_WF507_aliases_lead_to_the_real_name() -> None:
    found = document(LOOPS)
    assert variable(found, "each", "with", "loop.item").alias_of == "loop.current"
    assert variable(found, "each", "with", "loop.failed").alias_of == "loop.stats.failed"
    assert look_up(workspace(found), found, element(found, "polish"), "with", "loop.item") is None


def test_WF506_after_a_loop_only_totals_are_left() -> None:
    found = document(LOOPS)
    after = [n for n in names(found, "report", "run") if n.startswith("loop.")]
    assert after == ["loop.iteration", "loop.output"]
    assert "polish" in variable(found, "report", "run", "loop.iteration").meaning
    assert look_up(workspace(found), found, element(found, "report"), "run", "loop.history") is None
    late = {n for n in names(found, "late", "run") if n.startswith("loop.")}
    assert late == {"loop.output", "loop.iterations", "loop.succeeded", "loop.failed"}


def test_WF506_before_every_loop_there_is_nothing() -> None:
    found = document(LOOPS)
    assert not [n for n in names(found, "plan", "run") if n.startswith("loop.")]


def test_a_step_below_a_loop_is_offered_what_the_third_rule_would_give_it() -> None:
    assert "loop.output" in names(document(LOOPS), "alone", "run")


def test_results_it_waits_for_come_before_those_it_could_wait_for() -> None:
    found = names(document(LOOPS), "report", "run")
    assert found.index("polish") < found.index("each")
    assert found.index("versions") < found.index("find")
    assert found[-1] == "env.MODE"


def test_what_waits_for_this_step_is_not_offered() -> None:
    found = names(document(LOOPS), "plan", "run")
    assert "polish" not in found
    assert "report" not in found
    assert "plan" not in found
    assert "find" in found


def test_results_say_who_makes_them_and_whether_they_wait() -> None:
    found = document(LOOPS)
    versions = variable(found, "report", "run", "step.versions")
    assert versions.kind == "accumulate"
    assert versions.element is element(found, "polish")
    assert not versions.waits
    assert variable(found, "report", "run", "find").waits


def test_the_parts_of_a_search_result() -> None:
    found = document(LOOPS)
    assert variable(found, "report", "run", "find.results").kind == "rag"
    assert look_up(workspace(found), found, element(found, "report"), "run", "plan.results") is None
    assert look_up(workspace(found), found, element(found, "report"), "run", "find.result") is None


def test_WF511_constants_are_those_of_this_file() -> None:
    found = document(LOOPS)
    assert variable(found, "plan", "run", "env.MODE").kind == "env"
    assert look_up(workspace(found), found, element(found, "plan"), "run", "env.HOME") is None


def test_WF503_there_is_no_nested_access() -> None:
    found = document(LOOPS)
    for name in ("input.key", "plan.result", "step.plan.x", "env.MODE.x", "loop"):
        assert look_up(workspace(found), found, element(found, "report"), "run", name) is None, name


def test_a_skipped_or_failed_step_can_be_empty() -> None:
    found = document(
        "steps:\n  - {name: a, run: x, if: y}\n  - {name: b, run: x}\n  - {name: c, run: x, needs: [a, b]}\n"
    )
    assert variable(found, "c", "run", "a").can_be_empty
    assert not variable(found, "c", "run", "b").can_be_empty


# -- in a called workflow --------------------------------------------------------------------------

CALLEE = "steps:\n  - {name: write, run: '{{text}} {{other}} {{loop.last.output}}'}\n"


def called(*callers: str) -> tuple[Workspace, Document]:
    callee = document(CALLEE, "callee")
    files = [document(body, f"caller{n}") for n, body in enumerate(callers)]
    return workspace(callee, *files), callee


def test_3_5_arguments_are_variables_of_the_callee() -> None:
    inside, callee = called(LOOPS)
    text = variable(callee, "write", "run", "text", inside)
    assert (text.kind, len(text.callers)) == ("argument", 1)
    assert look_up(inside, callee, element(callee, "write"), "run", "other") is None
    assert "other" in names(callee, "write", "run", inside), "a parameter that is used already is offered"


def test_the_callee_of_a_refine_loop_sees_its_variables() -> None:
    refine = "loops:\n  - {name: l, workflow: callee, max_iterations: 2, until: u}\n"
    inside, callee = called(refine)
    assert variable(callee, "write", "run", "loop.last.output", inside).first == ""
    assert look_up(inside, callee, element(callee, "write"), "run", "loop.index") is None


def test_the_callee_of_an_iterate_loop_sees_the_item() -> None:
    iterate = "loops:\n  - {name: l, workflow: callee, mode: iterate, items: x, max_iterations: 2}\n"
    inside, callee = called(iterate)
    assert variable(callee, "write", "run", "item", inside).kind == "item"
    assert variable(callee, "write", "run", "loop.index", inside).first == "0"


def test_the_callee_of_a_template_sees_no_loop() -> None:
    inside, callee = called("steps:\n  - {name: s, template: {name: callee, with: {text: x}}}\n")
    assert not [n for n in names(callee, "write", "run", inside) if n.startswith("loop.")]
    assert "passed by" in variable(callee, "write", "run", "input", inside).meaning


def test_without_an_element_the_whole_file_counts() -> None:
    found = document(LOOPS)
    everything = scope_at(workspace(found), found, None).variables
    assert {"plan", "polish", "versions", "input", "env.MODE"} <= set(everything)
