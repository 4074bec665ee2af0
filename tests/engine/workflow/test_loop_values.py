"""The `loop.*` variables, iteration by iteration."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.context.loop_variables import joined
from loop_ls.testing.models import failure
from loop_ls.testing.workflows import Ran, run

WITH = '{n: "{{loop.iteration}}", l: "{{loop.last.output}}", h: "{{loop.history}}", o: "{{loop.output}}"}'
WORK = 'steps: [{name: work, run: "{{n}}|{{l}}|{{h}}|{{o}}"}]'


async def loop(more: str = "", callee: str = WORK, until: str = "It says DONE", **script: Any) -> Ran:
    main = f"""
        loops:
          - {{name: l, workflow: work, max_iterations: 3, until: "{until}", with: {WITH}{more}}}
    """
    return await run({"main": main, "work": callee}, {"judge": "NO", "work": ["A", "B", "C"], **script})


async def test_WB_036_iteration_1_knows_an_empty_last_output_and_history() -> None:
    ran = await loop(judge="YES")
    assert ran.prompts("work") == ["1|||"]
    assert ran.warnings == []


async def test_WB_037_later_iterations_see_the_outputs_before_them() -> None:
    ran = await loop()
    assert ran.prompts("work")[1:] == ["2|A|A|A", "3|B|A---B|B"]


async def test_C1_loop_variables() -> None:
    main = f"""
        loops:
          - {{name: l, workflow: work, max_iterations: 3, until: "It says DONE", accumulate: all, with: {WITH}}}
        steps:
          - {{name: end, needs: [l], run: "{{{{l}}}} {{{{loop.output}}}} {{{{loop.iteration}}}} {{{{all}}}}"}}
    """
    ran = await run(
        {"main": main, "work": 'steps: [{name: work, run: "{{n}} {{l}} {{h}}"}]'},
        {
            "judge": "NO",
            "work": ["A", "B", "C"],
        },
    )
    assert ran.prompts("work") == ["1  ", "2 A A", "3 B A---B"]
    assert ran.prompt("end") == "C C 3 A---B---C"


async def test_C1_a_failed_iteration_leaves_no_trace() -> None:
    main = f"""
        loops:
          - name: l
            workflow: work
            max_iterations: 3
            until: It says DONE
            on_failure: continue
            accumulate: all
            with: {WITH}
        steps:
          - {{name: end, needs: [l], run: "{{{{loop.iteration}}}} {{{{all}}}}"}}
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO", "work": ["A", failure(), "C"]})
    assert ran.prompts("work")[2] == "3|A|A|A"
    assert ran.prompt("end") == "3 A---C"


async def test_WB_038_the_current_output_in_with_is_the_previous_one() -> None:
    ran = await loop(callee='steps: [{name: work, run: "[{{o}}]"}]')
    assert ran.prompts("work") == ["[]", "[A]", "[B]"]


async def test_WB_039_the_condition_sees_the_output_it_judges() -> None:
    ran = await loop(until="{{loop.iteration}}/{{loop.output}}/{{loop.history}}/{{loop.last.output}}/")
    conditions = [prompt.splitlines()[0] for prompt in ran.prompts("judge")]
    assert conditions == [
        'Evaluate this condition: "1/A/A//"',
        'Evaluate this condition: "2/B/A---B/A/"',
        'Evaluate this condition: "3/C/A---B---C/B/"',
    ]


async def test_WB_040_the_callee_sees_what_its_callers_with_saw() -> None:
    work = 'steps: [{name: work, run: "{{loop.iteration}} {{loop.last.output}} {{loop.history}}"}]'
    ran = await loop(callee=work)
    assert ran.prompts("work") == ["1  ", "2 A A", "3 B A---B"]


async def test_WB_041_a_second_loop_starts_afresh() -> None:
    main = f"""
        loops:
          - {{name: l, workflow: work, max_iterations: 2, until: "It says DONE", with: {WITH}}}
          - {{name: m, workflow: work, max_iterations: 1, until: "It says DONE", with: {WITH}}}
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO", "work": ["A", "B", "C"]})
    assert ran.prompts("work") == ["1|||", "2|A|A|A", "1|||"]


async def test_WB_042_a_failed_iteration_uses_its_number_up_and_changes_nothing_else() -> None:
    ran = await loop(", on_failure: continue", work=["A", failure(), "C"])
    assert ran.prompts("work") == ["1|||", "2|A|A|A", "3|A|A|A"]


@pytest.mark.parametrize(
    ("outputs", "text"),
    [([], ""), (["A\n"], "A\n"), (["A\n", "\nB "], "A\n---\nB "), (["", ""], "---")],
)
def test_WB_043_exactly_three_hyphens_stand_between_outputs(outputs: list[str], text: str) -> None:
    assert joined(outputs) == text


async def test_WB_043_nothing_is_trimmed_on_the_way() -> None:
    ran = await loop(callee='steps: [{name: work, run: "{{h}}"}]', work=["A\n", "\n B\n", "C"])
    assert ran.prompts("work")[2] == "A\n---\n B\n"
