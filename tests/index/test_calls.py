"""What runs can cost, and circles of calls."""

from loop_ls.index.calls import UNKNOWN, Calls, circle_through, element_calls, innermost_runs, workflow_calls
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from tests.index.building import document, element, workspace


def two_runs(name: str = "two") -> Document:
    return document("steps:\n  - {name: a, run: x}\n  - {name: b, run: x}\n", name)


def looping(name: str, callee: str, limit: int, extra: str = "") -> Document:
    loop = f"  - {{name: l, workflow: {callee}, max_iterations: {limit}, until: u{extra}}}\n"
    return document("loops:\n" + loop, name)


def calls(inside: Workspace, key: str) -> Calls:
    found = inside.by_key(key)
    assert found is not None
    return workflow_calls(inside, found)


def test_WB_072_a_callee_of_two_steps_costs_three_calls_for_each_iteration() -> None:
    inside = workspace(two_runs(), looping("outer", "two", 5))
    assert calls(inside, "outer") == (3, 15)


def test_4_11_nested_loops_multiply() -> None:
    inside = workspace(two_runs(), looping("inner", "two", 4), looping("outer", "inner", 3))
    assert calls(inside, "outer") == (3 + 1, 3 * (4 * 3 + 1))
    outer = inside.by_key("outer")
    assert outer is not None
    assert innermost_runs(inside, outer, element(outer, "l")) == 12


def test_WF710_loops_reached_through_templates_count() -> None:
    middle = document("steps:\n  - {name: t, template: {name: inner}}\n", "middle")
    inside = workspace(two_runs(), looping("inner", "two", 9), middle, looping("outer", "middle", 7))
    outer = inside.by_key("outer")
    assert outer is not None
    assert innermost_runs(inside, outer, element(outer, "l")) == 63


def test_WB_103_three_times_five_runs() -> None:
    inside = workspace(two_runs(), looping("inner", "two", 5), looping("outer", "inner", 3))
    outer = inside.by_key("outer")
    assert outer is not None
    assert innermost_runs(inside, outer, element(outer, "l")) == 15


def test_every_mode_has_its_price() -> None:
    body = (
        "steps:\n  - {name: a, run: x}\n  - {name: b, template: {name: two}}\n  - {name: c, rag: {query: q}}\n"
        "  - {name: d, embeddings: {input: x}}\n  - {name: e, run: x, if: y}\n"
        "  - name: f\n    consensus: {prompt: p, executions: [{provider: a}, {provider: b}, {provider: c}]}\n"
        "  - {name: g, loop: {workflow: two, mode: iterate, items: x, max_iterations: 10}}\n"
    )
    inside = workspace(two_runs(), document(body, "all"))
    found = inside.by_key("all")
    assert found is not None
    each = {e.name: element_calls(inside, found, e) for e in found.elements}
    assert each == {"a": (1, 1), "b": (2, 2), "c": (0, 0), "d": (1, 1), "e": (0, 1), "f": (3, 3), "g": (0, 20)}
    assert calls(inside, "all") == (7, 28)


def test_what_is_missing_or_unlimited_has_no_largest_number() -> None:
    body = (
        "loops:\n  - {name: l, workflow: two, until: u}\n"
        "  - {name: m, workflow: nowhere, max_iterations: 2, until: u}\n"
    )
    inside = workspace(two_runs(), document(body, "w"))
    assert calls(inside, "w").most is None


def test_a_circle_has_no_largest_number_and_ends() -> None:
    inside = workspace(looping("a", "b", 2), looping("b", "a", 2), looping("self", "self", 2))
    assert calls(inside, "a").most is None
    assert calls(inside, "self") == (UNKNOWN.least + 1, None)
    found = inside.by_key("a")
    assert found is not None
    assert innermost_runs(inside, found, element(found, "l")) is None


def test_many_ways_to_the_same_workflow_are_counted_once_each() -> None:
    levels = 20
    files = [
        document("steps:\n" + "".join(f"  - {{name: s{k}, template: {{name: f{n + 1}}}}}\n" for k in range(5)), f"f{n}")
        for n in range(levels)
    ]
    inside = workspace(*files, document("steps:\n  - {name: a, run: x}\n", f"f{levels}"))
    bottom = inside.by_key(f"f{levels - 10}")
    assert bottom is not None
    assert workflow_calls(inside, bottom).most == 5**10


def test_WF604_a_circle_is_named_call_by_call() -> None:
    inside = workspace(looping("a", "b", 2), looping("b", "c", 2), looping("c", "a", 2), two_runs())
    found = inside.by_key("a")
    assert found is not None
    circle = circle_through(inside, found, element(found, "l"))
    assert circle is not None
    assert [document.name for document, _ in circle.calls] == ["a", "b", "c"]
    assert not circle.guarded


def test_WF604_a_circle_through_a_condition_may_end() -> None:
    guarded = document("steps:\n  - {name: s, if: x, template: {name: w}}\n", "w")
    circle = circle_through(workspace(guarded), guarded, element(guarded, "s"))
    assert circle is not None
    assert circle.guarded


def test_WF604_a_way_without_a_condition_comes_first() -> None:
    both = document("steps:\n  - {name: s, if: x, template: {name: a}}\n  - {name: t, template: {name: a}}\n", "b")
    start = document("steps:\n  - {name: u, template: {name: b}}\n", "a")
    circle = circle_through(workspace(both, start), start, element(start, "u"))
    assert circle is not None
    assert [e.name for _, e in circle.calls] == ["u", "t"]
    assert not circle.guarded


def test_without_a_circle_there_is_none() -> None:
    outer = looping("outer", "two", 2)
    inside = workspace(two_runs(), outer, looping("a", "b", 2), looping("b", "a", 2))
    assert circle_through(inside, outer, element(outer, "l")) is None
