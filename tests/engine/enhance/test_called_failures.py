"""What fails inside a called workflow counts, however well the call itself ended."""

from __future__ import annotations

import pytest

from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

CHILD = HEAD.replace("name: report", "name: child")
#: A workflow whose own check says no.
REVIEWED = CHILD + (
    "steps:\n  - {name: words, run: 'Words about {{input}}'}\n"
    "  - {name: check, needs: [words], run: 'Answer PASS or FAIL: {{words}}'}\n"
    "  - {name: final, needs: [check], run: 'Print {{words}}'}\n"
)
#: A workflow that is nothing but a check.
CHECK = CHILD + "steps:\n  - {name: check, run: 'Answer PASS or FAIL: {{input}}'}\n"
#: A workflow with a loop that is never good enough.
NEVER = CHILD + (
    "steps:\n  - {name: final, needs: [better], run: 'Print {{better}}'}\n"
    "loops:\n  - {name: better, workflow: inner, max_iterations: 2, until: It is short}\n"
)
INNER = HEAD.replace("name: report", "name: inner") + "steps:\n  - {name: words, run: 'Words about {{input}}'}\n"
#: One that goes on where a step of its own failed.
PASSED_OVER = CHILD + (
    "steps:\n  - {name: look, on_failure: continue, run: 'Look at {{input}}'}\n"
    "  - {name: final, needs: [look], run: 'Print {{input}}'}\n"
)

TEMPLATE = HEAD + (
    "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
    "  - name: part\n    needs: [draft]\n    template: {name: child, with: {input: '{{draft}}'}}\n"
    "  - {name: publish, needs: [part], run: 'Publish {{draft}} {{part}}'}\n"
)
ITEMS = HEAD + (
    "steps:\n  - {name: publish, needs: [part], run: 'Publish {{part}}'}\n"
    "loops:\n  - {name: part, workflow: child, mode: iterate, items: '[1, 2, 3]', max_iterations: 3,"
    " with: {topic: tea}}\n"
)
REFINED = HEAD + (
    "steps:\n  - {name: publish, needs: [part], run: 'Publish {{part}}'}\n"
    "loops:\n  - {name: part, workflow: child, max_iterations: 3, until: It is good}\n"
)


