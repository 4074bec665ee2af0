"""The engine's operations with a program of a few lines: answers, refusals, control, coming back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.contract.facts.kinds import IterationStarted, RunStarted
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.journal import JournalRefused, SqliteStorage
from loop_ls.engine.runs import control_commands, executor
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels

Answer = dict[str, Any]
Turning = Callable[[Turn], Awaitable[str]]


class TurningLoop:
    """Prepares every start, and is the program that runs: a loop over `turning`, at most five times."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.paid = folder, []
        self.turning: Turning = self.draft
        self.limits = Limits(5)
        self.held = asyncio.Event()
        self.engines: list[Engine] = []

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        if request.path == "bad.yaml":
            raise Refused("file_has_errors", "bad.yaml has 1 error.", details={"findings": []})
        started = RunStarted(
            format="workflow", name="w", target={"kind": "workflow"}, path=request.path, uri=request.uri
        )
        return Prepared(started)

    async def draft(self, turn: Turn) -> str:
        self.paid.append(turn.place.key)
        return f"draft {turn.number}"

    async def hold(self, turn: Turn) -> str:
        """Pays, and then waits in the third iteration until it is let go."""
        self.paid.append(turn.place.key)
        if turn.number == 3 and not self.held.is_set():
            await self.held.wait()
        return f"draft {turn.number}"

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        turning_loop = self

        class Body:
            async def run(self, turn: Turn) -> str:
                return str(await recorder.call(turn.place.part("call"), lambda: turning_loop.turning(turn)))

        class Judge:
            async def judge(self, turn: Turn, output: str) -> Verdict:
                return Verdict("yes", "condition_met") if turn.number == 5 else Verdict("no")

        parts = LoopParts("develop", Place().element("develop"), Body(), History(), self.limits, Judge())
        outcome = await drive(parts, recorder)
        if outcome.failure is not None:
            raise outcome.failure
        return outcome

    async def open(self, **others: Any) -> Engine:
        engine = Engine(self.folder, {"workflow": self}, lambda plan: ScriptedModels(), self, **others)
        self.engines.append(engine)
        await engine.open()
        return engine

    async def close(self) -> None:
        for engine in self.engines:
            await engine.close()


@pytest.fixture
async def turning_loop(tmp_path: Path) -> AsyncIterator[TurningLoop]:
    made = TurningLoop(tmp_path / "data")
    yield made
    await made.close()


@pytest.fixture
async def engine(turning_loop: TurningLoop) -> Engine:
    return await turning_loop.open()


async def start(engine: Engine, path: str = "w.yaml") -> str:
    answer = await engine.start({"root": "/tmp", "path": path})
    assert answer["ok"], answer
    return str(answer["runId"])


async def until(engine: Engine, run_id: str, kind: str, number: int | None = None) -> Answer:
    async def seen() -> Answer:
        async for _, event in engine.subscribe(0, run_id):
            if event["kind"] == kind and number in (None, event.get("iteration")):
                return event
        raise AssertionError(f"no {kind}")

    return await asyncio.wait_for(seen(), 60)


async def kinds(engine: Engine, run_id: str) -> list[str]:
    return [event["kind"] for event in (await engine.events(run_id))["events"]]


ENDS = ["completed", "failed", "cancelled"]


async def test_a_run_goes_from_its_start_to_its_end(engine: Engine) -> None:
    run_id = await start(engine)
    done = await until(engine, run_id, "completed")
    assert (done["reason"], done["totalIterations"], done["lastOutput"]) == ("condition_met", 5, "draft 5")
    state = (await engine.state(run_id))["state"]
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "condition_met", 5)
    assert state["exitCode"] == 0
    assert (await kinds(engine, run_id)) == ["run_started", *["iteration_started", "iteration"] * 5, "completed"]


async def test_numbers_have_no_gap_and_pages_lead_on(engine: Engine) -> None:
    run_id = await start(engine)
    await until(engine, run_id, "completed")
    found, after = [], 0
    while after is not None:
        answer = await engine.events(run_id, after, 5)
        found += [event["seq"] for event in answer["events"]]
        after = answer["next"]
    assert found == list(range(1, 13))
    everything = await engine.events(after=0)
    assert [event["position"] for event in everything["events"]] == list(range(1, 13))


