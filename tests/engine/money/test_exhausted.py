"""Quota, credit and usage limits that are used up: nothing more is started, and the run waits for a known reset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from loop_ls.cli.runs.runs_table import outcome
from loop_ls.cli.watch import plain
from loop_ls.cli.watch.model import Watched
from loop_ls.contract.amounts import clock_time
from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.failures import reset_moment
from loop_ls.features.lenses.lenses import with_state
from loop_ls.features.runs.shown_run import shown_run
from loop_ls.testing.models import failure
from tests.engine.control.support.project import Project
from tests.engine.money.paid_server import Answer, chunk, events, paid_server

EACH = """
execution: {provider: ollama, model: m}
loops:
  - name: each
    mode: iterate
    workflow: draft
    items: "{{input}}"
    max_iterations: 20
    on_failure: %s
    parallel: %s
    with: {before: "{{loop.current}}"}
"""
ITEMS = str(list(range(12)))


def used_up(until: float | None = None) -> ModelFailure:
    details = {} if until is None else {"until": until}
    return ModelFailure("exhausted", "The quota is used up.", "Check the account.", details=details)


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    await made.open()
    yield made
    await made.close()


@pytest.mark.parametrize("policy", ["continue", "retry", "halt"])
@pytest.mark.parametrize("parallel", ["false", "true"])
async def test_no_item_is_started_after_the_quota_is_used_up(project: Project, policy: str, parallel: str) -> None:
    project.write(each=EACH % (policy, parallel))
    project.models.script["write"] = ["one", used_up()]
    facts = await project.run("each", input=ITEMS)
    end = facts[-1]
    assert (end["kind"], end["reason"], end["error"]["code"]) == ("failed", "exhausted", "exhausted")
    assert "The quota is used up" in end["error"]["message"]
    assert len(project.models.requests) <= (2 if parallel == "false" else 4)
    assert (await project.state(facts[0]["runId"]))["exitCode"] == 4


async def test_a_refine_loop_and_its_judge_end_the_run_too(project: Project) -> None:
    project.models.script |= {"write": ["v1"], "judge": [used_up()]}
    assert (await project.run())[-1]["reason"] == "exhausted"
    project.models.script |= {"write": [used_up()], "judge": ["NO"]}
    assert (await project.run())[-1]["reason"] == "exhausted"


async def test_a_second_provider_of_the_chain_is_asked_before_the_run_ends(project: Project) -> None:
    chain = "execution: {providers: [{provider: ollama, model: a}, {provider: ollama, model: b}]}\n"
    project.write(both=chain + "steps: [{name: write, run: Write}]\n")
    project.models.script["write"] = [used_up(), "from b"]
    assert (await project.run("both"))[-1]["finalOutput"] == "from b"
    project.models.script["write"] = [used_up(), failure(), used_up(), failure()]
    assert (await project.run("both"))[-1]["reason"] == "exhausted"


async def test_a_run_waits_for_a_known_reset_and_goes_on_by_itself(project: Project) -> None:
    project.write(each=EACH % ("continue", "false"))
    soon = time.time() + 0.4
    project.models.script["write"] = ["one", used_up(soon), "two"]
    facts = await project.run("each", input="[1, 2, 3]")
    kinds = [fact["kind"] for fact in facts]
    parked = facts[kinds.index("paused")]
    assert parked["reason"] == "exhausted"
    assert parked["until"].endswith("Z")
    assert "quota" in parked["because"]
    assert kinds.index("paused") < kinds.index("resumed")
    assert (facts[-1]["kind"], facts[-1]["reason"], len(project.models.requests)) == ("completed", "completed", 4)
    assert not [fact for fact in facts if fact["kind"] == "iteration_failed"]


async def parked(project: Project, until: float) -> str:
    project.models.script |= {"write": [used_up(until), "v1"], "judge": ["YES"]}
    answer = await project.start()
    assert project.engine is not None
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0):
            if event["kind"] == "paused":
                return str(answer["runId"])
    raise AssertionError("a run that is parked says so")


async def test_the_state_says_when_a_parked_run_goes_on_and_a_person_may_resume_it_before(project: Project) -> None:
    run_id = await parked(project, time.time() + 3600)
    state = await project.state(run_id)
    assert (state["status"], state["reason"]) == ("paused", "exhausted")
    assert state["resumesAt"].endswith("Z")
    assert "quota" in state["because"]
    assert project.engine is not None
    assert (await project.engine.control("resume", run_id))["ok"]
    assert (await project.ended(run_id))[-1]["reason"] == "condition_met"


async def test_UP_87_every_surface_says_until_when_a_parked_run_waits(project: Project) -> None:
    until = time.time() + 3600
    run_id = await parked(project, until)
    told, state = f"waiting until {clock_time(until)}", cast(Any, await project.state(run_id))
    assert outcome(state) == f"◉ {told}"
    assert with_state(shown_run(state), "iteration 1/5") == f"{told} · iteration 1/5"
    assert project.engine is not None
    watched, lines = Watched("main"), list[str]()
    for fact in cast(Any, await project.engine.events(run_id))["events"]:
        watched.apply(fact)
        lines += plain.told(fact, watched)
    assert watched.until == told
    assert any(line.startswith(f"{told}: ") for line in lines), lines
    state["status"], state["resumesAt"] = "paused", None
    assert outcome(state) == "◉ paused"
    assert with_state(shown_run(state), "iteration 1/5") == "paused · iteration 1/5"
    await project.engine.control("stop", run_id)


async def test_a_parked_run_can_be_stopped(project: Project) -> None:
    run_id = await parked(project, time.time() + 3600)
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    assert (await project.ended(run_id))[-1]["kind"] == "cancelled"


async def test_a_parked_run_goes_on_after_a_restart_of_the_engine(project: Project) -> None:
    run_id = await parked(project, time.time() + 0.8)
    await project.close()
    project.models.script |= {"write": ["v1"], "judge": ["YES"]}
    await project.open()
    assert (await project.state(run_id))["status"] == "paused"
    assert (await project.ended(run_id))[-1]["reason"] == "condition_met"


async def test_a_loop_without_one_success_is_no_success(project: Project) -> None:
    project.write(each=EACH % ("continue", "false"))
    project.models.script["write"] = [failure()]
    end = (await project.run("each", input="[1, 2, 3]"))[-1]
    assert (end["kind"], end["reason"]) == ("failed", "error")
    assert "none of 3 items of `each` succeeded" in end["error"]["message"]
    project.models.script["write"] = [*[failure()] * 3, "one", failure()]
    assert (await project.run("each", input="[1, 2, 3]"))[-1]["kind"] == "completed"


def refusing(status: int, error: Any, headers: str = "") -> Any:
    import json

    body = json.dumps({"error": error}).encode()
    return lambda request, number: Answer(body, status=status, kind="application/json", headers=headers)


async def asked(respond: Any, **settings: Any) -> tuple[ModelFailure, int]:
    async with paid_server(respond) as account:
        house = Providers({})
        models = house.models({"house": {"kind": "openai", "baseUrl": f"{account.url}/v1", **settings}})
        with pytest.raises(ModelFailure) as caught:
            await models.ask(ModelRequest("house", "m", "x"))
        await house.aclose()
        return caught.value, len(account.requests)


@pytest.mark.parametrize(
    ("status", "error", "headers"),
    [
        (402, {"message": "Pay"}, ""),
        (429, {"message": "x", "code": "insufficient_quota"}, ""),
        (429, {"message": "x", "type": "insufficient_quota"}, ""),
        (400, {"message": "x", "type": "billing_error"}, ""),
        (403, {"message": "x", "code": "billing_not_active"}, ""),
        (429, {"message": "slow down"}, "retry-after: 3600\r\n"),
        (429, {"message": "x", "type": "usage_limit_reached", "resets_in_seconds": 5000}, ""),
        (429, {"message": "x", "type": "usage_limit_reached", "resets_at": 4_000_000_000}, ""),
    ],
)
async def test_what_is_used_up_is_read_from_the_providers_own_fields(status: int, error: Any, headers: str) -> None:
    found, requests = await asked(refusing(status, error, headers))
    assert (found.code, requests) == ("exhausted", 1)
    knows = bool(headers) or "resets" in str(error)
    assert ("until" in found.details, "until" in found.message) == (knows, knows)
    assert "maxConcurrency" not in found.hint


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"message": "Too many requests. See billing and insufficient_quota in our docs"}),
        (429, {"message": "x", "code": "rate_limit_exceeded"}),
        (400, {"message": "This text is about billing and credit balance"}),
    ],
)
async def test_no_sentence_of_a_provider_makes_it_used_up(status: int, error: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.retry.FIRST_WAIT", 0.001)
    assert (await asked(refusing(status, error)))[0].code != "exhausted"


async def test_an_error_inside_a_stream_may_say_it_too() -> None:
    error = {"error": {"message": "x", "code": "insufficient_quota"}}
    found, _ = await asked(lambda request, number: Answer(events(chunk("half"), error)))
    assert found.code == "exhausted"


@pytest.mark.parametrize("wait", ["inf", "nan", "1e300", "-5", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_wait_without_end_is_a_failure_like_another(wait: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.retry.FIRST_WAIT", 0.001)
    found, _ = await asked(refusing(429, {"message": "x"}, f"retry-after: {wait}\r\n"))
    assert found.code in ("rate_limited", "exhausted")
    assert "until" not in found.details


@pytest.mark.parametrize("named", [{"resets_in_seconds": 0}, {"resets_at": "soon"}])
async def test_a_reset_that_is_now_is_waited_for_all_the_same(named: dict[str, Any]) -> None:
    """A provider that always names this moment would be asked without a pause, and without an end."""
    if named.get("resets_at"):
        named = {"resets_at": time.time() - 1}
    found, _ = await asked(refusing(429, {"message": "x", "type": "usage_limit_reached", **named}))
    assert found.details["until"] >= time.time() + 30


async def test_a_reset_that_is_long_over_is_none() -> None:
    named = {"message": "x", "type": "usage_limit_reached", "resets_at": 1}
    found, _ = await asked(refusing(429, named))
    assert (found.code, "until" in found.details) == ("exhausted", False)
    assert reset_moment(time.time() - 86_400) is None
    assert reset_moment(1e300) is None
