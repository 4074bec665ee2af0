"""What a new step or loop may do: nothing that stands behind an `if` or a check, and no work past a check in a call.

The worker does whatever it is asked, so what is called at all has happened.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.enhance.flows import planning_case, start
from tests.engine.enhance.loops import HEAD, Loop, plan_of

Op = dict[str, Any]
RELEASE = HEAD.replace("report", "release") + "steps:\n  - {name: go, run: 'Release {{draft}}'}\n"
#: Releases only where it is told to.
ASKING = HEAD.replace("report", "release") + (
    "steps:\n  - {name: go, if: \"{{sure}} == 'yes'\", run: 'Release {{draft}}'}\n"
    "  - {name: end, run: 'End {{draft}}'}\n"
)
STEPS = (
    "steps:\n  - {name: ask, run: 'May we release {{input}}?'}\n  - {name: draft, run: 'Write about {{input}}'}\n"
    "  - {name: review, needs: [draft], run: 'Is {{draft}} short? PASS or FAIL'}\n"
)
CALL = "template: {name: release, with: {draft: '{{draft}}', sure: '{{ask}}'}}}\n"
PUBLISH = "  - {name: publish, needs: [review], run: 'Say that it is done: {{draft}}'}\n"
BEHIND_IF = HEAD + STEPS + "  - {name: out, needs: [review], if: \"{{ask}} == 'yes'\", " + CALL + PUBLISH
BEHIND_CHECK = HEAD + STEPS + "  - {name: out, needs: [review], " + CALL + PUBLISH
FREE = HEAD + STEPS + "  - {name: out, " + CALL + PUBLISH


def step(**fields: Any) -> Op:
    given = {"draft": "{{draft}}", "sure": "{{ask}}"}
    return {"op": "add_step", "name": "more", "template": {"name": "release", "with": given}, **fields}


LOOP: Op = {
    "op": "add_loop",
    "name": "more",
    "workflow": "release",
    "max_iterations": 1,
    "until": "It is there",
    "with": {"draft": "{{draft}}", "sure": "{{ask}}"},
}
SURE = step(template={"name": "release", "with": {"draft": "{{draft}}", "sure": "yes"}}, before="publish")


@pytest.mark.parametrize(
    ("text", "op", "released"),
    [
        (BEHIND_IF, step(before="publish"), RELEASE),
        (BEHIND_IF, step(before="publish", **{"if": "{{ask}} == 'no'"}), RELEASE),
        (BEHIND_IF, LOOP, RELEASE),
        (BEHIND_CHECK, step(before="review"), RELEASE),
        (BEHIND_CHECK, LOOP, RELEASE),
        (FREE, SURE, ASKING),
    ],
    ids=["if", "another if", "if, as a loop", "check", "check, as a loop", "its own if"],
)
async def test_EB_126_a_new_call_is_behind_the_gates_of_the_old_ones(text: str, op: Op, released: str) -> None:
    script = {"ask": "no", "draft": "a draft", "review": ["FAIL: long", "PASS"], "publish": "done", "end": "ended"}
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "onFixation": "warn", "convergenceMode": "lenient"}
    loop = Loop(text, {**script, "go": "released", "judge": "YES"}, [plan_of(op)], knobs, {"release.yaml": released})
    assert (await loop.run()).reason == "no_ops"
    assert [one["reasonCode"] for one in loop.of("op_rejected")] == ["hides_failure"]


@pytest.mark.parametrize(
    ("text", "op"),
    [
        (BEHIND_IF, step(needs=["review"], before="publish", **{"if": "{{ask}} == 'yes'"})),
        (BEHIND_CHECK, step(needs=["review"], before="publish")),
        (FREE, step(before="review")),
        (FREE, LOOP),
    ],
    ids=["same if", "behind the check", "free", "free, as a loop"],
)
def test_a_new_call_like_the_old_ones_is_taken(text: str, op: Op) -> None:
    case = planning_case(text)
    case = case.with_(workflow_exists=lambda reference: reference == "release")
    object.__setattr__(case, "copy", start(text, RELEASE))
    assert case.plan(op).refused == ()


TOOLS = HEAD.replace("}\n", ", servers: [shop]}\n") + (
    "steps:\n  - {name: ask, servers: [], run: 'May we buy {{input}}?'}\n"
    "  - {name: buy, if: \"{{ask}} == 'yes'\", run: 'Buy {{input}}'}\n"
    "  - {name: publish, servers: [], run: 'Tell of {{ask}} and {{input}}'}\n"
)


def test_EB_126_a_new_step_has_no_tools_that_stand_behind_an_if() -> None:
    op = {"op": "add_step", "name": "more", "run": "Buy {{input}}", "before": "publish"}
    [refusal] = planning_case(TOOLS).plan(op).refused
    assert (refusal.code, "shop" in refusal.message) == ("hides_failure", True)
    assert planning_case(TOOLS).plan({**op, "if": "{{ask}} == 'yes'"}).refused == ()


CONSTANTS = HEAD.replace("execution", "env: {TOKEN: not-for-models}\nexecution") + (
    "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
    "  - {name: send, run: 'Send {{draft}} by {{env.TOKEN}}'}\n"
)


@pytest.mark.parametrize(
    "op",
    [
        {"op": "append_instructions", "target": "draft", "text": "Begin with {{env.TOKEN}}"},
        {"op": "add_step", "name": "more", "run": "Say {{env.TOKEN}}", "before": "draft"},
    ],
)
def test_EB_126_a_constant_goes_where_it_went(op: Op) -> None:
    [refusal] = planning_case(CONSTANTS).plan(op).refused
    assert (refusal.code, "env.TOKEN" in refusal.message) == ("out_of_reach", True)
    kept = {"op": "set_instructions", "target": "send", "run": "Send it by {{env.TOKEN}}: {{draft}}"}
    assert planning_case(CONSTANTS).plan(kept).refused == ()


CHECKED_INSIDE = HEAD + (
    "steps:\n  - {name: part, template: {name: release, with: {draft: '{{input}}'}}}\n"
    "  - {name: publish, run: 'Publish {{part}}'}\n"
)
CHECKING = (
    RELEASE + "  - {name: look, run: 'Is {{go}} short? PASS or FAIL'}\n  - {name: end, needs: [look], run: '{{go}}'}\n"
)


def test_EB_126_no_work_goes_past_a_call_that_checks_it() -> None:
    fresh = {"op": "add_step", "name": "fresh", "run": "Write about {{input}}", "before": "publish"}
    use = {"op": "set_instructions", "target": "publish", "run": "Publish {{fresh}}, not {{part}}"}
    for callee, refused in ((CHECKING, ["changes_result"]), (RELEASE, [])):
        case = planning_case(CHECKED_INSIDE)
        object.__setattr__(case, "copy", start(CHECKED_INSIDE, callee))
        assert [one.code for one in case.plan(fresh, use).refused] == refused
