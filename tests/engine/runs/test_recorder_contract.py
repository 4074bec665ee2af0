"""What every recorder promises, asked of both: the one over a real journal, and the one in memory that most tests
of the engine run on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import pytest

from loop_ls.contract.facts.kinds import ApprovalResolved, ManualApprovalRequired
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Approval, Failure, ModelFailure, Recorder, Stopped
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.journal import Journal, SqliteStorage
from loop_ls.engine.runs.journal_recorder import JournalRecorder
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.stopping import ends_stopped, until

PLACE = Place(workflow="w").element("draft")
ASKED = ManualApprovalRequired(iteration=1, output="v1", loop_id="draft")
YES = Approval(True, "approve", None)


class RecordedRun(Protocol):
    """A run whose engine can crash; `control` and `recorder` are those of its present engine."""

    recorder: Recorder

    @property
    def control(self) -> Control: ...

    def at(self, moment: float) -> None:
        """The clock stands at this moment from now on."""

    async def crash(self) -> None: ...

    async def decide(self, approval: Approval) -> None: ...

    async def tell(self, key: str, answer: Any) -> None: ...

    async def facts(self) -> list[tuple[str, dict[str, Any]]]: ...


class Journalled:
    """Over SQLite. What comes from outside is journalled first, as the service does it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open()

    def open(self) -> None:
        self.journal = Journal(SqliteStorage(self.folder / "journal.db"))
        self.control = Control()
        answered, _ = self.journal.storage.keys("r")
        self.recorder: Recorder = JournalRecorder("r", self.journal, self.control, answered)

    def at(self, moment: float) -> None:
        self.journal.clock = lambda: moment

    async def crash(self) -> None:
        await self.journal.close()
        self.open()

    async def decide(self, approval: Approval) -> None:
        resolved = ApprovalResolved(loop_id="draft", **asdict(approval)).fact(PLACE)
        await self.journal.append("r", PLACE.part("approval"), [resolved], {"value": asdict(approval)})
        self.control.decide(PLACE.key, approval)

    async def tell(self, key: str, answer: Any) -> None:
        await self.journal.append("r", key, (), {"value": answer})
        self.control.decide(key, answer)

    async def facts(self) -> list[tuple[str, dict[str, Any]]]:
        return [(event.kind, dict(event.body)) for event in (await self.journal.facts("r")).events]


class InMemory:
    def __init__(self) -> None:
        self.recorder: Any = MemoryRecorder("r")

    @property
    def control(self) -> Control:
        control: Control = self.recorder.control
        return control

    def at(self, moment: float) -> None:
        self.recorder.clock = lambda: moment

    async def crash(self) -> None:
        self.recorder = self.recorder.again()

    async def decide(self, approval: Approval) -> None:
        self.recorder.decide(approval.approved, approval.feedback, approval.decision)

    async def tell(self, key: str, answer: Any) -> None:
        self.recorder.tell(answer)

    async def facts(self) -> list[tuple[str, dict[str, Any]]]:
        return list(self.recorder.facts)


@pytest.fixture(params=["journal", "memory"])
async def run(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordedRun]:
    if request.param == "memory":
        yield InMemory()
        return
    made = Journalled(tmp_path)
    yield made
    await made.journal.close()


