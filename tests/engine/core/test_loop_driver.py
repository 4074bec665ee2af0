"""The loop machine with parts made of nothing: no database, network, clock or process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.ports import Failure, ModelFailure, Recorder
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.stopping import ends_stopped

FAIL = object()
Said = str | object


@dataclass
class Loop:
    """A loop whose body says `outputs` and whose judge says `verdicts`; the last one stays."""

    outputs: Sequence[Said] = ("draft",)
    verdicts: Sequence[str] = ("no",)
    limits: Limits = field(default_factory=lambda: Limits(5))
    paid: list[str] = field(default_factory=list)
    judged: list[tuple[int, str, list[str]]] = field(default_factory=list)
    history: History = field(default_factory=History)
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    on_turn: Callable[[Turn], None] = lambda turn: None

    async def run(self, turn: Turn) -> str:
        async def work() -> str:
            self.paid.append(turn.place.key)
            said = self.outputs[min(len(self.paid), len(self.outputs)) - 1]
            if said is FAIL:
                raise ModelFailure("server", "out of order")
            return str(said)

        self.on_turn(turn)
        return str(await self.recorder.call(turn.place.part("call"), work))

    async def judge(self, turn: Turn, output: str) -> Verdict:
        async def work() -> str:
            self.paid.append(turn.place.part("judge"))
            return self.verdicts[min(turn.number, len(self.verdicts)) - 1]

        self.judged.append((turn.number, output, list(self.history.outputs)))
        said = await self.recorder.call(turn.place.part("judge"), work)
        return Verdict("yes", "condition_met") if said == "yes" else Verdict("no")

    async def drive(self, recorder: Recorder | None = None) -> Outcome:
        place = Place(workflow="w", file="w.yaml").element("develop")
        return await drive(
            LoopParts("develop", place, self, self.history, self.limits, self), recorder or self.recorder
        )

    def again(self) -> Loop:
        """The same loop after a crash."""
        return Loop(self.outputs, self.verdicts, self.limits, recorder=self.recorder.again())

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.recorder.facts]


async def test_WB_068_a_yes_ends_the_loop_at_once() -> None:
    loop = Loop(["a", "x", "b"], ["no", "yes"])
    assert await loop.drive() == Outcome("condition_met", "b", 2)
    assert loop.judged == [(1, "a", ["a"]), (2, "b", ["a", "b"])]


async def test_WB_069_the_limit_ends_it_with_the_last_output() -> None:
    loop = Loop(["a"], limits=Limits(3))
    assert await loop.drive() == Outcome("max_iterations", "a", 3)
    assert len(loop.judged) == 3


async def test_WB_070_a_yes_after_the_last_iteration_is_no_limit() -> None:
    assert (await Loop(verdicts=["no", "no", "yes"], limits=Limits(3)).drive()).reason == "condition_met"


async def test_WB_071_one_iteration_means_one_question() -> None:
    loop = Loop(limits=Limits(1))
    await loop.drive()
    assert loop.paid == ["develop/1", "develop/1:judge"]


async def test_WB_067_facts_come_in_the_order_of_the_work() -> None:
    loop = Loop(["a", "b"], ["yes"])
    await loop.drive()
    assert loop.kinds() == ["iteration_started", "iteration"]
    started, done = (body for _, body in loop.recorder.facts)
    assert started == {
        "place": "develop/1",
        "workflow": "w",
        "file": "w.yaml",
        "loop": "develop",
        "iteration": 1,
        "maxIterations": 5,
        "attempt": 1,
    }
    assert done["output"] == "a"


async def test_WB_078_a_failure_under_halt_ends_the_loop_and_keeps_what_there_is() -> None:
    loop = Loop(["a", "x", FAIL])
    outcome = await loop.drive()
    assert (outcome.reason, outcome.output, outcome.iterations) == ("error", "a", 2)
    assert outcome.failure is not None
    assert outcome.failure.code == "server"
    assert loop.kinds()[-1] == "iteration_failed"


async def test_WB_079_nothing_written_means_halt() -> None:
    assert (await Loop([FAIL], limits=Limits(3)).drive()).iterations == 1


async def test_WB_080_under_continue_the_number_is_used_up_and_nobody_judges() -> None:
    loop = Loop(["a", "x", FAIL, "c"], limits=Limits(3, "continue"))
    assert await loop.drive() == Outcome("max_iterations", "c", 3)
    assert [number for number, _, _ in loop.judged] == [1, 3]
    assert loop.history.outputs == ["a", "c"]


async def test_WB_081_nothing_but_failures_under_continue_ends_at_the_limit() -> None:
    assert await Loop([FAIL], limits=Limits(3, "continue")).drive() == Outcome("max_iterations", "", 3)


async def test_WB_082_a_retry_uses_up_no_number() -> None:
    loop = Loop(["a", "x", FAIL, "b"], ["no", "yes"], Limits(2, "retry"))
    assert await loop.drive() == Outcome("condition_met", "b", 2)
    assert loop.paid == ["develop/1", "develop/1:judge", "develop/2", "develop/2.2", "develop/2.2:judge"]
    assert loop.recorder.of("retrying")[0]["attempt"] == 2


async def test_WB_083_retries_used_up_halt() -> None:
    loop = Loop([FAIL], limits=Limits(5, "retry"))
    assert (await loop.drive()).reason == "error"
    assert len(loop.paid) == 4
    fewer = Loop([FAIL], limits=Limits(5, "retry", max_retries=1))
    await fewer.drive()
    assert len(fewer.paid) == 2


async def test_WB_084_time_lies_between_tries() -> None:
    loop = Loop([FAIL, "a"], ["yes"], Limits(5, "retry", retry_delay=0.01))
    await loop.drive()
    assert loop.recorder.slept == [0.01]


async def test_WB_084_a_stop_ends_the_wait_at_once() -> None:
    loop = Loop([FAIL], limits=Limits(5, "retry", retry_delay=3600))
    task = asyncio.create_task(loop.drive())
    while not loop.recorder.slept:
        await asyncio.sleep(0)
    loop.recorder.stop()
    await ends_stopped(task)


async def test_WB_085_every_iteration_has_its_full_number_of_retries() -> None:
    loop = Loop([FAIL, FAIL, "a", "x", FAIL, FAIL, "b"], ["no", "yes"], Limits(5, "retry", max_retries=2))
    assert (await loop.drive()).reason == "condition_met"


async def test_WB_076_an_iteration_over_time_has_failed() -> None:
    loop = Loop(limits=Limits(2, per_iteration=0.02))
    loop.run = lambda turn: asyncio.sleep(3600, "late")  # type: ignore[method-assign]
    outcome = await loop.drive()
    assert outcome.reason == "error"
    assert outcome.failure is not None
    assert outcome.failure.message == "iteration 1 of `develop` ran longer than 0.02 s"


async def test_WB_076_a_loop_over_time_ends_with_timeout() -> None:
    loop = Loop(limits=Limits(5, "continue", per_iteration=0.02, total=0.05))
    loop.run = lambda turn: asyncio.sleep(3600, "late")  # type: ignore[method-assign]
    outcome = await asyncio.wait_for(loop.drive(), 60)
    assert outcome.reason == "timeout"
    assert outcome.failure is not None
    assert outcome.failure.reason == "timeout"


async def test_WB_076_a_total_time_that_was_used_up_before_a_restart_stays_used_up() -> None:
    loop = Loop(limits=Limits(5, total=10.0))
    await loop.recorder.record("develop:began", answer=loop.recorder.active() - 11)
    assert (await loop.drive()).reason == "timeout"
    assert loop.paid == []


async def test_WB_166_a_pause_holds_the_next_call() -> None:
    loop = Loop(["a"], limits=Limits(3))
    loop.on_turn = lambda turn: loop.recorder.pause() if turn.number == 2 else None
    task = asyncio.create_task(loop.drive())
    for _ in range(50):
        await asyncio.sleep(0)
    assert loop.paid == ["develop/1", "develop/1:judge"]
    loop.recorder.resume()
    assert (await task).iterations == 3


async def test_WB_162_a_replay_of_an_ended_loop_pays_nothing_and_says_the_same() -> None:
    loop = Loop(["a", "x", FAIL, "b", "x", "c"], ["no", "no", "yes"], Limits(5, "retry"))
    first = await loop.drive()
    again = loop.again()
    assert await again.drive() == first
    assert again.paid == []
    assert again.recorder.facts == loop.recorder.facts
    assert again.history.outputs == loop.history.outputs


@pytest.mark.parametrize("crash_at", range(1, 9))
async def test_WB_162_after_a_crash_at_any_call_only_that_call_is_paid_again(crash_at: int) -> None:
    """Iterations 1 to 4 with a failure in 2: seven calls, and one after the end."""
    outputs = ["a", "x", FAIL, "b", "x", "c", "x"]
    loop = Loop(outputs, ["no", "no", "yes"], Limits(5, "retry"))

    class Crash(BaseException):
        pass

    def crash(key: str) -> None:
        if len(loop.paid) >= crash_at:
            raise Crash

    loop.on_turn = lambda turn: crash(turn.place.key)
    try:
        first = await loop.drive()
    except Crash:
        again = loop.again()
        again.paid = list(loop.paid)  # the script goes on where it was
        outcome = await again.drive()
        assert again.paid == list(dict.fromkeys(again.paid))
        first = outcome
        loop = again
    assert first == Outcome("condition_met", "c", 3)
    assert [kind for kind in loop.kinds() if kind == "iteration"] == ["iteration"] * 3


async def test_WB_108_the_reason_of_an_inner_loop_is_not_the_reason_of_the_outer_one() -> None:
    loop = Loop(limits=Limits(1))

    async def fails(turn: Turn) -> str:
        raise Failure("timeout", "the inner loop took too long", reason="timeout", place="inner")

    loop.run = fails  # type: ignore[method-assign]
    outcome = await loop.drive()
    assert outcome.reason == "error"
    assert outcome.failure is not None
    assert outcome.failure.place == "inner"


async def test_a_fault_in_a_part_is_no_failed_iteration() -> None:
    loop = Loop(limits=Limits(3, "continue"))

    async def broken(turn: Turn) -> str:
        raise ZeroDivisionError

    loop.run = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        await loop.drive()


async def test_AB_011_without_a_judge_the_loop_only_counts() -> None:
    loop = Loop(["a"], limits=Limits(2))
    parts = LoopParts("develop", Place().element("develop"), loop, loop.history, loop.limits)
    assert await drive(parts, loop.recorder) == Outcome("max_iterations", "a", 2)
