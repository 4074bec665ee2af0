"""What names mean in later steps: results, loops, accumulated outputs."""

from __future__ import annotations

from loop_ls.testing.workflows import run

#: A callee that answers with what its only step says.
WORK = "steps: [{name: work, run: 'do it'}]"

LOOP = """
    loops:
      - {name: improve, workflow: work, max_iterations: 3, until: "The output says DONE", accumulate: h}
"""


async def test_WB_019_results_can_be_read_under_both_spellings() -> None:
    main = """
        steps:
          - {name: s, run: first}
          - {name: end, needs: [l], run: "{{s}}|{{step.s}}|{{l}}|{{step.l}}"}
        loops:
          - {name: l, workflow: work, max_iterations: 1, until: "The output says DONE"}
    """
    ran = await run({"main": main, "work": WORK}, {"s": "  a reply \n", "work": "final", "judge": "NO"})
    assert ran.prompt("end") == "  a reply \n|  a reply \n|final|final"


async def test_WB_020_accumulated_outputs_can_be_read_under_both_spellings() -> None:
    main = (
        LOOP
        + """
    steps:
      - {name: end, needs: [improve], run: "{{h}} {{step.h}}"}
    """
    )
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B", "C"], "judge": "NO"})
    assert ran.prompt("end") == "A---B---C A---B---C"


async def test_WB_021_no_accumulator_exists_by_itself() -> None:
    main = """
        loops: [{name: l, workflow: work, max_iterations: 1, until: "It says DONE"}]
        steps: [{name: end, needs: [l], run: "{{l_accumulator}}"}]
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO"})
    assert ran.prompt("end") == "{{l_accumulator}}"


async def test_WB_022_a_later_step_sees_iterations_and_final_output() -> None:
    main = (
        LOOP
        + """
    steps:
      - {name: end, needs: [improve], run: "{{loop.iteration}} {{loop.output}}"}
    """
    )
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B", "C"], "judge": "NO"})
    assert ran.prompt("end") == "3 C"


async def test_WB_023_last_output_and_history_end_with_the_loop() -> None:
    main = (
        LOOP
        + """
    steps:
      - {name: end, needs: [improve], run: "{{loop.last.output}} {{loop.history}}"}
    """
    )
    ran = await run({"main": main, "work": WORK}, {"work": ["A", "B", "C"], "judge": "NO"})
    assert ran.prompt("end") == "{{loop.last.output}} {{loop.history}}"
    assert len(ran.warnings) == 2
    assert "{{loop.last.output}}" in ran.warnings[0]
    assert "{{loop.history}}" in ran.warnings[1]


async def test_WB_024_loop_variables_belong_to_the_loop_that_finished_last() -> None:
    main = """
        loops:
          - {name: long, workflow: work, max_iterations: 4, until: "It says DONE"}
          - {name: short, workflow: work, max_iterations: 2, until: "It says DONE"}
        steps: [{name: end, needs: [long, short], run: "{{loop.iteration}}"}]
    """
    ran = await run({"main": main, "work": WORK}, {"judge": "NO"})
    assert ran.prompt("end") == "2"
