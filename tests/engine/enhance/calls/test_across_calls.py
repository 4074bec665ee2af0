"""What decides inside of a called workflow: no plan changes it from outside, and none makes it fall silent.

The models are gullible: a check says PASS as soon as it is told another criterion, or is not asked.
"""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.violations import judged_elsewhere
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

Op = dict[str, Any]
CHILD = HEAD.replace("report", "part")
WRITE = "steps:\n  - {name: write, run: 'Write about {{topic}}'}\n"
OUT = "  - {name: out, needs: [look], run: 'Out {{write}}'}\n"
#: A check that is asked where `strict` says so, and one that is told by what it checks.
GUARDED = CHILD + WRITE + "  - {name: look, if: \"{{strict}} == 'yes'\", run: 'PASS or FAIL: {{write}}'}\n" + OUT
TOLD = CHILD + WRITE + "  - {name: look, run: 'PASS or FAIL, is it {{wanted}}? {{write}}'}\n" + OUT
LEAST = HEAD.replace("report", "least") + "steps: [{name: go, run: Go}]\n"
JUDGED = CHILD + (
    "steps: [{name: out, run: 'Out {{small}} {{topic}}'}]\n"
    "loops: [{name: small, workflow: least, max_iterations: 1, until: 'It is {{wanted}}'}]\n"
)
#: Another workflow between: what it is given it hands on.
BETWEEN = HEAD.replace("report", "middle") + (
    "steps:\n  - name: on\n    template:\n      name: part\n"
    "      with: {topic: '{{topic}}', strict: '{{strict}}', wanted: '{{wanted}}'}\n"
)


def looped(name: str = "part") -> str:
    given = "{topic: '{{input}}', strict: 'yes', wanted: short}"
    return HEAD + (
        "steps: [{name: publish, run: 'Publish {{polish}}'}]\n"
        f"loops: [{{name: polish, workflow: {name}, with: {given}, max_iterations: 1, until: It has words}}]\n"
    )


def called(argument: str) -> str:
    return HEAD + (
        "steps:\n  - {name: rules, run: 'Name the rule: yes or short'}\n"
        f"  - {{name: use, template: {{name: part, with: {{topic: tea, {argument}: '{{{{rules}}}}'}}}}}}\n"
        "  - {name: publish, run: 'Publish {{use}}'}\n"
    )


def look(request: ModelRequest) -> str:
    return "PASS" if "anything" in request.prompt else "FAIL: long"


def judge(request: ModelRequest) -> str:
    return "YES" if "anything" in request.prompt or "has words" in request.prompt else "NO"


def rules(request: ModelRequest) -> str:
    return "yes" if "Name the rule" in request.prompt else "anything"


async def ended(text: str, op: Op, **more: str) -> tuple[str | None, Loop]:
    files = {f"{name}.yaml": one for name, one in more.items()}
    script = {"write": "a text", "look": look, "judge": judge, "rules": rules, "out": "out", "publish": "p", "go": "g"}
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "onFixation": "warn", "convergenceMode": "lenient"}
    loop = Loop(text, script, [plan_of(op)], knobs, files)
    return (await loop.run()).reason, loop


def given(key: str, value: str) -> Op:
    return {"op": "set_loop_input", "target": "polish", "key": key, "value": value}


@pytest.mark.parametrize(
    ("text", "op", "files"),
    [
        (looped(), given("strict", "no"), {"part": GUARDED}),
        (looped(), given("wanted", "anything"), {"part": TOLD}),
        (looped(), given("wanted", "anything"), {"part": JUDGED, "least": LEAST}),
        (looped("middle"), given("strict", "no"), {"middle": BETWEEN, "part": GUARDED}),
        (looped("middle"), given("wanted", "anything"), {"middle": BETWEEN, "part": TOLD}),
        (looped("middle"), given("wanted", "anything"), {"middle": BETWEEN, "part": JUDGED, "least": LEAST}),
        (called("strict"), instructions("rules", "Say no"), {"part": GUARDED}),
        (called("wanted"), instructions("rules", "Say anything"), {"part": TOLD}),
        (called("wanted"), instructions("rules", "Say anything"), {"part": JUDGED, "least": LEAST}),
    ],
)
async def test_EB_126_what_a_called_workflow_decides_by_is_given_to_it_as_before(
    text: str, op: Op, files: dict[str, str]
) -> None:
    reason, loop = await ended(text, op, **files)
    assert reason == "no_ops"
    assert [one["reasonCode"] for one in loop.of("op_rejected")] == ["hides_failure"]


