"""A run that asks a person: one answer counts, whoever gives it, and no crash loses question or answer."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loop_ls.engine.core.ports import Approval
from loop_ls.engine.core.run_gate import Control
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.control.support import asking
from tests.engine.control.support.asking import Asks
from tests.engine.control.support.words import Opened, started, status, until

CHILD = Path(asking.__file__)


@pytest.fixture
def asks(tmp_path: Path) -> Asks:
    return Asks(tmp_path)


async def test_UP_83_a_run_waits_for_a_person_and_takes_the_decision_with_its_feedback(
    asks: Asks, opened: Opened
) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    asked = await until(engine, "manual_approval_required")
    assert (asked["loopId"], asked["iteration"], asked["output"]) == ("develop", 1, "draft")
    state = (await engine.state(run_id))["state"]
    assert state["status"] == "waiting_approval"
    assert state["pendingApproval"]["loopId"] == "develop"
    answer = await engine.approve(run_id, "develop", True, feedback="well done")
    assert answer["ok"]
    assert answer["resolved"]["decision"] == "approve"
    done = await until(engine, "completed")
    assert (done["reason"], done["finalOutput"]) == ("approved", "well done")


async def test_of_many_answers_at_once_one_counts_and_the_others_hear_so(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    answers = await asyncio.gather(*(engine.approve(run_id, None, n % 2 == 0) for n in range(8)))
    assert [answer["ok"] for answer in answers].count(True) == 1
    assert {answer.get("code") for answer in answers if not answer["ok"]} == {"wrong_status"}
    await until(engine, "completed" if answers[0]["ok"] else "failed")
    kinds = [event["kind"] for event in (await engine.events(run_id))["events"]]
    assert kinds.count("approval_resolved") == 1


async def test_a_decision_is_a_word_or_a_truth_and_never_both_against_each_other(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    for wrong in ((None, None, None), ("yes", None, None), (True, "reject", None), (None, "maybe", None)):
        assert (await engine.approve(run_id, None, *wrong))["code"] == "bad_argument"
    assert (await engine.approve(run_id, "other", True))["code"] == "wrong_status"
    assert (await engine.approve("zzzz", None, True))["code"] == "not_found"
    assert (await engine.approve(run_id, None, None, "revise", "once more"))["resolved"]["approved"] is False


async def test_a_run_that_asks_twice_at_once_wants_to_hear_which_is_meant(tmp_path: Path, opened: Opened) -> None:
    asks = Asks(tmp_path, ("first", "second"))
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required", number=2)
    state = (await engine.state(run_id))["state"]
    assert [each["loopId"] for each in state["pendingApprovals"]] == ["first", "second"]
    assert (await engine.approve(run_id, None, True))["code"] == "bad_argument"
    assert (await engine.approve(run_id, "second", True))["ok"]
    assert await status(engine, run_id) == "waiting_approval"
    assert (await engine.approve(run_id, None, True))["resolved"]["loopId"] == "first"
    assert (await until(engine, "completed"))["reason"] == "approved"


async def test_no_time_passes_for_a_run_while_it_waits_for_a_person() -> None:
    moments = [0.0]
    control = Control(clock=lambda: moments[0])
    moments[0] = 2.0
    waiting = asyncio.create_task(control.decided("develop/1"))
    await asyncio.sleep(0)
    moments[0] = 90.0
    assert control.active() == 2.0
    control.decide("develop/1", Approval(True, "approve"))
    await waiting
    moments[0] = 91.0
    assert control.active() == 3.0


async def test_a_stop_ends_a_run_that_waits_and_nothing_is_left_to_answer(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    assert (await engine.control("stop", run_id))["ok"]
    await until(engine, "cancelled")
    assert "pendingApproval" not in (await engine.state(run_id))["state"]
    assert (await engine.approve(run_id, None, True))["code"] == "wrong_status"


async def test_a_paused_run_takes_the_answer_and_goes_on_when_it_is_resumed(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    await engine.control("pause", run_id)
    assert await status(engine, run_id) == "paused"
    assert (await engine.approve(run_id, None, True))["ok"]
    assert await status(engine, run_id) == "paused"
    await engine.control("resume", run_id)
    await until(engine, "completed")


async def test_a_run_that_is_resumed_before_the_answer_waits_again(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    await engine.control("pause", run_id)
    await engine.control("resume", run_id)
    assert await status(engine, run_id) == "waiting_approval"
    await engine.approve(run_id, None, True)
    await until(engine, "completed")


async def test_a_question_survives_that_the_engine_is_killed(asks: Asks, opened: Opened, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, str(CHILD), str(tmp_path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        run_id = child.stdout.readline().strip()
        child.send_signal(signal.SIGKILL)
    engine = await opened(asks.engine())
    assert await status(engine, run_id) == "waiting_approval"
    assert (await engine.approve(run_id, "develop", False, "reject", "not like this"))["ok"]
    done = await until(engine, "failed", run_id)
    assert done["reason"] == "rejected"
    events = (await engine.events(run_id))["events"]
    kinds = [event["kind"] for event in events]
    assert kinds.count("manual_approval_required") == kinds.count("approval_resolved") == 1
    recovered = next(event for event in events if event["kind"] == "recovered")
    assert recovered["mayHavePaidTwice"] is False
    assert (tmp_path / "paid.log").read_text() == "paid\n"


async def test_an_answer_survives_though_the_run_never_heard_it(asks: Asks, opened: Opened) -> None:
    engine = await opened(asks.engine())
    run_id = await started(engine)
    await until(engine, "manual_approval_required")
    await engine.control("pause", run_id)
    await engine.approve(run_id, None, True, feedback="later")
    await engine.close()
    again = await opened(asks.engine())
    await again.control("resume", run_id)
    assert (await until(again, "completed", run_id))["finalOutput"] == "later"


async def test_the_recorder_for_tests_keeps_the_same_promise(asks: Asks) -> None:
    recorder = MemoryRecorder()
    recorder.decide(False, "shorter", "revise")
    outcome = await asks.run(None, recorder, None)  # type: ignore[arg-type]
    assert outcome.output == "shorter"
    again = recorder.again()
    assert (await asks.run(None, again, None)).output == "shorter"  # type: ignore[arg-type]
    assert len(again.of("approval_resolved")) == 1