@pytest.mark.parametrize(
    ("child", "script", "failed"),
    [
        (REVIEWED, {"check": "FAIL: too long"}, {"part/words": "verifier_fail"}),
        (CHECK, {"check": "FAIL: too long"}, {"part/check": "verifier_fail"}),
        (NEVER, {"judge": "NO"}, {"part/better": "until_not_met"}),
    ],
    ids=["its own check", "nothing but a check", "a loop that gave up"],
)
async def test_EB_019_what_failed_inside_a_called_workflow_is_no_success(
    child: str, script: dict[str, str], failed: dict[str, str]
) -> None:
    loop = Loop(text=TEMPLATE, more={"child.yaml": child, "inner.yaml": INNER}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == failed


@pytest.mark.parametrize(("mode", "end"), [("strict", "max_rounds"), ("lenient", "converged")])
async def test_EB_019_another_model_that_answers_inside_is_no_success_in_strict_mode(mode: str, end: str) -> None:
    second = "{providers: [{provider: acme, model: large}, {provider: acme, model: tiny}]}"
    child = CHECK.replace("{provider: acme, model: large}", second).replace("Answer PASS or FAIL", "Print")
    script = {"check": lambda request: failing() if request.model == "large" else "words"}
    loop = Loop(TEMPLATE, script, more={"child.yaml": child}, knobs={"maxRounds": 1, "convergenceMode": mode})
    assert (await loop.run()).reason == end
    assert loop.kinds() == {"part/check": "fallback_output"}


async def test_EB_018_a_step_inside_that_was_passed_over_has_failed() -> None:
    script = {"look": failing("bad_answer")}
    loop = Loop(text=TEMPLATE, more={"child.yaml": PASSED_OVER}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"part/look": "bad_output"}


async def test_EB_019_every_item_counts() -> None:
    script = {"check": ["PASS", "FAIL: too long", "PASS"]}
    child = REVIEWED.replace("{{input}}", "{{item}}")
    loop = Loop(text=ITEMS, more={"child.yaml": child}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"part/words": "verifier_fail"}


async def test_EB_019_of_a_loop_that_refines_the_last_iteration_counts() -> None:
    script = {"check": ["FAIL: too long", "PASS"], "judge": ["NO", "YES"]}
    loop = Loop(text=REFINED, more={"child.yaml": REVIEWED}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "converged"
    assert loop.kinds() == {}
    script = {"check": ["PASS", "FAIL: too long"], "judge": ["NO", "YES"]}
    loop = Loop(text=REFINED, more={"child.yaml": REVIEWED}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"


async def test_EB_009_a_called_workflow_that_is_content_changes_nothing() -> None:
    loop = Loop(text=TEMPLATE, more={"child.yaml": REVIEWED}, script={"check": "PASS"}, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "converged"
    assert loop.kinds() == {}


async def test_EB_017_of_a_call_that_was_tried_again_the_last_try_counts() -> None:
    text = TEMPLATE.replace(
        "    needs: [draft]\n", "    needs: [draft]\n    on_failure: retry\n    max_retries: 2\n", 1
    )
    script = {"check": ["PASS", "FAIL: too long"], "final": [failing("bad_answer"), "printed"]}
    loop = Loop(text=text, more={"child.yaml": REVIEWED}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"part/words": "verifier_fail"}


#: A workflow of one step, for items.
ONE = CHILD + "steps:\n  - {name: final, run: 'Print {{item}}'}\n"
GOING_ON = ITEMS.replace("max_iterations: 3,", "max_iterations: 3, on_failure: continue,")


async def test_EB_018_an_item_that_was_passed_over_has_failed() -> None:
    script = {"final": ["one", "two", failing("bad_answer")]}
    loop = Loop(text=GOING_ON, more={"child.yaml": ONE}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"part": "bad_output"}
    assert loop.reports[0]["failures"][0]["error"]["message"].startswith("1 of 3 items failed; item 3: ")


async def test_EB_018_a_rate_of_the_author_says_how_many_items_are_enough() -> None:
    text = GOING_ON.replace("max_iterations: 3,", "max_iterations: 3, min_success_rate: 0.6,")
    script = {"final": ["one", "two", failing("bad_answer")]}
    loop = Loop(text=text, more={"child.yaml": ONE}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "converged"


async def test_EB_017_an_item_that_passed_on_a_further_try_has_not_failed() -> None:
    text = ITEMS.replace("max_iterations: 3,", "max_iterations: 3, on_failure: retry, max_retries: 1,")
    script = {"final": ["one", failing("bad_answer"), "two", "three"]}
    loop = Loop(text=text, more={"child.yaml": ONE}, script=script, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "converged"


async def test_EB_018_a_plan_says_no_rate_that_is_enough() -> None:
    rate = {"op": "set_min_success_rate", "target": "part", "value": 0.5}
    script = {"final": ["one", "two", failing("bad_answer")]}
    knobs = {"maxRounds": 2, "onFixation": "warn"}
    loop = Loop(text=GOING_ON, more={"child.yaml": ONE}, script=script, planner=[plan_of(rate)], knobs=knobs)
    loop.models.script["final"] = script["final"] + ["one", "two", failing("bad_answer")]
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds(2) == {"part": "bad_output"}


async def test_EB_019_a_check_inside_that_has_said_no_takes_it_back_with_yes_alone() -> None:
    script = {"check": ["FAIL: too long", "Bananas are yellow."]}
    better = plan_of(instructions("draft", "Write shortly about {{input}}"))
    loop = Loop(TEMPLATE, script, [better], {"maxRounds": 2}, {"child.yaml": REVIEWED})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds(2) == {"part/words": "verifier_error"}
