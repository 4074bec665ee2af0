"""What a called workflow receives, and what it does not see."""

from __future__ import annotations

import json
from typing import Any

from loop_ls.testing.workflows import Ran, run

ONCE = "max_iterations: 1, until: 'It says DONE'"


async def called(with_: str, prompt: str, head: str = "", **given: Any) -> Ran:
    """One iteration of a loop whose callee has one step, `work`."""
    main = f"{head}\nloops:\n  - {{name: l, workflow: work, {ONCE}, with: {with_}}}\n"
    callee = f"steps:\n  - name: work\n    run: {json.dumps(prompt)}\n"
    return await run({"main": main, "work": callee}, {"judge": "NO"}, **given)


async def test_WB_010_references_models_and_accumulate_are_taken_literally() -> None:
    main = """
        execution: {provider: acme, model: "{{env.M}}"}
        env: {M: real, W: work}
        steps:
          - {name: t, on_failure: continue, template: {name: "{{env.W}}"}}
          - {name: s, run: go}
        loops:
          - {name: l, workflow: work, max_iterations: 1, until: "It says DONE", accumulate: "{{env.W}}"}
    """
    work = "steps: [{name: work, run: hello}]"
    ran = await run({"main": main, "work": work}, {"judge": "NO", "work": "out"})
    assert ran.models.asked("s")[0].model == "{{env.M}}"
    assert ran.of("step_failed")[0]["error"]["message"] == "unknown workflow `{{env.W}}`"
    assert len(ran.prompts("work")) == 1  # the loop's only: the template called nothing


async def test_WB_010_a_placeholder_in_workflow_is_no_reference() -> None:
    main = """
        env: {W: work}
        loops: [{name: l, workflow: "{{env.W}}", max_iterations: 1, until: "It says DONE"}]
    """
    ran = await run({"main": main, "work": "steps: [{name: work, run: hello}]"})
    assert ran.reason == "error"
    assert ran.outcome.failure is not None
    assert "{{env.W}}" in ran.outcome.failure.message
    assert ran.models.requests == []


async def test_WB_011_an_unknown_name_in_a_templates_argument_arrives_as_written() -> None:
    main = "steps: [{name: t, template: {name: work, with: {a: 'see {{nobody}}'}}}]"
    ran = await run({"main": main, "work": "steps: [{name: work, run: '{{a}}'}]"})
    assert ran.prompt("work") == "see {{nobody}}"
    assert len(ran.warnings) == 1


async def test_WB_012_an_unknown_name_in_a_loops_argument_fails_the_iteration() -> None:
    files = {
        "main": """
            loops:
              - {name: l, workflow: work, max_iterations: 3, until: "It says DONE", with: {a: "{{nobody}}"}%s}
        """,
        "work": "steps: [{name: work, run: '{{a}}'}]",
    }
    main = files["main"]
    ran = await run({**files, "main": main % ", on_failure: continue"}, {"judge": "YES"})
    assert [body["iteration"] for body in ran.of("iteration_failed")] == [1, 2, 3]
    assert (ran.reason, ran.models.requests) == ("max_iterations", [])

    ran = await run({**files, "main": main % ""}, {"judge": "YES"})
    assert [body["iteration"] for body in ran.of("iteration_failed")] == [1]
    assert ran.reason == "error"
    assert "{{nobody}}" in ran.of("iteration_failed")[0]["error"]["message"]


async def test_WB_026_arguments_of_a_loop_are_variables_of_its_callee() -> None:
    ran = await called(
        "{spec: 'for {{input}}', previous: '{{loop.last.output}}'}", "{{spec}}/{{previous}}/", input="me"
    )
    assert ran.prompt("work") == "for me//"


async def test_WB_027_arguments_of_a_template_are_variables_of_its_callee() -> None:
    main = "steps: [{name: t, template: {name: work, with: {style: dry, length: '3'}}}]"
    ran = await run({"main": main, "work": "steps: [{name: work, run: '{{style}} {{length}} {{input}}'}]"})
    assert ran.prompt("work") == "dry 3 style: dry\nlength: 3"


async def test_WB_028_values_become_text() -> None:
    ran = await called("{a: '1', b: [1, 2], c: true}", "{{a}} {{b}} {{c}}")
    assert ran.prompt("work") == "1 [1,2] true"


