"""Ten workflows with a known fault each, and a planner that mends eight: the right ones converge, with evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

CASES = (
    {"name": "sea", "input": "the sea"},
    {"name": "hills", "input": "the hills"},
    {"name": "town", "input": "the town"},
    {"name": "night", "input": "the night", "held": True},
)
Say = Callable[[ModelRequest], str | ModelFailure]


def says(good: str, otherwise: str | ModelFailure, *words: str) -> Say:
    """A model that does it right where its prompt holds all of the words."""
    return lambda request: good if all(word in request.prompt for word in words) else otherwise


@dataclass(frozen=True)
class Fault:
    """`mended` False: no plan of the script mends it. `why` is a part of what the loop then says."""

    text: str
    script: Mapping[str, Any]
    plan: Mapping[str, Any] | None
    more: Mapping[str, str] = field(default_factory=dict)
    mended: bool = True


NO_JSON = failing("bad_answer", "no JSON")
ONE = HEAD + "steps:\n  - {name: draft, run: Write about {{input}}}\n".replace(
    "run: Write about {{input}}", 'run: "Write about {{input}}"'
)
REVIEWED = HEAD + (
    "steps:\n"
    '  - {name: draft, run: "Write about {{input}}"}\n'
    '  - {name: review, run: "Look at {{draft}}. Begin with PASS or FAIL."}\n'
    '  - {name: publish, needs: [review], run: "Publish {{draft}}"}\n'
)
CHILD = HEAD.replace("name: report", "name: shorten") + 'steps:\n  - {name: cut, run: "Cut {{draft}}, goal {{goal}}"}\n'
REFINE = HEAD + (
    "loops:\n"
    '  - {name: polish, workflow: shorten, with: {draft: "{{input}}", goal: any}, max_iterations: 2, '
    "until: It is short}\n"
)
ORDER = HEAD + (
    "steps:\n"
    '  - {name: facts, run: "Facts of {{input}}"}\n'
    '  - {name: draft, run: "Write about {{input}}"}\n'
    '  - {name: publish, needs: [draft], run: "Publish {{draft}}"}\n'
)

FAULTS: dict[str, Fault] = {
    "prompt: says nothing of the form": Fault(
        ONE,
        {"draft": says("{}", NO_JSON, "as JSON")},
        instructions("draft", "Write about {{input}}, as JSON"),
    ),
    "prompt: lacks a rule": Fault(
        ONE,
        {"draft": says("fine", NO_JSON, "one paragraph")},
        {"op": "append_instructions", "target": "draft", "text": "Write one paragraph."},
    ),
    "order: a step does not wait for what it reads": Fault(
        ORDER,
        {"draft": says("fine", NO_JSON, "fact")},
        instructions("draft", "Write about {{input}} from {{facts}}, each a fact"),
    ),
    "verifier: the work is below what its review wants": Fault(
        REVIEWED,
        {"draft": says("long", "short", "at length"), "review": says("PASS", "FAIL: too short", "long")},
        instructions("draft", "Write about {{input}} at length"),
    ),
    "tokens: the answer is cut": Fault(
        ONE,
        {"draft": lambda request: "fine" if (request.max_tokens or 0) > 500 else NO_JSON},
        {"op": "set_generation", "target": "draft", "max_tokens": 2000},
    ),
    "retries: none": Fault(
        ONE.replace("name: draft", "name: draft, max_retries: 0"),
        {"draft": says("fine", NO_JSON, "twice")},
        instructions("draft", "Write about {{input}}, and read it twice"),
    ),
    "child file: is given the wrong goal": Fault(
        REFINE,
        {"cut": says("short", "long", "goal ten words"), "judge": says("YES", "NO", "short\n")},
        {"op": "set_loop_input", "target": "polish", "key": "goal", "value": "ten words"},
        {"shorten.yaml": CHILD},
    ),
    "missing check: the draft is not looked at": Fault(
        ORDER,
        {"publish": says("fine", NO_JSON, "looked at"), "look": "looked at"},
        {"op": "set_instructions", "target": "publish", "run": "Publish {{draft}}, looked at"},
    ),
    "until: can never hold": Fault(
        REFINE.replace("It is short", "It is longer than itself"),
        {"judge": "NO"},
        {"op": "set_loop_until", "target": "polish", "until": "It is not empty"},
        {"shorten.yaml": CHILD},
        mended=False,
    ),
    "provider: cannot do it at all": Fault(
        ONE,
        {"draft": NO_JSON},
        instructions("draft", "Write about {{input}}, please"),
        mended=False,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_EB_124_a_planted_fault_is_mended_with_evidence_or_given_up_with_a_reason(name: str) -> None:
    fault = FAULTS[name]
    plans = [plan_of(dict(fault.plan))] if fault.plan else [plan_of()]
    loop = Loop(
        fault.text, dict(fault.script), plans, {"minPassRate": 0.5, "maxRounds": 2}, dict(fault.more), cases=CASES
    )
    outcome = await loop.run()
    tried = {(one["round"], one["case"]) for one in loop.of("trial_finished")}
    assert {case for number, case in tried if number == 1} >= {"sea", "hills", "town"}
    assert outcome.because, "how it ended is said in numbers"
    if fault.mended:
        assert outcome.reason == "converged", (outcome, loop.of("op_rejected"), loop.of("candidate_decided"))
        assert loop.of("evidence")[-1]["e"] >= 10
        assert len(loop.of("edit_sent")) == 1
        assert ("night" in {case for number, case in tried if number == 2}) is True
    else:
        assert outcome.reason in ("max_rounds", "no_ops")
        assert loop.of("edit_sent") == []
        assert loop.seen_text() == fault.text


def test_EB_124_eight_of_them_are_mended() -> None:
    assert (len(FAULTS), sum(fault.mended for fault in FAULTS.values())) == (10, 8)
