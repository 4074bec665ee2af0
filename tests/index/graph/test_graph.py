"""Who waits for whom."""

import pytest

from loop_ls.formats.workflow.model import Workflow
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.index.document import Document
from loop_ls.index.graph.graph import Graph, cycles, dependencies, run_order
from loop_ls.index.graph.workflow_nodes import nodes_of
from loop_ls.text.position import Span
from tests.index.building import document, place

LOOP = "max_iterations: 2, until: u"


def order(found: Document) -> list[str]:
    return [found.elements[i].name for i in found.graph.order()]


def both(body: str) -> list[str]:
    """The order, which has to be the same for the snapshot and for the values that run."""
    found = document(body)
    names = order(found)
    values = read_workflow(str(found.text))
    assert isinstance(values, Workflow), values
    assert [e.name for e in run_order(values)] == names
    assert nodes_of(values) == tuple(e.node for e in found.elements)
    return names


def test_WB_050_independent_steps_run_in_document_order() -> None:
    assert both("steps:\n  - {name: c, run: x}\n  - {name: a, run: x}\n  - {name: b, run: x}\n") == ["c", "a", "b"]


def test_WB_051_a_needed_step_runs_first_wherever_it_stands() -> None:
    assert both("steps:\n  - {name: a, run: x, needs: [b]}\n  - {name: b, run: x}\n") == ["b", "a"]


@pytest.mark.parametrize(
    "use", ["run: '{{b}}'", "run: '{{step.b}}'", "run: x, if: '{{b}}'", "run: x, if: \"${{ b == 'y' }}\""]
)
def test_WB_052_a_variable_waits_for_its_step(use: str) -> None:
    assert both(f"steps:\n  - {{name: a, {use}}}\n  - {{name: b, run: x}}\n") == ["b", "a"]


def test_WB_053_a_loop_waits_for_what_its_arguments_use() -> None:
    loop = f"loops:\n  - {{name: l, workflow: w2, {LOOP}, with: {{deep: [{{x: '{{{{b}}}}'}}]}}}}\n"
    body = loop + "steps:\n  - {name: b, run: x}\n"
    assert both(body) == ["b", "l"]


def test_WB_053_until_counts_as_well() -> None:
    body = "loops:\n  - {name: l, workflow: w2, max_iterations: 2, until: 'as {{b}}'}\nsteps:\n  - {name: b, run: x}\n"
    assert both(body) == ["b", "l"]


def test_WB_054_needs_may_name_a_loop_further_down() -> None:
    body = f"steps:\n  - {{name: a, run: x, needs: [l]}}\nloops:\n  - {{name: l, workflow: w2, {LOOP}}}\n"
    assert both(body) == ["l", "a"]


@pytest.mark.parametrize("name", ["m", "history"])
def test_WB_055_a_loop_waits_for_another_by_name_or_accumulate(name: str) -> None:
    body = (
        f"loops:\n  - {{name: l, workflow: w2, {LOOP}, with: {{x: '{{{{{name}}}}}'}}}}\n"
        f"  - {{name: m, workflow: w2, {LOOP}, accumulate: history}}\n"
    )
    assert both(body) == ["m", "l"]


def test_WB_056_loop_iteration_waits_for_the_nearest_loop_above() -> None:
    body = (
        f"loops:\n  - {{name: far, workflow: w2, {LOOP}}}\n"
        f"  - {{name: near, workflow: w2, {LOOP}, with: {{x: '{{{{slow}}}}'}}}}\n"
        f"steps:\n  - {{name: a, run: '{{{{loop.iteration}}}}'}}\n  - {{name: slow, run: x}}\n"
        f"loops:\n  - {{name: below, workflow: w2, {LOOP}}}\n"
    )
    assert both(body) == ["far", "slow", "near", "a", "below"]
    graph = document(body).graph
    assert graph.third(2) == 1
    assert not graph.depends_explicitly(2, 1)
    assert graph.depends(2, 1)


def test_WB_056_a_step_that_already_reaches_a_loop_waits_for_no_other() -> None:
    body = (
        f"loops:\n  - {{name: l, workflow: w2, {LOOP}}}\n  - {{name: m, workflow: w2, {LOOP}}}\n"
        "steps:\n  - {name: b, run: x, needs: [l]}\n  - {name: a, run: '{{loop.output}} {{b}}'}\n"
    )
    graph = document(body).graph
    assert graph.third(3) is None
    assert not graph.depends(3, 1)
    assert graph.loops_before(3) == (0,)


def test_loop_variables_inside_a_loop_of_its_own_wait_for_nothing() -> None:
    body = (
        f"loops:\n  - {{name: l, workflow: w2, {LOOP}}}\n"
        f"steps:\n  - {{name: a, loop: {{workflow: w2, {LOOP}, with: {{n: '{{{{loop.iteration}}}}'}}}}}}\n"
    )
    assert document(body).graph.targets(1) == ()