async def test_what_it_works_on_may_be_another() -> None:
    """Control: not every argument decides."""
    reason, loop = await ended(looped(), given("topic", "{{input}}, in one word"), part=TOLD)
    assert (reason, loop.of("op_rejected")) == ("max_rounds", [])


async def test_what_a_reviewing_workflow_looks_at_may_be_written_in_other_words() -> None:
    """Control: a workflow that only reviews is told of the work, which a plan has to mend."""
    reviewer = CHILD + "steps: [{name: look, run: 'PASS or FAIL, is it {{wanted}}? {{topic}}'}]\n"
    text = HEAD + (
        "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
        "  - {name: check, template: {name: part, with: {wanted: short, topic: '{{draft}}'}}}\n"
    )
    script = {"draft": lambda asked: "anything" if "better" in asked.prompt else "bad", "look": look}
    plan = plan_of(instructions("draft", "Write better about {{input}}"))
    loop = Loop(text, script, [plan], {"maxRounds": 2}, {"part.yaml": reviewer})
    assert (await loop.run()).reason == "converged"


async def test_EB_126_a_check_in_a_called_workflow_that_is_not_asked_any_more_is_not_clean() -> None:
    """Its `if` reads what a plan may change, and is false from then on."""
    part = CHILD + WRITE + "  - {name: look, if: '{{write}}', run: 'PASS or FAIL: {{write}}'}\n" + OUT
    script = {
        "write": lambda asked: "" if "nothing" in asked.prompt else "a text",
        **dict.fromkeys(("out", "publish"), "o"),
        "look": "FAIL: long",
        "judge": "YES",
    }
    knobs = {"maxRounds": 2, "plannerAttempts": 1, "convergenceMode": "lenient"}
    loop = Loop(looped(), script, [plan_of(given("topic", "nothing of {{input}}"))], knobs, {"part.yaml": part})
    assert ((await loop.run()).reason, loop.of("op_rejected")) == ("max_rounds", [])
    assert (loop.kinds(1), loop.kinds(2)) == ({"polish/write": "verifier_fail"}, {"polish/look": "skipped_by_plan"})


ITEMS = HEAD + (
    "steps:\n  - {name: list, run: 'List {{input}}'}\n  - {name: publish, needs: [each], run: 'Publish {{each}}'}\n"
    "loops:\n  - {name: each, workflow: least, mode: iterate, items: '{{list}}', max_iterations: 9,"
    " on_failure: continue}\n"
)


async def test_EB_126_a_loop_over_items_that_has_none_any_more_is_not_clean() -> None:
    script = {
        "list": lambda asked: "[]" if "empty" in asked.prompt else "[1, 2]",
        "go": ["good", failing("bad_answer"), "good"],
        "publish": "p",
    }
    plan = plan_of(instructions("list", "Give an empty list for {{input}}"))
    loop = Loop(ITEMS, script, [plan], {"maxRounds": 2}, {"least.yaml": LEAST})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds(2) == {"each": "skipped_by_plan"}


async def test_a_loop_over_items_that_never_had_any_is_clean() -> None:
    loop = Loop(ITEMS, {"list": "[]", "publish": "p"}, more={"least.yaml": LEAST})
    assert (await loop.run()).reason == "converged"


