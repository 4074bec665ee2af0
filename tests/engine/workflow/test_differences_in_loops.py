"""Where documents and implementation of the language part, in loops and their judge: ours, by number."""

from __future__ import annotations

import pytest

from loop_ls.engine.projections.verbose_log import verbose_lines
from loop_ls.testing.models import SILENCE, failure
from loop_ls.testing.workflows import Ran, run

WORK = "steps: [{name: work, run: 'do {{input}}'}]"
ECHO = "steps: [{name: work, run: 'n={{n}} l=<{{l}}> h=<{{h}}> o=<{{o}}>'}]"
SEEN = "{n: '{{loop.iteration}}', l: '{{loop.last.output}}', h: '{{loop.history}}', o: '{{loop.output}}'}"


def loop(more: str = "", until: str = "It says DONE", limit: int = 3, after: str = "") -> str:
    return f"""
        loops: [{{name: l, workflow: work, max_iterations: {limit}, until: "{until}"{more}}}]
        {after}
    """


async def ran(more: str = "", callee: str = WORK, after: str = "", limit: int = 3, **script: object) -> Ran:
    return await run({"main": loop(more, limit=limit, after=after), "work": callee}, {"judge": "NO", **script})


async def test_D01_three_dashes_alone_stand_between_outputs() -> None:
    done = await ran(", accumulate: all", after="steps: [{name: s, run: '{{all}}'}]", work=["A", "B", "C"])
    assert done.prompt("s") == "A---B---C"


async def test_D02_the_last_output_is_empty_in_iteration_1() -> None:
    done = await ran(f", with: {SEEN}", ECHO, limit=1)
    assert "l=<>" in done.prompt("work")


async def test_D03_the_history_is_empty_in_iteration_1() -> None:
    done = await ran(f", with: {SEEN}", ECHO, limit=1)
    assert "h=<>" in done.prompt("work")


async def test_D04_the_output_is_the_current_one_for_the_judge_and_the_previous_one_for_the_callee() -> None:
    files = {"main": loop(f", with: {SEEN}", until="good: {{loop.output}}", limit=2), "work": ECHO}
    done = await run(files, {"judge": "NO", "work": ["A", "B"]})
    assert [prompt.partition("o=")[2] for prompt in done.prompts("work")] == ["<>", "<A>"]
    assert ['"good: A"' in done.prompts("judge")[0], '"good: B"' in done.prompts("judge")[1]] == [True, True]


async def test_D05_arguments_of_a_loop_are_variables_of_its_workflow() -> None:
    done = await ran(", with: {spec: s1}", "steps: [{name: work, run: 'make {{spec}}'}]", limit=1)
    assert done.prompt("work") == "make s1"


async def test_D06_arguments_of_a_template_are_variables_too() -> None:
    files = {"main": "steps: [{name: t, template: {name: work, with: {spec: s1}}}]"}
    done = await run(files | {"work": "steps: [{name: work, run: 'make {{spec}}'}]"})
    assert done.prompt("work") == "make s1"


async def test_D07_the_question_is_the_guides_word_for_word_with_the_whole_output() -> None:
    long = "x" * 3000 + " DONE"
    done = await ran(limit=1, work=long)
    assert done.prompt("judge") == (
        f'Evaluate this condition: "It says DONE"\n\nOutput to evaluate:\n{long}\n\n'
        "Answer with YES if condition is met, NO if not met."
    )


async def test_D08_a_no_that_mentions_yes_is_a_no() -> None:
    done = await ran(limit=1, judge="NO, it does not say YES")
    assert done.of("judged")[0]["verdict"] == "no"


async def test_D09_the_workflows_own_model_judges_unless_the_settings_name_another() -> None:
    callee = "execution: {provider: other, model: o}\nsteps: [{name: work, run: x}]"
    done = await ran(callee=callee, limit=1)
    assert [request.provider for request in done.models.asked("judge")] == ["acme"]
    files = {"main": loop(limit=1), "work": callee}
    named = await run(files, {"judge": "NO"}, settings={"judge": {"provider": "jury", "model": "j"}})
    assert [request.provider for request in named.models.asked("judge")] == ["jury"]


async def test_D10_a_judge_that_fails_says_not_met_with_a_warning() -> None:
    done = await ran(limit=2, judge=failure())
    assert (done.reason, len(done.prompts("work"))) == ("max_iterations", 2)
    assert done.warnings


async def test_D11_retry_without_a_number_means_three_more_tries_then_halt() -> None:
    done = await ran(", on_failure: retry", work=failure())
    assert (done.reason, len(done.prompts("work"))) == ("error", 4)


async def test_D12_without_on_failure_a_loop_halts() -> None:
    done = await ran(work=failure())
    assert (done.reason, len(done.prompts("work"))) == ("error", 1)


async def test_D13_the_reason_after_a_failure_is_error() -> None:
    assert (await ran(", on_failure: halt", work=failure())).of("step_failed")[-1]["reason"] == "error"


async def test_D14_the_iteration_afterwards_counts_all_that_were_run() -> None:
    after = "steps: [{name: s, needs: [l], run: '{{loop.iteration}}'}]"
    done = await ran(", on_failure: continue", after=after, work=["A", "B", failure()])
    assert done.prompt("s") == "3"