def test_WB_057_execution_order_breaks_ties_and_needs_win() -> None:
    body = (
        "steps:\n  - {name: none, run: x}\n  - {name: two, run: x, execution_order: 2}\n"
        "  - {name: one, run: x, execution_order: 1}\n  - {name: also, run: x, execution_order: 1}\n"
        "  - {name: zero, run: x, execution_order: 0, needs: [none]}\n"
    )
    assert both(body) == ["one", "also", "two", "none", "zero"]


def test_WB_046_interleaved_blocks_run_as_they_read() -> None:
    body = (
        "steps:\n  - {name: stage1, run: x}\n"
        f"loops:\n  - {{name: develop, workflow: w2, {LOOP}, with: {{r: '{{{{stage1}}}}'}}}}\n"
        f"loops:\n  - {{name: test, workflow: w2, {LOOP}, with: {{c: '{{{{develop}}}}'}}}}\n"
        "steps:\n  - {name: deploy, needs: [test], run: x}\n"
    )
    assert both(body) == ["stage1", "develop", "test", "deploy"]


def test_parts_of_a_search_wait_for_it() -> None:
    assert both("steps:\n  - {name: a, run: '{{r.total_results}}'}\n  - {name: r, rag: {query: q}}\n") == ["r", "a"]


def test_WB_059_a_cycle_is_named_along_its_path() -> None:
    body = (
        "steps:\n  - {name: a, run: '{{c}}'}\n  - {name: b, run: x, needs: [a]}\n"
        "  - {name: c, run: x, if: '{{b}}'}\n  - {name: d, run: '{{a}}'}\n"
    )
    found = document(body)
    assert found.graph.cycles == ((0, 2, 1),)
    assert order(found) == [], "what hangs in a cycle does not run"
    values = read_workflow(str(found.text))
    assert isinstance(values, Workflow)
    assert cycles(values) == (("a", "c", "b"),)


def test_two_groups_give_two_cycles() -> None:
    body = (
        "steps:\n  - {name: a, run: x, needs: [b]}\n  - {name: b, run: x, needs: [a]}\n"
        "  - {name: c, run: x, needs: [d, a]}\n  - {name: d, run: x, needs: [c]}\n"
    )
    assert document(body).graph.cycles == ((0, 1), (2, 3))


def test_a_group_that_an_edit_splits_gives_two_cycles() -> None:
    body = (
        "steps:\n  - {name: a, run: x, needs: [b]}\n  - {name: b, run: x, needs: [a, c]}\n"
        "  - {name: c, run: x, needs: [d]}\n  - {name: d, run: x, needs: [c, b]}\n"
    )
    found = document(body)
    assert found.graph.cycles == ((0, 1),)
    start, end = place(found, "a, c]").start, place(found, ", c]").end
    assert found.edit(Span(start, end), "a]").graph.cycles == ((0, 1), (2, 3))


def test_WF302_WF510_an_element_that_uses_itself_is_no_cycle() -> None:
    found = document("steps:\n  - {name: a, run: '{{a}}', needs: [a]}\n")
    assert found.graph.cycles == ()
    assert order(found) == ["a"]


def test_WF304_explicit_dependencies_go_through_needs_and_loops_only() -> None:
    body = (
        "steps:\n  - {name: a, run: x}\n  - {name: b, run: '{{a}}'}\n  - {name: c, run: x, needs: [b]}\n"
        "  - {name: d, run: x, needs: [l]}\n"
        f"loops:\n  - {{name: l, workflow: w2, {LOOP}, with: {{x: '{{{{a}}}}'}}}}\n"
    )
    graph = document(body).graph
    assert not graph.depends_explicitly(1, 0)
    assert graph.depends(1, 0)
    assert graph.depends_explicitly(2, 1)
    assert not graph.depends_explicitly(2, 0)
    assert graph.depends_explicitly(3, 0), "through the loop"


def test_of_two_elements_with_one_name_the_first_is_waited_for() -> None:
    graph = document("steps:\n  - {name: a, run: x}\n  - {name: a, run: x}\n  - {name: b, run: '{{a}}'}\n").graph
    assert graph.targets(2) == (0,)


def test_dependencies_of_a_target() -> None:
    values = read_workflow(
        str(
            document(
                "steps:\n  - {name: a, run: x}\n  - {name: b, run: '{{a}}'}\n  - {name: c, run: x, needs: [b]}\n"
            ).text
        )
    )
    assert isinstance(values, Workflow)
    assert dependencies(values, "c") == {"a", "b"}
    assert dependencies(values, "nowhere") == frozenset()


def test_a_chain_of_thousands_is_no_problem() -> None:
    steps = "".join(f"  - {{name: s{n}, run: '{{{{s{n - 1}}}}}'}}\n" for n in range(1, 5000))
    found = document("steps:\n  - {name: s0, run: x}\n" + steps)
    assert len(found.graph.dependencies(4999)) == 4999
    assert found.graph.cycles == ()
    assert found.graph.order() == tuple(range(5000))


def test_an_empty_graph() -> None:
    graph = Graph.of(())
    assert (graph.order(), graph.cycles, len(graph)) == ((), (), 0)