async def test_C11_arguments() -> None:
    ran = await called("{a: '1', b: [1, 2], c: true}", "{{a}}/{{b}}/{{c}}/{{input}}")
    assert ran.prompt("work") == "1/[1,2]/true/a: 1\nb: [1,2]\nc: true"


async def test_WB_028_numbers_keep_their_written_form() -> None:
    ran = await called("{a: 1.50, b: 1e3, c: 007, d: no}", "{{a}} {{b}} {{c}} {{d}}")
    assert ran.prompt("work") == "1.50 1e3 007 no"


async def test_WB_029_texts_in_a_list_are_interpolated_before_they_are_encoded() -> None:
    ran = await called("{points: ['{{input}}', {deep: '<{{input}}>'}]}", "{{points}}", input='say "hi"\nnow')
    value = ran.prompt("work")
    assert json.loads(value) == ['say "hi"\nnow', {"deep": '<say "hi"\nnow>'}]
    assert value == '["say \\"hi\\"\\nnow",{"deep":"<say \\"hi\\"\\nnow>"}]'


async def test_WB_030_input_is_one_line_per_argument_in_document_order() -> None:
    ran = await called("{zeta: last, alpha: first}", "{{input}}")
    assert ran.prompt("work") == "zeta: last\nalpha: first"


async def test_WB_030_an_argument_input_counts_alone() -> None:
    ran = await called("{zeta: last, input: 'only {{input}}', alpha: first}", "{{input}}", input="me")
    assert ran.prompt("work") == "only me"


async def test_WB_031_without_arguments_the_previous_output_is_the_input() -> None:
    main = "loops: [{name: l, workflow: work, max_iterations: 3, until: 'It says DONE'}]"
    callee = "steps: [{name: work, run: '[{{input}}]'}]"
    ran = await run({"main": main, "work": callee}, {"work": ["A", "B", "C"], "judge": "NO"}, input="mine")
    assert ran.prompts("work") == ["[]", "[A]", "[B]"]


async def test_WB_031_empty_arguments_are_no_arguments() -> None:
    main = "loops: [{name: l, workflow: work, max_iterations: 2, until: 'It says DONE', with: {}}]"
    callee = "steps: [{name: work, run: '[{{input}}]'}]"
    ran = await run({"main": main, "work": callee}, {"work": ["A", "B"], "judge": "NO"})
    assert ran.prompts("work") == ["[]", "[A]"]


async def test_WB_032_a_template_without_arguments_gives_empty_input() -> None:
    main = "steps: [{name: t, template: {name: work}}]"
    ran = await run({"main": main, "work": "steps: [{name: work, run: '[{{input}}]'}]"}, input="mine")
    assert ran.prompt("work") == "[]"


async def test_WB_033_the_callers_values_are_not_visible_in_a_callee() -> None:
    head = "env: {K: secret}\nsteps: [{name: before, run: hello}]"
    ran = await called("{a: '{{before}}'}", "{{input}} {{env.K}} {{before}}", head=head, input="mine")
    assert ran.prompt("work") == "a: ok {{env.K}} {{before}}"


async def test_WB_033_a_template_does_not_hand_on_the_variables_of_a_loop() -> None:
    files = {
        "main": "loops: [{name: l, workflow: middle, max_iterations: 1, until: 'It says DONE'}]",
        "middle": "steps: [{name: t, template: {name: work}}]",
        "work": "steps: [{name: work, run: '{{loop.iteration}}'}]",
    }
    ran = await run(files, {"judge": "NO"})
    assert ran.prompt("work") == "{{loop.iteration}}"


async def test_WB_034_a_step_takes_over_the_name_of_an_argument_once_it_has_finished() -> None:
    main = "steps: [{name: t, template: {name: work, with: {draft: argument}}}]"
    callee = """
        steps:
          - {name: draft, run: "rewrite {{draft}}"}
          - {name: late, needs: [draft], run: "{{draft}}"}
    """
    ran = await run({"main": main, "work": callee}, {"draft": "result"})
    assert ran.prompt("draft") == "rewrite argument"
    assert ran.prompt("late") == "result"


async def test_WB_026_reserved_words_are_no_arguments() -> None:
    ran = await called("{loop: a, env: b, step: c}", "{{loop}} {{env}} {{step}}")
    assert ran.prompt("work") == "{{loop}} {{env}} {{step}}"