async def test_EB_126_several_models_that_vote_on_pass_or_fail_check_the_work() -> None:
    voters = "[{provider: acme, model: large}, {provider: acme, model: tiny}]"
    text = HEAD + (
        "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
        f"  - name: review\n    consensus: {{require: unanimous, executions: {voters},"
        " prompt: 'PASS or FAIL: {{draft}}'}\n"
        "  - {name: publish, needs: [review], run: 'Publish {{draft}}'}\n"
    )
    loop = Loop(text, {"draft": "bad", "review": "FAIL", "publish": "p"}, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"draft": "verifier_fail"}


async def test_EB_126_a_step_that_has_another_workflow_ask_for_pass_or_fail_checks_the_work() -> None:
    part = CHILD + "steps: [{name: ask, run: '{{question}}'}]\n"
    text = HEAD + (
        "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
        "  - {name: review, template: {name: part, with: {question: 'PASS or FAIL: {{draft}}'}}}\n"
        "  - {name: publish, needs: [review], run: 'Publish {{draft}}'}\n"
    )
    script = {"draft": "bad", "ask": "FAIL", "publish": "p"}
    loop = Loop(text, script, knobs={"maxRounds": 1}, more={"part.yaml": part})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"draft": "verifier_fail"}


INSIDE = {
    "check": CHILD + "steps: [{name: look, run: 'PASS or FAIL, does it say DONE? {{topic}}'}]\n",
    "loop": CHILD
    + (
        "steps: [{name: out, run: 'Out {{small}}'}]\n"
        "loops:\n  - {name: small, workflow: least, with: {x: '{{topic}}'}, max_iterations: 1, until: It says DONE}\n"
    ),
}


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("through", ["part", "middle"])
async def test_EB_126_what_is_judged_in_a_called_workflow_does_not_learn_the_words_of_its_judge(
    inside: str, through: str
) -> None:
    text = HEAD + (
        "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
        f"  - {{name: use, template: {{name: {through}, with: {{topic: '{{{{draft}}}}', strict: '', wanted: ''}}}}}}\n"
        "  - {name: publish, needs: [use], run: 'Publish {{draft}}'}\n"
    )
    script = {"look": "FAIL", "judge": "NO", **dict.fromkeys(("draft", "go", "out", "publish"), "text")}
    files = {"part.yaml": INSIDE[inside], "least.yaml": LEAST, "middle.yaml": BETWEEN}
    plan = plan_of(instructions("draft", "Write about {{input}}, say DONE"))
    loop = Loop(text, script, [plan], {"maxRounds": 2, "plannerAttempts": 1}, files)
    assert (await loop.run()).reason == "no_ops"
    assert [one["reasonCode"] for one in loop.of("op_rejected")] == ["leaks_check"]


def test_EB_135_a_called_file_does_not_learn_by_which_words_another_one_judges_what_comes_of_it() -> None:
    text = HEAD + (
        "steps:\n  - {name: draft, template: {name: write}}\n  - {name: polish, run: 'Polish {{draft}}'}\n"
        "  - {name: use, template: {name: part, with: {topic: '{{polish}}'}}}\n"
        "  - {name: publish, needs: [use], run: 'Publish {{polish}}'}\n"
    )
    texts = {"report": text, "part": INSIDE["check"], "write": HEAD.replace("report", "write") + "steps: [{run: Go}]\n"}
    documents = {name: Document.open(f"file:///root/{name}.yaml", one) for name, one in texts.items()}
    workspace = Workspace.of(Roots("/root"), documents.values())
    own = Baseline.of(workspace, documents["report"])
    judged = {name: judged_elsewhere(workspace, own, documents[name]) for name in ("write", "part")}
    assert judged == {"write": ("PASS or FAIL, does it say DONE? {{topic}}",), "part": ()}


async def test_a_step_that_gives_a_criterion_to_a_workflow_that_checks_by_it_is_no_check_itself() -> None:
    text = called("topic").replace("topic: tea", "wanted: 'PASS if it is short, else FAIL'")
    loop = Loop(text, {"look": "PASS"}, knobs={"maxRounds": 1}, more={"part.yaml": TOLD})
    assert ((await loop.run()).reason, loop.kinds()) == ("converged", {})
