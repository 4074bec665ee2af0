"""What people do at moments that nobody plans for: stop while the judge thinks, pause while text streams, fork what
was forked, delete what goes on, all at once from several sides, while the clock jumps.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.testing.models import SILENCE
from tests.engine.control.support.project import ENDS, Project


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    await made.open()
    yield made
    await made.close()


async def heard(project: Project, run_id: str, kind: str, count: int = 1) -> None:
    """Until so many facts of this kind were told."""
    assert project.engine is not None
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(after=0, run_id=run_id):
            count -= event["kind"] == kind
            if not count:
                return


async def asked(project: Project, name: str, count: int = 1) -> None:
    async with asyncio.timeout(60):
        while len(project.models.asked(name)) < count:
            await asyncio.sleep(0)


async def test_a_stop_while_the_judge_thinks_ends_the_call_and_the_iteration_counts(project: Project) -> None:
    project.models.script |= {"write": ["v1"], "judge": [SILENCE]}
    run_id = (await project.start())["runId"]
    await asked(project, "judge")
    assert project.engine is not None
    answer = await project.engine.control("stop", run_id)
    facts = await project.ended(run_id)
    assert answer["runs"][0]["status"] in ("stopping", "cancelled")
    assert project.models.running == 0
    end = facts[-1]
    assert (end["kind"], end["cause"], end["totalIterations"], end["lastOutput"]) == ("cancelled", "user", 1, "v1")
    assert not [fact for fact in facts if fact["kind"] == "judged"]


async def test_a_pause_while_an_answer_streams_lets_it_end_and_nothing_begin(project: Project) -> None:
    going = asyncio.Event()

    async def slow(request: Any, on_text: Any = None, on_wait: Any = None) -> Any:
        if request.place.endswith("write"):
            on_text("half ")
            await going.wait()
        return await plain(request, on_text, on_wait)

    plain = project.models.ask
    project.models.ask = slow  # type: ignore[method-assign]
    project.models.script |= {"write": ["v1"], "judge": ["YES"]}
    run_id = (await project.start())["runId"]
    await heard(project, run_id, "iteration_started")
    engine = project.engine
    assert engine is not None
    await engine.control("pause", run_id)
    going.set()
    await heard(project, run_id, "step_completed", 1)
    assert (await project.state(run_id))["status"] == "paused"
    for _ in range(50):
        await asyncio.sleep(0)
    assert project.models.asked("judge") == []
    await engine.control("resume", run_id)
    assert (await project.ended(run_id))[-1]["reason"] == "condition_met"


async def test_a_fork_of_a_fork_pays_only_for_what_is_new(project: Project) -> None:
    project.models.script |= {"write": ["v1", "v2", "v3", "w3", "x3"], "judge": ["NO", "NO", "YES"]}
    first = (await project.run())[0]["runId"]
    engine = project.engine
    assert engine is not None
    fork = (await engine.fork(first, 3))["runId"]
    assert (await project.ended(fork))[-1]["finalOutput"] == "w3"
    before = len(project.models.requests)
    again = (await engine.fork(fork, 3))["runId"]
    facts = await project.ended(again)
    assert [fact["output"] for fact in facts if fact["kind"] == "iteration"] == ["v1", "v2", "x3"]
    assert len(project.models.requests) == before + 2  # one iteration and its judge
    assert facts[0]["attempt"] == 3
    await engine.delete(first)  # what was taken from it is taken
    more = await engine.fork(again, 2)
    assert more["ok"], more
    assert (await project.ended(more["runId"]))[-1]["kind"] == "completed"


async def test_a_cap_below_one_call_ends_the_run_before_it_asks_anybody(project: Project) -> None:
    project.settings("providers: {ollama: {price: {input: 1000, output: 1000}}}\n")
    facts = await project.run(limits={"budgetUsd": 0.000001})
    assert (facts[-1]["kind"], facts[-1]["reason"]) == ("completed", "budget")
    assert facts[-1]["because"]
    assert project.models.requests == []


async def test_a_run_whose_project_is_gone_goes_on_and_its_replay_says_what_is_missing(project: Project) -> None:
    project.models.script |= {"write": ["v1", "v2"], "judge": ["NO", "YES"]}
    run_id = (await project.start())["runId"]
    await heard(project, run_id, "run_started")
    for path in project.root.iterdir():
        path.unlink()
    assert (await project.ended(run_id))[-1]["finalOutput"] == "v2"
    assert project.engine is not None
    replay = await project.engine.replay(run_id)
    assert (replay["ok"], replay["code"]) == (False, "not_found")
    fork = await project.engine.fork(run_id, 2)  # the texts are recorded
    assert fork["ok"], fork
    await project.ended(fork["runId"])


async def test_everybody_at_once_pauses_resumes_stops_forks_and_deletes_and_the_record_stays_whole(
    project: Project,
) -> None:
    project.models.script |= {"judge": ["NO"]}
    project.models.wait = lambda request: 0.002
    runs = [(await project.start())["runId"] for _ in range(8)]
    engine = project.engine
    assert engine is not None
    verbs = ["pause", "resume", "pause", "resume", "stop", "stop"]

    async def person(number: int) -> list[dict[str, Any]]:
        told = []
        for step, verb in enumerate(verbs):
            run_id = runs[(number * 3 + step) % len(runs)]
            told.append(await engine.control(verb, run_id))
            told.append(await engine.fork(run_id, 1))
            told.append(await engine.delete(run_id))
            told.append(await engine.state(run_id))
        return told

    answers = [answer for said in await asyncio.gather(*map(person, range(6))) for answer in said]
    codes = Counter(answer.get("code", "ok") for answer in answers)
    assert set(codes) <= {"ok", "wrong_status", "not_found", "bad_argument"}, codes
    await engine.control("resume", "all")
    await engine.control("stop", "all")
    async with asyncio.timeout(60):
        while engine.live:
            await asyncio.sleep(0.01)
    for state in (await engine.runs(limit=500))["runs"]:
        facts = (await engine.events(state["runId"], limit=1000))["events"]
        assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
        assert [fact["kind"] for fact in facts if fact["kind"] in ENDS] == [facts[-1]["kind"]]
        assert state["status"] in ("completed", "cancelled", "failed")


@pytest.mark.parametrize("jump", [86_400.0 * 400, -86_400.0 * 400])
async def test_a_clock_that_jumps_ends_no_limit_of_time_and_no_wait(tmp_path: Path, jump: float) -> None:
    now = [1_700_000_000.0]
    project = Project(tmp_path)
    await project.open(clock=lambda: now[0])
    project.settings("limits: {wallClock: 1h}\n")

    def jumping(request: Any) -> str:
        now[0] += jump
        return "v"

    project.models.script |= {"write": [jumping], "judge": ["NO", "YES"]}
    facts = await project.run()
    assert (facts[-1]["kind"], facts[-1]["reason"]) == ("completed", "condition_met")
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    assert (await project.state(facts[0]["runId"]))["elapsedMs"] >= 0
    await project.close()