class Paid:
    """Work that counts how often it was done. An answer that is an exception is raised."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, answer: Any = "answer") -> Callable[[], Awaitable[Any]]:
        async def work() -> Any:
            self.times += 1
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return work


@pytest.fixture
def paid() -> Paid:
    return Paid()


async def endless() -> None:
    await asyncio.sleep(3600)


async def kinds(run: RecordedRun) -> list[str]:
    return [kind for kind, _ in await run.facts()]


def asking(run: RecordedRun, seconds: float | None = None) -> asyncio.Task[Any]:
    return asyncio.create_task(run.recorder.outside("q", [("asked", {})], seconds, "late"))


def approving(run: RecordedRun) -> asyncio.Task[Approval]:
    return asyncio.create_task(run.recorder.approval(PLACE, ASKED))


async def is_waiting(run: RecordedRun, kind: str) -> None:
    async with asyncio.timeout(60):
        while kind not in await kinds(run):
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)


# -- calls ------------------------------------------------------------------------------------------


async def test_WB_162_a_call_is_paid_once_and_its_facts_are_written_once(run: RecordedRun, paid: Paid) -> None:
    for _ in range(2):
        answer = await run.recorder.call(
            "k", paid("a"), lambda said: [("step_completed", {"output": said})], [("step_started", {})]
        )
        assert answer == "a"
    await run.crash()
    assert await run.recorder.call("k", paid()) == "a"
    assert paid.times == 1
    assert await run.facts() == [("step_started", {}), ("step_completed", {"output": "a"})]


async def test_WB_162_live_code_sees_the_answer_as_a_replay_will(run: RecordedRun, paid: Paid) -> None:
    live = await run.recorder.call("k", paid({1: ("a", "b\ud800"), "n": float("nan"), "zero": "\0"}))
    await run.crash()
    assert live == await run.recorder.call("k", paid())
    assert live["1"] == ["a", "b\ufffd"]
    assert live["zero"] == "\ufffd"


async def test_WB_162_facts_are_plain_too(run: RecordedRun) -> None:
    await run.recorder.record("k", [("warning", {"message": "b\ud800"})], {"x": "\ud800"})
    assert run.recorder.recall("k") == {"x": "\ufffd"}
    await run.crash()
    assert await run.facts() == [("warning", {"message": "b\ufffd"})]


@pytest.mark.parametrize(
    "failure",
    [
        ModelFailure("auth", "no", "look", "openai", "m", 1.5, {"status": 401}),
        Failure("no_result", "nothing", "x", "error", "p"),
    ],
)
async def test_WB_162_a_failed_call_fails_again_in_a_replay_without_being_paid(
    run: RecordedRun, paid: Paid, failure: ModelFailure | Failure
) -> None:
    with pytest.raises(type(failure)):
        await run.recorder.call("k", paid(failure))
    await run.crash()
    with pytest.raises(type(failure)) as again:
        await run.recorder.call("k", paid())
    assert asdict(again.value) == asdict(failure)
    assert paid.times == 1


async def test_WB_162_a_paid_answer_is_kept_even_if_its_facts_cannot_be_made(run: RecordedRun, paid: Paid) -> None:
    with pytest.raises(ZeroDivisionError):
        await run.recorder.call("k", paid(), lambda said: [("x", {"n": 1 // 0})])
    await run.crash()
    assert await run.recorder.call("k", paid()) == "answer"
    assert paid.times == 1


async def test_WB_162_a_call_in_flight_at_a_crash_is_done_again_and_begins_once(run: RecordedRun, paid: Paid) -> None:
    run.control.leaving = True
    task = asyncio.create_task(run.recorder.call("k", endless, before=[("step_started", {})]))
    await until(lambda: run.control.calls)
    task.cancel()
    await asyncio.wait({task})
    await run.crash()
    assert await run.recorder.call("k", paid(), before=[("step_started", {})]) == "answer"
    assert await kinds(run) == ["step_started"]


async def test_WB_162_a_call_that_a_time_limit_ended_is_not_done_again(run: RecordedRun, paid: Paid) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run.recorder.call("k", endless)
    await run.crash()
    with pytest.raises(Failure) as failure:
        await run.recorder.call("k", paid())
    assert failure.value.reason == "timeout"
    assert paid.times == 0


async def test_WB_162_parallel_branches_get_their_own_answers_back_in_any_order(run: RecordedRun, paid: Paid) -> None:
    async def branch(name: str, delay: float) -> str:
        async def work() -> str:
            await paid()()
            await asyncio.sleep(delay)
            return name

        return "".join([str(await run.recorder.call(f"{name}/{n}", work)) for n in range(3)])

    live = await asyncio.gather(branch("a", 0.002), branch("b", 0.001))
    await run.crash()
    replayed = await asyncio.gather(branch("b", 0), branch("a", 0))
    assert list(reversed(replayed)) == live == ["aaa", "bbb"]
    assert paid.times == 6


async def test_WB_162_records_are_there_once_and_can_be_recalled_at_once_and_later(run: RecordedRun) -> None:
    await run.recorder.record("k", [("x", {})], answer={"n": 1})
    await run.recorder.record("k", [("x", {})], answer={"n": 2})
    assert run.recorder.recall("k") == {"n": 1}
    await run.crash()
    await run.recorder.record("k", [("x", {})], answer={"n": 3})
    assert run.recorder.recall("k") == {"n": 1}
    assert run.recorder.recall("none") is None
    assert await kinds(run) == ["x"]


# -- a stop -----------------------------------------------------------------------------------------


async def test_UP_57_a_stop_ends_the_call_in_flight_and_nothing_new_begins(run: RecordedRun, paid: Paid) -> None:
    task = asyncio.create_task(run.recorder.call("k", endless))
    await until(lambda: run.control.calls)
    run.control.stop()
    await ends_stopped(task)
    assert not run.control.calls
    with pytest.raises(Stopped):
        await run.recorder.call("k2", paid())
    assert paid.times == 0


async def test_UP_57_a_stop_ends_a_wait(run: RecordedRun) -> None:
    task = asyncio.create_task(run.recorder.sleep("k", 3600))
    await until(lambda: run.recorder.recall("k"))
    await asyncio.sleep(0.01)
    assert not task.done()
    run.control.stop()
    await ends_stopped(task)


async def test_UP_57_a_stop_ends_the_waiting_for_a_person(run: RecordedRun) -> None:
    task = approving(run)
    await is_waiting(run, "manual_approval_required")
    assert not task.done()
    run.control.stop()
    await ends_stopped(task)


@pytest.mark.parametrize("seconds", [None, 3600.0])
async def test_UP_57_a_stop_ends_the_waiting_for_an_editor(run: RecordedRun, seconds: float | None) -> None:
    task = asking(run, seconds)
    await is_waiting(run, "asked")
    assert not task.done()
    run.control.stop()
    await ends_stopped(task)


async def test_UP_57_a_stop_wakes_what_is_paused(run: RecordedRun) -> None:
    run.control.pause()
    task = asyncio.create_task(run.recorder.gate())
    await asyncio.sleep(0.01)
    assert not task.done()
    run.control.stop()
    await ends_stopped(task)


async def test_UP_57_a_second_stop_does_not_disturb_the_call_that_cleans_up(run: RecordedRun) -> None:
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await endless()
        finally:
            await asyncio.sleep(0.01)
            cleaned.set()

    task = asyncio.create_task(run.recorder.call("k", work))
    await until(lambda: run.control.calls)
    run.control.stop()
    await asyncio.sleep(0)
    run.control.stop()
    await ends_stopped(task)
    assert cleaned.is_set()


async def test_UP_57_what_an_answer_cost_is_kept_though_it_came_after_the_stop(run: RecordedRun) -> None:
    async def stubborn() -> str:
        try:
            await endless()
        except asyncio.CancelledError:
            return "too late"
        return ""

    def facts(said: Any) -> list[tuple[str, dict[str, Any]]]:
        return [("call", {"usd": 1}), ("step_completed", {"output": said})]

    task = asyncio.create_task(run.recorder.call("k", stubborn, facts))
    await until(lambda: run.control.calls)
    run.control.stop()
    await ends_stopped(task)
    await run.crash()
    assert await run.facts() == [("call", {"usd": 1, "discarded": True})]


async def test_UP_57_a_stopped_run_is_asked_nothing(run: RecordedRun) -> None:
    run.control.stop()
    for task in (approving(run), asking(run)):
        await ends_stopped(task)
    assert await kinds(run) == []


# -- a pause ----------------------------------------------------------------------------------------


async def test_WB_166_a_pause_lets_the_call_finish_and_holds_the_next(run: RecordedRun, paid: Paid) -> None:
    go = asyncio.Event()

    async def work() -> str:
        await go.wait()
        return "first"

    first = asyncio.create_task(run.recorder.call("a", work))
    await until(lambda: run.control.calls)
    run.control.pause()
    go.set()
    assert await first == "first"
    second = asyncio.create_task(run.recorder.call("b", paid()))
    await asyncio.sleep(0.02)
    assert paid.times == 0
    run.control.resume()
    assert await second == "answer"


async def test_WB_166_a_pause_waits_for_the_end_of_what_belongs_together(run: RecordedRun, paid: Paid) -> None:
    with run.recorder.undivided():
        run.control.pause()
        assert await run.recorder.call("a", paid()) == "answer"
        await run.recorder.gate()
    task = asyncio.create_task(run.recorder.gate())
    await asyncio.sleep(0.01)
    assert not task.done()
    run.control.resume()
    await task


async def test_UP_57_a_stop_does_not_wait_for_what_belongs_together(run: RecordedRun, paid: Paid) -> None:
    with run.recorder.undivided():
        run.control.stop()
        with pytest.raises(Stopped):
            await run.recorder.call("a", paid())
    assert paid.times == 0


async def test_WB_166_no_question_is_asked_during_a_pause(run: RecordedRun) -> None:
    run.control.pause()
    tasks = [approving(run), asking(run)]
    await asyncio.sleep(0.02)
    assert await kinds(run) == []
    run.control.resume()
    await is_waiting(run, "manual_approval_required")
    await is_waiting(run, "asked")
    run.control.stop()
    for task in tasks:
        await ends_stopped(task)


async def test_WB_166_the_time_of_a_pause_is_not_time_of_the_run(run: RecordedRun) -> None:
    run.control.pause()
    before = run.recorder.active()
    await asyncio.sleep(0.01)
    assert run.recorder.active() == before
    run.control.resume()
    await asyncio.sleep(0.01)
    assert run.recorder.active() > before


async def test_WB_166_a_hold_is_once_and_the_next_gate_waits_for_a_person(run: RecordedRun) -> None:
    await run.recorder.hold("k", "stalled")
    task = asyncio.create_task(run.recorder.gate())
    await asyncio.sleep(0.01)
    assert not task.done()
    run.control.resume()
    await task
    await run.recorder.hold("k", "stalled")
    await run.recorder.gate()
    assert await kinds(run) == ["paused"]


# -- people and editors --------------------------------------------------------------------------------


async def test_UP_68_a_person_is_asked_once_and_the_answer_stays(run: RecordedRun) -> None:
    task = approving(run)
    await is_waiting(run, "manual_approval_required")
    await run.decide(YES)
    assert await task == YES
    await run.crash()
    assert await approving(run) == YES
    assert await kinds(run) == ["manual_approval_required", "approval_resolved"]


async def test_UP_68_after_a_crash_the_same_question_is_open(run: RecordedRun) -> None:
    task = approving(run)
    await is_waiting(run, "manual_approval_required")
    run.control.leaving = True
    task.cancel()
    await asyncio.wait({task})
    await run.crash()
    task = approving(run)
    await asyncio.sleep(0.02)
    assert not task.done()
    await run.decide(YES)
    assert await task == YES
    assert await kinds(run) == ["manual_approval_required", "approval_resolved"]


async def test_EB_064_an_editor_is_asked_once_and_its_answer_stays(run: RecordedRun) -> None:
    task = asking(run, 3600)
    await is_waiting(run, "asked")
    await run.tell("q", {"outcome": "applied"})
    assert await task == {"outcome": "applied"}
    await run.crash()
    assert await asking(run) == {"outcome": "applied"}
    assert await kinds(run) == ["asked"]


async def test_EB_064_an_answer_that_comes_too_late_changes_nothing(run: RecordedRun) -> None:
    assert await asking(run, 0.01) == "late"
    await run.tell("q", "in time")
    assert await asking(run) == "late"
    await run.crash()
    assert await asking(run) == "late"


# -- time -------------------------------------------------------------------------------------------


async def test_WB_162_the_clock_is_read_once(run: RecordedRun) -> None:
    run.at(1000.0)
    assert await run.recorder.now("k") == 1000.0
    run.at(2000.0)
    assert await run.recorder.now("k") == 1000.0
    await run.crash()
    assert await run.recorder.now("k") == 1000.0


@pytest.mark.parametrize(("gone", "over"), [(3601.0, True), (3500.0, False)])
async def test_WB_162_after_a_restart_only_the_rest_of_a_wait_is_waited(
    run: RecordedRun, gone: float, over: bool
) -> None:
    run.at(1000.0)
    task = asyncio.create_task(run.recorder.sleep("k", 3600))
    await until(lambda: run.recorder.recall("k"))
    task.cancel()
    await asyncio.wait({task})
    await run.crash()
    run.at(1000.0 + gone)
    task = asyncio.create_task(run.recorder.sleep("k", 3600))
    await asyncio.wait({task}, timeout=60 if over else 0.05)
    assert task.done() is over
    task.cancel()


async def test_WB_162_a_clock_that_was_set_back_does_not_make_a_wait_longer(run: RecordedRun) -> None:
    run.at(1_000_000.0)
    await run.recorder.now("k")
    run.at(0.0)
    task = asyncio.create_task(run.recorder.sleep("k", 0.01))
    done, _ = await asyncio.wait({task}, timeout=60)
    assert done


async def test_notes_are_taken_once_and_belong_to_the_place_that_took_them(run: RecordedRun) -> None:
    there = Place(workflow="w").element("other")
    run.control.notes = ("first", "second")
    assert await run.recorder.notes(PLACE, "ask") == ("first", "second")
    assert await run.recorder.notes(there, "ask") == ()
    assert await run.recorder.notes(PLACE, "ask.2") == ("first", "second"), "whoever tries again is told the same"
    await run.crash()
    assert ("note_given", 2) in [(kind, body.get("notes")) for kind, body in await run.facts()]
    assert await run.recorder.notes(PLACE, "ask") == ("first", "second")


async def test_a_call_that_was_answered_takes_no_note(run: RecordedRun, paid: Paid) -> None:
    await run.recorder.call("ask", paid("answer"))
    run.control.notes = ("late",)
    assert await run.recorder.notes(PLACE, "ask") == ()
    assert run.control.notes == ("late",)
