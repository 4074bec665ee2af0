"""In which order the elements of a workflow run."""

from __future__ import annotations

from loop_ls.testing.workflows import run

WORK = "steps: [{name: work, run: 'do it with {{input}}'}]"
LOOP = "workflow: work, max_iterations: 1, until: 'It says DONE'"


async def order(main: str, **script: str) -> list[str]:
    """The names that were asked, judges left out."""
    ran = await run({"main": main, "work": WORK}, {"judge": "NO", **script})
    assert ran.outcome.failure is None
    return [name for name in ran.order if name != "judge"]


async def test_WB_050_independent_steps_run_in_document_order() -> None:
    main = "steps: [{name: c, run: x}, {name: a, run: x}, {name: b, run: x}]"
    for _ in range(10):
        assert await order(main) == ["c", "a", "b"]


async def test_WB_051_a_needed_step_further_down_runs_first() -> None:
    assert await order("steps: [{name: a, needs: [b], run: x}, {name: b, run: x}]") == ["b", "a"]


async def test_WB_052_a_step_waits_for_what_it_uses() -> None:
    assert await order("steps: [{name: a, run: '{{x}}'}, {name: x, run: go}]") == ["x", "a"]


async def test_WB_052_a_name_in_a_condition_is_used_too() -> None:
    assert await order("steps: [{name: a, if: '{{x}}', run: go}, {name: x, run: go}]") == ["x", "a"]
    assert await order("""steps: [{name: a, if: '${{ x == "ok" }}', run: go}, {name: x, run: go}]""") == ["x", "a"]


async def test_WB_053_a_loop_waits_for_what_its_arguments_use() -> None:
    main = f"""
        loops: [{{name: l, {LOOP}, with: {{input: "{{{{late}}}}"}}}}]
        steps: [{{name: early, run: x}}, {{name: late, needs: [early], run: x}}]
    """
    assert await order(main) == ["early", "late", "work"]


async def test_WB_054_a_step_waits_for_a_loop_that_stands_below_it() -> None:
    main = f"""
        steps: [{{name: report, needs: [l], run: x}}]
        loops: [{{name: l, {LOOP}}}]
    """
    assert await order(main) == ["work", "report"]


async def test_WB_055_a_loop_waits_for_the_loop_whose_output_it_uses() -> None:
    main = f"""
        loops:
          - {{name: second, {LOOP}, with: {{input: "{{{{first}}}}"}}}}
          - {{name: third, {LOOP}, with: {{input: "{{{{all}}}}"}}}}
          - {{name: first, {LOOP}, accumulate: all}}
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO", "work": ["A", "B", "C"]})
    assert ran.prompts("work") == ["do it with ", "do it with A", "do it with A"]


async def test_WB_056_a_step_that_uses_only_loop_variables_waits_for_the_loop_above() -> None:
    main = f"""
        loops: [{{name: far, {LOOP}}}, {{name: near, {LOOP}, with: {{input: "{{{{slow}}}}"}}}}]
        steps: [{{name: report, run: "{{{{loop.iteration}}}}"}}, {{name: slow, run: x}}]
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO"})
    assert [name for name in ran.order if name != "judge"] == ["work", "slow", "work", "report"]
    assert ran.prompt("report") == "1"


async def test_WB_057_execution_order_comes_before_document_order() -> None:
    main = """
        steps:
          - {name: none, run: x}
          - {name: two, execution_order: 2, run: x}
          - {name: one, execution_order: 1, run: x}
    """
    assert await order(main) == ["one", "two", "none"]


async def test_WB_057_equal_numbers_run_in_document_order_and_needs_win() -> None:
    main = """
        steps:
          - {name: b, execution_order: 1, run: x}
          - {name: a, execution_order: 1, run: x}
          - {name: first, execution_order: 0, needs: [last], run: x}
          - {name: last, execution_order: 9, run: x}
    """
    assert await order(main) == ["b", "a", "last", "first"]


async def test_WB_058_a_step_that_needs_a_skipped_one_runs_with_empty_text() -> None:
    main = """
        steps:
          - {name: a, if: "false", run: x}
          - {name: b, needs: [a], run: "[{{a}}]"}
    """
    ran = await run(main)
    assert ran.prompt("b") == "[]"
