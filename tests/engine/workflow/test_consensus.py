"""Several models, one question."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.engine.bodies.consensus import count, vote
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.testing.models import SILENCE, failure
from loop_ls.testing.workflows import Ran, run


def three(*answers: Any) -> Any:
    """An answer for each model m0, m1, m2."""
    return lambda request: answers[int(request.model[1:])]


def step(executions: int = 3, require: str = "majority", name: str = "v", more: str = "", head: str = "") -> str:
    models = ", ".join(f"{{provider: acme, model: m{n}}}" for n in range(executions))
    return f"""
{head}
steps:
  - name: {name}
    consensus: {{prompt: "Is {{{{input}}}} right?", require: {require}, executions: [{models}]{more}}}
"""


async def voted(*answers: Any, require: str = "majority", more: str = "", head: str = "", name: str = "v") -> Ran:
    return await run(step(len(answers), require, name, more, head), {name: three(*answers)}, input="it")


async def test_WB_147_all_are_asked_at_once_with_the_same_prompt() -> None:
    ran = await voted("YES", "YES", "YES")
    assert ran.prompts("v") == ["Is it right?"] * 3
    assert ran.models.most_at_once == 3


PAIRS = [
    ("YES", "yes ", True),
    ("All  good", "all good", True),
    ("YES", "YES.", False),
    ("YES, because a", "YES, because b", False),
    ("Success!", "all success", False),
    ("No failures", "FAIL", False),
]


@pytest.mark.parametrize(("one", "other", "agree"), PAIRS)
def test_WB_148_votes_are_compared_as_whole_answers(one: str, other: str, agree: bool) -> None:
    assert (vote(one) == vote(other)) is agree


@pytest.mark.parametrize(("one", "other", "agree"), PAIRS)
async def test_C8_consensus(one: str, other: str, agree: bool) -> None:
    ran = await voted(one, other, require="unanimous")
    assert (ran.reason == "completed") is agree


@pytest.mark.parametrize(("require", "met"), [("majority", True), ("2/3", True), ("unanimous", False)])
async def test_WB_149_two_to_one(require: str, met: bool) -> None:
    ran = await voted("YES", "no", "yes", require=require)
    assert (ran.reason == "completed") is met


async def test_WB_149_one_to_one_is_no_majority() -> None:
    assert (await voted("YES", "NO")).reason == "error"


async def test_WB_150_fewer_than_two_answers_fail() -> None:
    ran = await voted(failure("It is out."), "YES", failure("It is gone."))
    message = ran.of("step_failed")[0]["error"]["message"]
    assert message == "`v` got 1 answer and needs two: acme/m0: It is out; acme/m2: It is gone."
    ran = await voted(failure(), "YES", "yes", require="unanimous")
    assert (ran.reason, ran.output) == ("completed", "YES")


async def test_WB_151_equal_models_have_a_vote_each() -> None:
    main = step().replace("model: m1", "model: m0").replace("model: m2", "model: m0")
    ran = await run(main, {"v": ["A", "B", "a"]})
    assert len(ran.models.requests) == 3
    assert ran.output == "A"
    assert ran.completed("v")["agreement"] == pytest.approx(2 / 3)


async def test_WB_152_the_first_original_answer_wins_and_the_votes_are_kept() -> None:
    ran = await voted("no", " Yes  sir ", "yes SIR", require="2/3")
    done = ran.completed("v")
    assert ran.output == done["output"] == " Yes  sir "
    assert done["votes"] == ["no", " Yes  sir ", "yes SIR"]
    assert done["confidence"] == "medium"


@pytest.mark.parametrize(
    ("answers", "confidence"), [("aaa", "high"), ("aaab", "good"), ("aaabb", "medium"), ("aabc", "low")]
)
def test_WB_152_confidence(answers: str, confidence: str) -> None:
    assert count(list(answers)).confidence == confidence


async def test_WB_153_no_name_and_no_word_is_special() -> None:
    ran = await voted("OK", "ok", "OK", name="validate_x", require="unanimous")
    assert (ran.reason, ran.output) == ("completed", "OK")


async def test_WB_154_an_answer_over_time_is_a_failed_one() -> None:
    ran = await voted(SILENCE, "YES", "yes", more=", timeout: 20s")
    assert asyncio.get_running_loop().time() == pytest.approx(20, abs=0.5)
    assert (ran.reason, ran.output) == ("completed", "YES")


async def test_WB_155_nobody_is_asked_in_place_of_another() -> None:
    head = "execution: {providers: [{provider: backup, model: m0}, {provider: more, model: m1}]}"
    ran = await voted("YES", failure(), failure(), head=head)
    assert {request.provider for request in ran.models.requests} == {"acme"}
    assert len(ran.models.requests) == 3
    assert ran.reason == "error"


async def test_WB_123_a_models_own_parameters_count_first() -> None:
    main = """
        execution: {provider: q, model: n, temperature: 0.9, max_tokens: 900, timeout: 90s}
        steps:
          - name: v
            temperature: 0.5
            timeout: 50s
            consensus:
              prompt: x
              require: majority
              executions:
                - {provider: acme, model: m0, temperature: 0, max_tokens: 10, timeout: 10s}
                - {provider: acme, model: m1}
    """
    own, inherited = (await run(main, {"v": "YES"})).models.requests

    def shown(request: ModelRequest) -> tuple[float | None, int | None, float | None]:
        return request.temperature, request.max_tokens, request.timeout

    assert shown(own) == (0, 10, 10)
    assert shown(inherited) == (0.5, 900, 50)


async def test_WB_113_a_failing_consensus_can_leave_empty_text() -> None:
    main = step(2).replace("    consensus:", "    on_failure: continue\n    consensus:") + (
        "  - {name: b, needs: [v], run: '[{{v}}]'}\n"
    )
    ran = await run(main, {"v": three("A", "B")})
    assert ran.prompt("b") == "[]"
    assert ran.reason == "completed"