async def test_D16_loops_wait_for_the_results_they_use_and_ready_steps_keep_their_order() -> None:
    main = """
        loops: [{name: l, workflow: work, with: {input: '{{c}}'}, max_iterations: 1, until: x}]
        steps: [{name: a, run: x}, {name: b, run: x}, {name: c, run: 'after {{b}}'}]
    """
    for _ in range(3):
        done = await run({"main": main, "work": WORK}, {"judge": "NO"})
        assert done.order == ["a", "b", "c", "work", "judge"]


async def test_D17_a_loop_finds_the_workflow_beside_it() -> None:
    files = {"d/main": loop(limit=1), "work": WORK.replace("do", "root"), "d/work": WORK.replace("do", "near")}
    assert (await run(files, {"judge": "NO"})).prompt("work").startswith("near")


async def test_D18_a_template_finds_the_workflow_beside_it_before_that_of_the_root() -> None:
    files = {
        "d/main": "steps: [{name: t, template: {name: work}}]",
        "work": WORK.replace("do", "root"),
        "d/work": WORK.replace("do", "near"),
    }
    assert (await run(files)).prompt("work").startswith("near")


async def test_D19_a_second_loop_starts_with_nothing_of_the_first() -> None:
    main = f"""
        loops:
          - {{name: l, workflow: work, with: {SEEN}, max_iterations: 2, until: x}}
          - {{name: m, workflow: work, with: {SEEN}, max_iterations: 1, until: x}}
    """
    done = await run({"main": main, "work": ECHO}, {"judge": "NO"})
    assert done.prompts("work")[2] == "n=1 l=<> h=<> o=<>"


async def test_D20_a_parallel_iterate_loop_leaves_its_name_and_its_outputs() -> None:
    main = """
        loops:
          - {name: l, mode: iterate, items: '["a","b"]', workflow: work, parallel: true, max_iterations: 9,
             accumulate: all}
        steps: [{name: s, run: '{{l}} of {{all}}'}]
    """
    files = {"main": main, "work": "steps: [{name: work, run: '{{item}}'}]"}
    done = await run(files, {"work": lambda request: request.prompt})
    assert done.prompt("s") == "b of a---b"


async def test_D27_a_parallel_loop_without_max_workers_has_three() -> None:
    main = """
        steps:
          - {name: s, loop: {mode: iterate, items: '[1,2,3,4,5,6]', workflow: work, max_iterations: 9, parallel: true}}
    """
    done = await run({"main": main, "work": WORK})
    assert (done.models.most_at_once, len(done.prompts("work"))) == (3, 6)


async def test_D32_both_sets_of_names_hold_in_an_iterate_loop() -> None:
    names = "{a: '{{loop.current}}={{loop.item}}', b: '{{loop.count}}={{loop.total}}'}"
    main = f"loops: [{{name: l, mode: iterate, items: '[\"x\"]', workflow: work, with: {names}, max_iterations: 9}}]"
    done = await run({"main": main, "work": "steps: [{name: work, run: '{{a}} {{b}}'}]"})
    assert done.prompt("work") == "x=x 1=1"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("min_success_rate: 0.9", "success_rate_not_met"),
        ("timeout_per_item: 1s", "completed"),
        ("total_timeout: 1s", "timeout"),
    ],
)
async def test_D37_rates_and_time_limits_of_loops_take_effect(more: str, reason: str) -> None:
    iterate = f"name: l, mode: iterate, items: '[1,2]', on_failure: continue, max_iterations: 9, {more}"
    main = f"loops: [{{{iterate}, workflow: work}}]"
    done = await run({"main": main, "work": WORK}, {"work": ["ok", SILENCE if "timeout" in more else failure()]})
    assert done.reason == reason
    assert len(done.of("iteration_failed")) == (0 if reason == "timeout" else 1)


async def test_D38_an_empty_array_has_no_items() -> None:
    main = "loops: [{name: l, mode: iterate, items: '[]', workflow: work, max_iterations: 9}]"
    done = await run({"main": main, "work": WORK})
    assert (done.reason, done.order) == ("no_items", [])


async def test_D39_a_parallel_refine_loop_runs_one_after_the_other_and_is_judged_each_time() -> None:
    done = await ran(", parallel: true")
    assert (done.order, done.models.most_at_once) == (["work", "judge"] * 3, 1)


async def test_D48_lists_in_with_become_compact_json() -> None:
    done = await ran(", with: {b: [1, {x: y}]}", "steps: [{name: work, run: '{{b}}'}]", limit=1)
    assert done.prompt("work") == '[1,{"x":"y"}]'


async def test_D49_without_with_the_input_is_the_previous_output_or_empty() -> None:
    done = await ran(limit=2, work=["A", "B"])
    assert done.prompts("work") == ["do ", "do A"]
    files = {"main": "steps: [{name: t, template: {name: work}}]", "work": WORK}
    assert (await run(files, input="mine")).prompt("work") == "do "


async def test_D50_a_verbose_line_says_the_condition_as_written_and_yes_or_no() -> None:
    done = await ran(limit=2, judge=["NO", "YES"])
    assert [line for line in verbose_lines(done.recorder.facts) if "Condition" in line] == [
        "[INFO] Condition evaluation: 'It says DONE' -> NO",
        "[INFO] Condition evaluation: 'It says DONE' -> YES",
    ]
