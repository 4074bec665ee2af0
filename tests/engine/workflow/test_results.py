"""What a workflow leaves behind: accumulated outputs, totals, its own result."""

from __future__ import annotations

import pytest

from loop_ls.testing.models import failure
from loop_ls.testing.workflows import run

WORK = "steps: [{name: work, run: 'do it'}]"


@pytest.mark.parametrize(("answers", "history"), [(["A", "B", "C"], "A---B---C"), (["A", failure(), "C"], "A---C")])
async def test_WB_097_accumulate_joins_the_successful_outputs(answers: list[str], history: str) -> None:
    main = """
        loops:
          - {name: l, workflow: work, max_iterations: 3, until: "It says DONE", on_failure: continue, accumulate: h}
        steps: [{name: end, needs: [l], run: "{{h}}"}]
    """
    ran = await run({"main": main, "work": WORK}, {"work": answers, "judge": "NO"})
    assert ran.prompt("end") == history


async def test_WB_098_a_failed_iteration_was_run_too() -> None:
    main = """
        loops: [{name: l, workflow: work, max_iterations: 3, until: "It says DONE", on_failure: continue}]
        steps: [{name: end, needs: [l], run: "{{loop.iteration}}"}]
    """
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B", failure()], "judge": "NO"})
    assert ran.prompt("end") == "3"
    assert ran.completed("l")["totalIterations"] == 3


async def test_WB_099_the_last_step_in_the_list_gives_the_result() -> None:
    ran = await run("steps: [{name: a, needs: [b], run: x}, {name: b, run: x}]", {"a": "of a", "b": "of b"})
    assert ran.order == ["b", "a"]
    assert ran.output == "of b"


async def test_WB_100_a_skipped_last_step_gives_no_result() -> None:
    ran = await run("steps: [{name: a, run: x}, {name: b, run: x}, {name: c, if: '', run: x}]", {"b": "of b"})
    assert ran.output == "of b"


async def test_WB_048_without_steps_the_last_loop_gives_the_result() -> None:
    main = """
        loops:
          - {name: l, workflow: work, max_iterations: 1, until: "It says DONE"}
          - {name: m, workflow: work, max_iterations: 1, until: "It says DONE"}
    """
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B"], "judge": "YES"})
    assert (ran.output, ran.reason) == ("B", "condition_met")


async def test_WB_101_a_step_level_loop_can_give_the_result() -> None:
    main = """
        steps:
          - {name: a, run: x}
          - {name: l, needs: [a], loop: {workflow: work, max_iterations: 2, until: "It says DONE"}}
    """
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B"], "judge": "NO"})
    assert ran.output == "B"


async def test_WB_102_a_step_level_loop_is_a_step_outside_and_a_loop_inside() -> None:
    main = """
        steps:
          - name: l
            needs: [late]
            if: "{{late}}"
            loop:
              workflow: work
              max_iterations: 3
              until: It says DONE
              with: {n: "{{loop.iteration}} after {{late}}"}
              accumulate: h
          - {name: never, if: "false", loop: {workflow: work, max_iterations: 3, until: It says DONE}}
          - {name: late, run: x}
          - {name: end, needs: [l, never], run: "{{l}} {{step.l}} {{h}} {{loop.iteration}} [{{never}}]"}
    """
    callee = "steps: [{name: work, run: '{{n}}'}]"
    ran = await run({"main": main, "work": callee}, {"work": ["A", "B"], "judge": ["NO", "YES"]})
    assert ran.order == ["late", "work", "judge", "work", "judge", "end"]
    assert ran.prompts("work") == ["1 after ok", "2 after ok"]
    assert ran.prompt("end") == "B B A---B 2 []"
    assert ran.completed("l")["reason"] == "condition_met"


async def test_WB_165_a_target_runs_what_it_depends_on_and_nothing_after_it() -> None:
    main = """
        steps:
          - {name: a, run: x}
          - {name: b, run: x}
          - {name: c, needs: [l], run: x}
        loops: [{name: l, workflow: work, max_iterations: 2, until: "It says DONE", with: {input: "{{a}}"}}]
    """
    plan = {"target_kind": "loop", "target_name": "l", "elements": ("a", "l")}
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B"], "judge": "NO"}, **plan)
    assert ran.order == ["a", "work", "judge", "work", "judge"]
    assert (ran.output, ran.reason, ran.outcome.iterations) == ("B", "max_iterations", 2)
