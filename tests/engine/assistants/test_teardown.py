"""What happens to loops when the last socket of their user leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.assistants.disconnect_teardown import DisconnectTeardown, attended_runs, grace_of, tear_down
from loop_ls.engine.events import RunState
from loop_ls.testing.clock import VirtualLoop
from tests.engine.assistants.support.served import Client, ServedProject, serving
from tests.engine.stopping import until
from tests.processes.ended import gone


class GraceTime:
    """A grace time that is over when the test says so."""

    def __init__(self) -> None:
        self.begun, self.over, self.given_up = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.begun.set()
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self.given_up.set()
            raise


async def hanging(served: ServedProject, client: Client, **step: Any) -> dict[str, Any]:
    served.agent.say({"text": "x", "hang": True, **step})
    await client.send("loop:start", message="do it")
    return (await served.calls(1))[0]


async def ended(served: ServedProject) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while served.engine is None or served.engine.live:
            await asyncio.sleep(0.01)
    data = (await served.status()).json()["data"]
    return dict(data["lastState"]["outcome"])


async def goes_on(served: ServedProject) -> bool:
    for _ in range(20):  # whatever would end it has its turn
        await asyncio.sleep(0.002)
    return bool((await served.status()).json()["data"]["active"])


async def left(served: ServedProject, client: Client) -> None:
    """It has left, and the engine knows."""
    before = served.presence.listeners
    await client.io.disconnect()
    await until(lambda: served.presence.listeners < before)


@pytest.fixture
def grace() -> GraceTime:
    return GraceTime()


@pytest.fixture
async def brief(tmp_path: Path, grace: GraceTime) -> Any:
    """A project in which leaving counts after the grace time."""
    async with serving(tmp_path, 60.0, pause=grace) as served:
        await served.agree()
        yield served


async def test_AB_129_a_loop_ends_when_its_last_socket_stays_away(brief: ServedProject, grace: GraceTime) -> None:
    client = await brief.socket()
    call = await hanging(brief, client, child=True)
    await left(brief, client)
    await grace.begun.wait()
    assert await goes_on(brief)
    grace.over.set()
    assert (await ended(brief))["cause"] == "disconnect"
    await until(lambda: gone(call["pid"]) and gone(call["child"]))


@pytest.mark.parametrize("back", [False, True])
async def test_AB_129_an_engine_that_comes_back_waits_for_its_sockets_too(tmp_path: Path, back: bool) -> None:
    """The engine left within the grace time, and nobody came to the next one."""
    async with serving(tmp_path, 60.0, pause=GraceTime()) as served:
        await served.agree()
        await hanging(served, await served.socket())
    again = GraceTime()
    async with serving(tmp_path, 60.0, pause=again) as served:
        if back:
            await served.socket()
            assert await goes_on(served)
            return
        async with asyncio.timeout(60):
            await again.begun.wait()
        assert await goes_on(served)
        again.over.set()
        assert (await ended(served))["cause"] == "disconnect"


async def test_AB_130_one_of_two_sockets_may_leave(brief: ServedProject, grace: GraceTime) -> None:
    first, second = await brief.socket(), await brief.socket()
    await hanging(brief, first)
    grace.over.set()
    await left(brief, first)
    assert await goes_on(brief)
    assert second.io.connected
    assert not grace.begun.is_set()
    await left(brief, second)
    assert (await ended(brief))["cause"] == "disconnect"


async def test_AB_131_whoever_comes_back_in_time_changes_nothing(brief: ServedProject, grace: GraceTime) -> None:
    client = await brief.socket()
    await hanging(brief, client)
    await left(brief, client)
    await grace.begun.wait()
    back = await brief.socket()
    await grace.given_up.wait()
    assert await goes_on(brief)
    assert back.of("agent:status")[0] == {"agentId": "fixer", "status": "running"}


async def test_AB_132_where_teardown_is_off_a_loop_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, grace_of({"RONDOFLOW_TEARDOWN_ON_DISCONNECT": "0"})) as served:
        await served.agree()
        client = await served.socket()
        await hanging(served, client)
        await left(served, client)
        assert await goes_on(served)


def test_AB_133_only_0_switches_teardown_off() -> None:
    switch = "RONDOFLOW_TEARDOWN_ON_DISCONNECT"
    assert grace_of({switch: "0"}) is None
    assert [grace_of({switch: word}) for word in ("false", "", "1", "no")] == [60.0] * 4
    assert grace_of({}, on=False) is None
    assert grace_of({switch: "1"}, on=False) == 60.0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("abc", 60.0), ("-1", 60.0), ("", 60.0), ("0", 0.0), ("1500", 1.5), ("250ms", 0.25), (" 7 ", 0.007)],
)
def test_AB_134_the_grace_time_is_a_leading_number_from_0(written: str, seconds: float) -> None:
    assert grace_of({"RONDOFLOW_TEARDOWN_GRACE_MS": written}) == seconds


async def test_AB_134_a_grace_time_of_0_is_at_once() -> None:
    torn = asyncio.Event()

    async def teardown(user: str | None) -> None:
        torn.set()

    teardowns = DisconnectTeardown(teardown, 0.0)
    teardowns.came("anna")
    teardowns.left("anna")
    await asyncio.wait_for(torn.wait(), 60)
    await teardowns.aclose()


async def test_AB_135_an_open_question_is_rejected_by_the_teardown(brief: ServedProject, grace: GraceTime) -> None:
    grace.over.set()
    token = brief.token("anna", "editor")
    client = await brief.socket(token)
    brief.criterion("manual")
    await client.send("loop:start", message="do it")
    question = await client.level("action_required")
    await client.io.disconnect()
    assert (await ended(brief))["cause"] == "disconnect"
    late = await brief.post("approve", {"loopId": question["loopId"], "approved": True}, token)
    assert late.status_code == 400


async def test_AB_136_a_run_that_is_nobodys_goes_on(brief: ServedProject, grace: GraceTime) -> None:
    grace.over.set()
    client = await brief.socket()
    brief.agent.say({"text": "x", "hang": True})
    run_id = await brief.started(detach=True)
    await brief.calls(1)
    await left(brief, client)
    await grace.begun.wait()
    assert await goes_on(brief)
    grace.begun.clear()
    await left(brief, await brief.socket(brief.token("bert", "editor")))
    await grace.begun.wait()
    assert await goes_on(brief)
    assert (await brief.state(run_id))["status"] == "running"


def test_AB_136_only_loops_of_the_user_end_with_him() -> None:
    def run(name: str, user: str | None, **more: Any) -> RunState:
        return RunState(name, format="assistant", user=user)._replace(**more)

    live = [run("a", "anna"), run("b", "bert"), run("c", "anna", detach=True), run("d", "anna", format="workflow")]
    assert attended_runs(live, "anna") == ["a"]
    assert attended_runs(live, None) == []


async def test_AB_137_a_stop_that_raises_keeps_nobody_from_being_stopped() -> None:
    stopped = []

    async def stop(run_id: str) -> None:
        if run_id == "b":
            raise RuntimeError("no")
        stopped.append(run_id)

    await tear_down(["a", "b", "c"], stop)
    assert stopped == ["a", "c"]


def test_AB_138_a_stop_that_hangs_keeps_nobody_waiting() -> None:
    stopped, never = [], asyncio.Event()

    async def stop(run_id: str) -> None:
        if run_id == "a":
            await never.wait()
        stopped.append(run_id)

    async def tear_down_two() -> None:
        await tear_down(["a", "b"], stop, bound=3.0)
        assert asyncio.get_running_loop().time() == pytest.approx(3.0)
        await tear_down([], stop)

    on_a_clock_that_jumps(tear_down_two())
    assert stopped == ["b"]


def test_AB_139_an_engine_that_leaves_tears_nothing_down() -> None:
    torn = []

    async def teardown(user: str | None) -> None:
        torn.append(user)

    async def leave(closed: bool) -> None:
        teardowns = DisconnectTeardown(teardown, 0.0)
        teardowns.came("anna")
        if closed:
            await teardowns.aclose()
        teardowns.left("anna")
        await asyncio.sleep(60)

    on_a_clock_that_jumps(leave(closed=True))
    assert torn == []
    on_a_clock_that_jumps(leave(closed=False))
    assert torn == ["anna"]


def test_AB_131_the_grace_time_counts_from_the_last_leaving() -> None:
    torn = []

    async def teardown(user: str | None) -> None:
        torn.append(asyncio.get_running_loop().time())

    async def leave_twice() -> None:
        teardowns = DisconnectTeardown(teardown, 40.0)
        teardowns.came("anna")
        teardowns.left("anna")
        await asyncio.sleep(30)
        teardowns.came("anna")
        teardowns.left("anna")
        await asyncio.sleep(60)
        await teardowns.aclose()

    on_a_clock_that_jumps(leave_twice())
    assert torn == [pytest.approx(70)]


def on_a_clock_that_jumps(story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(story)