async def test_a_refused_start_is_an_answer_and_leaves_nothing(engine: Engine) -> None:
    answer = await engine.start({"root": "/tmp", "path": "bad.yaml"})
    assert answer == {
        "ok": False,
        "code": "file_has_errors",
        "message": "bad.yaml has 1 error.",
        "hint": "",
        "findings": [],
    }
    assert (await engine.start({}))["code"] == "bad_argument"
    assert (await engine.runs())["runs"] == []


async def test_a_run_that_was_written_runs_even_if_nobody_waits_for_the_answer(engine: Engine) -> None:
    heard = engine.subscribe(0)
    asking = asyncio.create_task(engine.start({"root": "/tmp", "path": "w.yaml"}))
    while not engine._runs.live:
        await asyncio.sleep(0)
    asking.cancel()
    kinds = []
    async with asyncio.timeout(60):
        async for _, event in heard:
            kinds.append(event["kind"])
            if event["kind"] == "completed":
                break
    assert kinds[0] == "run_started"


async def test_ids_may_be_shortened_and_unknown_ones_are_refused(engine: Engine) -> None:
    run_id = await start(engine)
    assert (await engine.state(run_id[:4]))["state"]["runId"] == run_id
    for asked in ("zzzz", "", "../x", None):
        assert (await engine.state(asked))["code"] in ("not_found", "bad_argument")  # type: ignore[arg-type]


async def test_runs_are_listed_newest_first_and_filtered(engine: Engine, turning_loop: TurningLoop) -> None:
    first = await start(engine)
    await until(engine, first, "completed")
    turning_loop.turning = turning_loop.hold
    second = await start(engine, "other.yaml")
    await until(engine, second, "iteration_started", 3)
    assert [state["runId"] for state in (await engine.runs())["runs"]] == [second, first]
    assert [state["runId"] for state in (await engine.runs("completed"))["runs"]] == [first]
    assert [state["runId"] for state in (await engine.runs("active"))["runs"]] == [second]
    assert [state["runId"] for state in (await engine.runs(uri="file:///tmp/w.yaml"))["runs"]] == [first]
    assert len((await engine.runs(limit=1))["runs"]) == 1


