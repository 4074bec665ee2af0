"""`loop.*` behind a loop: whoever puts another loop behind it does not change what is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelRequest
from tests.engine.enhance.flows import CALLEE, planning_case
from tests.engine.enhance.loops import HEAD, Loop, failing, plan_of

Op = dict[str, Any]
LOOP = (
    "loops:\n  - {name: polish, workflow: shorten, with: {draft: '{{input}}'}, max_iterations: 1, until: It is short}\n"
)
PUBLISH = "  - {name: publish, needs: [review], run: 'Publish {{polish}}'}\n"
CHECKED = HEAD + "steps:\n  - {name: review, needs: [polish], run: 'PASS or FAIL: {{loop.output}}'}\n" + PUBLISH + LOOP
GUARDED = (
    HEAD
    + (
        "steps:\n  - {name: deploy, needs: [polish], if: \"{{loop.output}} == 'good'\", run: 'Deploy it'}\n"
        "  - {name: publish, needs: [deploy], run: 'Publish {{polish}}'}\n"
    )
    + LOOP
)
BEHIND: list[Op] = [
    {
        "op": "add_loop",
        "name": "more",
        "workflow": "shorten",
        "max_iterations": 1,
        "until": "It is there",
        "with": {"draft": "make it good: {{polish}}"},
    },
]


def go(request: ModelRequest) -> str:
    return "good" if "make it good" in request.prompt else "bad"


def review(request: ModelRequest) -> str:
    return "PASS" if "good" in request.prompt else "FAIL: bad"


@pytest.mark.parametrize(("text", "reader"), [(CHECKED, "review"), (GUARDED, "deploy")], ids=["checked", "guarded"])
async def test_EB_126_what_is_looked_at_is_the_output_of_the_same_loop(text: str, reader: str) -> None:
    plan = [*BEHIND, {"op": "set_needs", "target": reader, "add": ["more"]}]
    publish = [failing("bad_answer", "no answer"), "published"] if reader == "deploy" else "published"
    script = {"go": go, "review": review, "deploy": "deployed", "publish": publish, "judge": "YES"}
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "onFixation": "warn", "convergenceMode": "lenient"}
    loop = Loop(text, script, [plan_of(*plan)], knobs, {"shorten.yaml": CALLEE})
    end = await loop.run()
    assert [(one["op"], one["reasonCode"]) for one in loop.of("op_rejected")] == [("set_needs", "changes_result")]
    assert (end.reason != "converged" or reader == "deploy") and loop.prompts("deploy") == []


def test_EB_126_the_loop_that_an_if_reads_is_asked_as_before() -> None:
    told = {"op": "set_loop_input", "target": "polish", "key": "draft", "value": "{{input}}: say good"}
    [refusal] = planning_case(GUARDED).plan(told).refused
    assert (refusal.code, "`if`" in refusal.message) == ("hides_failure", True)


@pytest.mark.parametrize("parallel", ["true", "false"])
def test_a_loop_elsewhere_is_taken(parallel: str) -> None:
    """One that ends before the first, or that only steps without `loop.*` wait for, changes nothing."""
    text = CHECKED.replace("large}", f"large, parallel: {parallel}}}")
    elsewhere = {**BEHIND[0], "with": {"draft": "{{input}}"}}
    assert planning_case(text).plan(elsewhere).refused == ()
    behind = {"op": "set_needs", "target": "publish", "add": ["more"]}
    assert planning_case(text).plan(*BEHIND, behind).refused == ()
