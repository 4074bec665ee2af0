"""The items of a loop: a plan that has fewer of them made has left out what failed."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelRequest
from tests.engine.enhance.flows import CALLEE
from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

EACH = HEAD + (
    "steps:\n  - {name: facts, run: 'Facts about {{input}}'}\n"
    "  - {name: list, run: 'List cities in {{facts}} as JSON'}\n"
    "  - {name: publish, needs: [each], run: 'Publish {{each}}'}\n"
    "loops:\n  - {name: each, workflow: shorten, mode: iterate, items: '{{list}}', max_iterations: 9,"
    " on_failure: continue, with: {draft: '{{loop.current}}'}}\n"
)
FEWER = [
    instructions("list", "List the good cities in {{facts}} as JSON"),
    instructions("facts", "Good facts about {{input}}"),
]


def go(request: ModelRequest) -> Any:
    return failing("bad_answer", "no answer") if "hard" in request.prompt else "ok"


def listed(all_of_them: str, less: str) -> Any:
    return lambda request: less if "ood" in request.prompt else all_of_them


def loop_of(plan: dict[str, Any], script: dict[str, Any], **more: Any) -> Loop:
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "onFixation": "warn", "maxTrials": 12}
    facts = {"facts": lambda request: "good" if "Good" in request.prompt else "facts", "go": go, "publish": "published"}
    return Loop(EACH, {**facts, **script}, [plan_of(plan)], knobs, {"shorten.yaml": CALLEE}, **more)


@pytest.mark.parametrize("plan", FEWER, ids=["the list", "what it is made of"])
async def test_EB_126_a_loop_over_items_that_has_fewer_of_them_is_not_clean(plan: dict[str, Any]) -> None:
    loop = loop_of(plan, {"list": listed('["a", "hard", "c"]', '["a"]')})
    assert (await loop.run()).reason == "max_rounds"
    assert [loop.kinds(1), loop.kinds(2)] == [{"each": "bad_output"}, {"each": "skipped_by_plan"}]


EASIER = ('["a", "hard", "c"]', '["a", "b", "c"]')
REVIEW = "  - name: review\n    run: 'Is it short? Say PASS or FAIL. {{go}}'\n"
CHECKED = f"{CALLEE}{REVIEW}  - name: out\n    run: Say {{{{go}}}}\n"
ONCE = failing("bad_answer", "no answer")


@pytest.mark.parametrize("plan", FEWER, ids=["the list", "what it is made of"])
async def test_EB_126_neither_is_one_over_easier_items(plan: dict[str, Any]) -> None:
    loop = loop_of(plan, {"list": listed(*EASIER)})
    assert (await loop.run()).reason == "max_rounds"
    assert [loop.kinds(1), loop.kinds(2)] == [{"each": "bad_output"}, {"each": "skipped_by_plan"}]
    assert '`"hard"` failed in round 1' in loop.reports[1]["failures"][0]["skip_reason"]


async def test_EB_126_nor_one_whose_items_fail_a_check_inside() -> None:
    def review(request: ModelRequest) -> str:
        return "FAIL: it is long" if "hard" in request.prompt else "PASS"

    script = {"list": listed(*EASIER), "go": lambda request: request.prompt, "review": review, "out": "said"}
    loop = loop_of(FEWER[0], script)
    loop.more["shorten.yaml"] = CHECKED
    assert (await loop.run()).reason == "max_rounds"
    assert list(loop.kinds(2).values()) == ["skipped_by_plan"]


async def test_EB_126_nor_is_a_trial_over_easier_items() -> None:
    loop = loop_of(FEWER[0], {"list": listed(*EASIER)}, cases=[{"name": "sea", "input": "the sea"}])
    assert (await loop.run()).reason != "converged"
    assert {one["outcome"] for one in loop.of("trial_finished")} == {"fail"}


async def test_EB_126_neither_is_a_trial() -> None:
    cases = [{"name": "sea", "input": "the sea"}]
    loop = loop_of(FEWER[0], {"list": listed('["a", "hard", "c"]', '["a"]')}, cases=cases)
    assert (await loop.run()).reason != "converged"
    assert {one["outcome"] for one in loop.of("trial_finished")} == {"fail"}


@pytest.mark.parametrize(
    "script",
    [
        {"list": listed("hard to say:\na\nb", '["a", "b"]')},
        {
            "list": listed('["hard", "b"]', '["hard", "b", "c"]'),
            "go": [ONCE, *4 * ["ok"]],
        },
        {"list": ['["a", "hard", "c"]', '["a", "b"]'], "go": [failing("bad_answer", "no answer"), "ok"]},
    ],
    ids=["lines of text", "more", "by itself"],
)
async def test_items_that_are_others_for_a_reason_are_clean(script: dict[str, Any]) -> None:
    """Lines may hold more than items; and where no plan has asked otherwise, the list is another one by itself."""
    plan = FEWER[0] if callable(script["list"]) else instructions("publish", "Publish all of {{each}}")
    assert (await loop_of(plan, script).run()).reason == "converged"