async def test_a_stop_ends_the_run_at_once_and_says_who_wanted_it(engine: Engine, turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    answer = await engine.control("stop", run_id)
    assert answer == {"ok": True, "runs": [{"runId": run_id, "status": "stopping"}]}
    ended = await until(engine, run_id, "cancelled")
    assert (ended["cause"], ended["totalIterations"], ended["lastOutput"]) == ("user", 3, "draft 2")
    assert (await engine.control("stop", run_id))["runs"][0]["status"] == "cancelled"
    assert (await kinds(engine, run_id)).count("stopping") == 1


async def test_a_part_that_waits_outside_of_any_call_is_stopped_too(
    engine: Engine, turning_loop: TurningLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_commands, "PATIENCE", 0.05)

    async def run(plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        await recorder.record("k", [IterationStarted(iteration=3).fact()])
        await asyncio.sleep(3600)
        raise AssertionError

    monkeypatch.setattr(turning_loop, "run", run)
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    await engine.control("stop", run_id)
    assert (await until(engine, run_id, "cancelled"))["cause"] == "user"


async def test_a_pause_holds_after_the_current_call_and_resume_goes_on(
    engine: Engine, turning_loop: TurningLoop
) -> None:
    turning_loop.turning = turning_loop.hold
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    for _ in range(2):
        assert (await engine.control("pause", run_id))["runs"][0]["status"] == "paused"
    turning_loop.held.set()
    await until(engine, run_id, "iteration", 3)
    assert (await engine.state(run_id))["state"]["status"] == "paused"
    assert len(turning_loop.paid) == 3
    assert (await engine.control("resume", run_id))["runs"][0]["status"] == "running"
    await until(engine, run_id, "completed")
    found = await kinds(engine, run_id)
    assert (found.count("paused"), found.count("resumed")) == (1, 1)


async def test_commands_given_at_the_same_time_are_recorded_once(engine: Engine, turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    await asyncio.gather(*(engine.control("pause", run_id) for _ in range(10)))
    assert (await kinds(engine, run_id)).count("paused") == 1


@pytest.mark.parametrize("verb", ["stop", "pause"])
async def test_what_comes_in_the_moment_of_the_end_is_refused_and_leaves_no_fact_behind_it(
    engine: Engine, turning_loop: TurningLoop, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The verb is journalled before its turn comes: between the two the run has written its end."""
    turning_loop.turning = turning_loop.hold
    run_id = await start(engine)
    await until(engine, run_id, "iteration", 2)
    append, said = engine.journal.append, asyncio.Event()

    def slow(run: str, key: str | None = None, *args: Any, **details: Any) -> Any:
        if details.get("ongoing"):
            said.set()
            return asyncio.ensure_future(late(run, key, *args, **details))
        return append(run, key, *args, **details)

    async def late(*args: Any, **details: Any) -> Any:
        await until(engine, run_id, "completed")
        return await append(*args, **details)

    monkeypatch.setattr(engine.journal, "append", slow)
    asking = asyncio.create_task(engine.control(verb, run_id))
    everybody = asyncio.create_task(engine.control(verb, "all"))
    await said.wait()
    turning_loop.held.set()
    answer = await asyncio.wait_for(asking, 60)
    assert (answer["ok"], answer["code"]) == (False, "wrong_status"), answer
    assert await asyncio.wait_for(everybody, 60) == {"ok": True, "runs": []}
    assert (await kinds(engine, run_id))[-1] == "completed"


async def test_all_means_every_run_that_it_can_mean(engine: Engine, turning_loop: TurningLoop) -> None:
    done = await start(engine)
    await until(engine, done, "completed")
    turning_loop.turning = turning_loop.hold
    ids = [await start(engine) for _ in range(3)]
    for run_id in ids:
        await until(engine, run_id, "iteration_started", 3)
    stopped = await engine.control("stop", "all")
    assert {told["runId"] for told in stopped["runs"]} == set(ids)
    for run_id in ids:
        await until(engine, run_id, "cancelled")
    assert await engine.control("pause", "all") == {"ok": True, "runs": []}


async def test_what_makes_no_sense_is_refused_by_name(engine: Engine) -> None:
    run_id = await start(engine)
    await until(engine, run_id, "completed")
    for verb in ("pause", "resume", "stop"):
        assert (await engine.control(verb, run_id))["code"] == "wrong_status"
    assert (await engine.control("explode", run_id))["code"] == "bad_argument"
    assert (await engine.control("stop", "zzzz"))["code"] == "not_found"


@pytest.mark.parametrize(
    ("raised", "code"),
    [(Failure("no_result", "nothing came"), "no_result"), (ZeroDivisionError("oops"), "internal")],
)
async def test_a_run_that_fails_says_why(
    engine: Engine, turning_loop: TurningLoop, raised: Exception, code: str
) -> None:
    async def fails(turn: Turn) -> str:
        raise raised

    turning_loop.turning = fails
    run_id = await start(engine)
    failed = await until(engine, run_id, "failed")
    assert (failed["error"]["code"], failed["reason"], failed["iteration"]) == (code, "error", 1)
    state = (await engine.state(run_id))["state"]
    assert (state["status"], state["error"]["code"], state["exitCode"]) == ("failed", code, 4)


async def test_after_leaving_and_coming_back_a_run_goes_on_where_it_was(turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    await engine.close()
    turning_loop.held.set()
    again = await turning_loop.open()
    await until(again, run_id, "completed")
    assert turning_loop.paid == ["develop/1", "develop/2", "develop/3", "develop/3", "develop/4", "develop/5"]
    found = (await again.events(run_id))["events"]
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    recovered = next(event for event in found if event["kind"] == "recovered")
    assert (recovered["mayHavePaidTwice"], recovered["inFlight"]) == (True, ["develop/3:call"])
    assert [event["iteration"] for event in found if event["kind"] == "iteration"] == [1, 2, 3, 4, 5]


async def test_a_paused_run_comes_back_paused_and_paid_nothing_twice(turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    await engine.control("pause", run_id)
    turning_loop.held.set()
    await until(engine, run_id, "iteration", 3)
    await engine.close()
    again = await turning_loop.open()
    assert (await again.state(run_id))["state"]["status"] == "paused"
    recovered = await until(again, run_id, "recovered")
    assert recovered["mayHavePaidTwice"] is False
    await again.control("resume", run_id)
    await until(again, run_id, "completed")
    assert turning_loop.paid == [f"develop/{n}" for n in range(1, 6)]


async def test_a_run_that_was_being_stopped_ends_stopped(turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    engine._runs.live[run_id].control.leaving = True  # the engine dies between the wish and the end
    engine._runs.live[run_id].control.stop = lambda: None  # type: ignore[method-assign]
    await engine.control("stop", run_id, cause="teardown")
    await engine.close()
    again = await turning_loop.open()
    ended = await until(again, run_id, "cancelled")
    assert ended["cause"] == "teardown"
    assert turning_loop.paid == ["develop/1", "develop/2", "develop/3"]


async def test_calls_in_flight_end_before_an_engine_leaves_and_no_other_begins(turning_loop: TurningLoop) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    draining = asyncio.ensure_future(engine.drain(30, asyncio.Event()))
    await asyncio.sleep(0)
    assert engine.status["inFlight"] == 1
    turning_loop.held.set()
    await asyncio.wait_for(draining, 60)
    paid = list(turning_loop.paid)
    await turning_loop.close()
    turning_loop.turning = turning_loop.draft
    again = await turning_loop.open()
    await until(again, run_id, "completed")
    assert Counter(turning_loop.paid).most_common(1)[0][1] == 1, "a call was paid twice"
    assert paid == turning_loop.paid[: len(paid)]


@pytest.mark.parametrize("how", ["time", "word"])
async def test_a_call_that_does_not_end_is_cut_after_the_time_or_at_a_second_word(
    turning_loop: TurningLoop, how: str
) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    now = asyncio.Event()
    draining = asyncio.ensure_future(engine.drain(0.05 if how == "time" else 60, now))
    if how == "word":
        await asyncio.sleep(0)
        now.set()
    await asyncio.wait_for(draining, 60)
    assert engine.status["inFlight"] == 1
    await turning_loop.close()
    turning_loop.held.set()
    again = await turning_loop.open()
    await until(again, run_id, "completed")


async def test_a_journal_that_fails_for_good_ends_the_run_in_words_and_the_engine_lives(
    turning_loop: TurningLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "WRITE_AGAIN", 0.01)
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    write, full = engine.journal.storage.write, JournalRefused("io", "The disk fails.", "Check it.")

    def refuse(batch: Any) -> Any:
        raise full

    monkeypatch.setattr(engine.journal.storage, "write", refuse)
    heard = asyncio.ensure_future(anext(engine.subscribe(None, run_id)))
    await asyncio.sleep(0)
    turning_loop.held.set()
    _, told = await asyncio.wait_for(heard, 60)
    assert (told["kind"], told["error"]["code"], "seq" in told) == ("failed", "io", False)
    state = (await engine.state(run_id))["state"]
    assert (state["status"], state["error"]["message"]) == ("failed", "The disk fails.")
    assert (await engine.start({"root": "/tmp", "path": "w.yaml"}))["code"] == "engine_not_ready"
    monkeypatch.setattr(engine.journal.storage, "write", write)
    await until(engine, run_id, "failed")
    assert (await kinds(engine, run_id)).count("failed") == 1
    turning_loop.turning = turning_loop.draft
    await until(engine, await start(engine), "completed")


async def test_a_stop_is_obeyed_even_if_it_cannot_be_written(
    turning_loop: TurningLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    turning_loop.turning = turning_loop.hold
    engine = await turning_loop.open()
    run_id = await start(engine)
    await until(engine, run_id, "iteration_started", 3)
    task = engine._runs.live[run_id].task
    assert task is not None

    def refuse(batch: Any) -> Any:
        raise JournalRefused("read_only", "The data folder is not writable.")

    monkeypatch.setattr(engine.journal.storage, "write", refuse)
    await engine.control("stop", run_id)
    assert engine._runs.live[run_id].control.stopping
    await asyncio.sleep(0.01)
    assert engine._runs.live[run_id].control.calls == set()


async def test_an_engine_that_leaves_ends_its_subscriptions(turning_loop: TurningLoop) -> None:
    engine = await turning_loop.open()

    async def listen() -> list[str]:
        return [event["kind"] async for _, event in engine.subscribe(0)]

    listening = asyncio.create_task(listen())
    run_id = await start(engine)
    await until(engine, run_id, "completed")
    await engine.close()
    assert (await asyncio.wait_for(listening, 60))[-1] == "completed"


async def test_an_older_engine_does_not_touch_a_newer_journal(turning_loop: TurningLoop) -> None:
    turning_loop.folder.mkdir()
    storage = SqliteStorage(turning_loop.folder / "journal.db")
    storage._writer.execute("pragma user_version = 99")
    storage.close()
    with pytest.raises(JournalRefused) as refused:
        await turning_loop.open()
    assert refused.value.answer()["code"] == "engine_not_ready"
