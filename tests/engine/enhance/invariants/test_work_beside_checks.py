"""Work that is done anew beside its check: the checked step says what the check likes, and another one works.

The models are gullible: a draft is fine once it says ok, and the result is whatever the others make.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelRequest
from tests.engine.enhance.flows import planning_case
from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

STEPS = HEAD + "steps:\n"
DRAFT = "  - {name: draft, run: 'Write about {{input}}'}\n"
REVIEW = "  - {name: review, needs: [draft], run: 'Is it short? Say PASS or FAIL. {{draft}}'}\n"
PUBLISH = "  - {name: publish, needs: [review], run: 'Publish {{draft}}'}\n"
CHECKED = STEPS + DRAFT + REVIEW + PUBLISH
#: Two checks, of which the second one looks at what is made of the first draft.
TWICE = (
    STEPS
    + DRAFT
    + REVIEW
    + "  - {name: polish, needs: [review], run: 'Polish {{draft}}'}\n"
    + "  - {name: read, needs: [polish], run: 'Is it English? Say PASS or FAIL. {{polish}}'}\n"
    + "  - {name: publish, needs: [read], run: 'Publish {{polish}}'}\n"
)
BESIDE = CHECKED.replace("steps:\n", "steps:\n  - {name: facts, run: 'Facts about {{input}}'}\n").replace(
    "Publish {{draft}}", "Publish {{draft}} with {{facts}}"
)
CALLED = CHECKED.replace("run: 'Publish {{draft}}'", "template: {name: shorten, with: {draft: '{{draft}}'}}")
SHORTEN = HEAD.replace("report", "shorten") + "steps:\n  - {name: go, run: 'Shorten {{draft}}'}\n"
GUARDED = STEPS + DRAFT + REVIEW + "  - {name: note, run: 'Note {{input}}'}\n"
GUARDED += "  - {name: publish, needs: [review], if: '{{input}}', run: 'Publish {{draft}}'}\n"

SAY_OK = instructions("draft", "Say ok. Not: {{input}}")
REDONE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "by the result": (CHECKED, [instructions("publish", "Write about {{input}}. A note: {{draft}}")]),
    "by the result, without the input": (CHECKED, [instructions("publish", "Write about tea. A note: {{draft}}")]),
    "by a result that has an `if`": (GUARDED, [instructions("publish", "Write about {{input}}. A note: {{draft}}")]),
    "between two checks": (TWICE, [instructions("polish", "Write about {{input}}. A note: {{draft}}")]),
    "by a step beside the checked one": (BESIDE, [instructions("facts", "Write about {{input}}")]),
    "in a file that the result calls": (CALLED, [instructions("go", "Write tea. Not: {{draft}}", file="shorten.yaml")]),
}


def worker(request: ModelRequest) -> str:
    return "ok" if "Say ok" in request.prompt else "a bad draft"


def review(request: ModelRequest) -> str:
    return "FAIL: it is bad" if "a bad draft" in request.prompt else "PASS"


def loop_of(text: str, *plan: dict[str, Any], **script: Any) -> Loop:
    usual = {"draft": worker, "review": review, **dict.fromkeys(("polish", "facts", "go", "note"), "a bad draft")}
    answers = {**usual, "read": "PASS", "publish": "published", **script}
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "onFixation": "warn"}
    editable = ["shorten.yaml"] if text == CALLED else []
    return Loop(text, answers, [plan_of(*plan)], knobs, {"shorten.yaml": SHORTEN}, editable=editable)


@pytest.mark.parametrize("how", REDONE)
async def test_EB_126_the_checked_work_is_not_done_anew(how: str) -> None:
    text, plan = REDONE[how]
    loop = loop_of(text, *plan)
    assert (await loop.run()).reason == "no_ops"
    [refused] = loop.of("op_rejected")
    assert (refused["reasonCode"], "which is checked" in refused["message"]) == ("changes_result", True)


@pytest.mark.parametrize("how", [one for one in REDONE if "file" not in one])
async def test_EB_126_nor_beside_a_checked_step_that_says_a_constant(how: str) -> None:
    text, plan = REDONE[how]
    loop = loop_of(text, SAY_OK, *plan)
    await loop.run()
    assert [one["op"] for one in loop.of("op_rejected")] == ["set_instructions"]
    written = loop.seen_text()
    assert all(one["run"] not in written for one in plan)


TOOLS = CHECKED.replace("model: large}", "model: large, servers: [notes]}").replace("Publish {{draft}}", "Publish it")
AGAIN = {"op": "add_step", "name": "again", "needs": ["review"], "run": "Write the notes anew", "before": "publish"}


@pytest.mark.parametrize("needs", [["review"], ["draft"], []], ids=str)
def test_EB_126_no_new_step_works_with_the_same_tools_behind_the_check(needs: list[str]) -> None:
    [refusal] = planning_case(TOOLS).plan({**AGAIN, "needs": needs}).refused
    assert (refusal.op, refusal.code, "`review`" in refusal.message) == ("add_step", "changes_result", True)


def test_a_new_step_before_the_checked_one_has_tools() -> None:
    through = instructions("draft", "Write {{again}} about {{input}}")
    assert not planning_case(TOOLS).plan({**AGAIN, "needs": [], "before": "draft"}, through).refused


def test_a_check_that_a_plan_adds_has_no_tools() -> None:
    check = {"op": "add_verifier", "name": "look", "checks": "draft", "criterion": "It is there"}
    assert "servers: []" in planning_case(TOOLS).taken(**check)
    assert "servers" not in planning_case(CHECKED).taken(**check)


MENDED = {
    "the result failed": (CHECKED, {"publish": failing("bad_answer", "no JSON")}, {}),
    "a person spoke of it": (CHECKED, {}, {"to_mend": frozenset({"publish"})}),
    "what the result is made of beside the checked one": (BESIDE, {"publish": failing("bad_answer", "no JSON")}, {}),
}


@pytest.mark.parametrize("why", MENDED)
def test_what_failed_is_mended_behind_a_check(why: str) -> None:
    text, _, known = MENDED[why]
    case = replace(planning_case(text), baseline={"to_mend": frozenset({"publish"}), **known})
    assert not case.plan(instructions("publish", text.split("run: '")[-1].split("'")[0] + " as JSON")).refused
    if "facts" in text:
        assert not case.plan(instructions("facts", "Short facts about {{input}}")).refused


async def test_what_a_failing_result_needs_is_changed() -> None:
    published = [failing("bad_answer", "no JSON"), "published"]
    loop = loop_of(CHECKED, instructions("publish", "Publish {{draft}} as JSON"), review="PASS", publish=published)
    assert (await loop.run()).reason == "converged"
