"""What happens to loops when the last socket of their user leaves."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.assistants.disconnect_teardown import DisconnectTeardown, attended_runs, grace_of, tear_down
from loop_ls.engine.events import RunState
from tests.engine.assistants.support.served import Client, ServedProject, serving
from tests.engine.runners.support.agents import gone

GRACE = 0.4


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


async def goes_on(served: ServedProject, seconds: float = 3 * GRACE) -> bool:
    await asyncio.sleep(seconds)
    return bool((await served.status()).json()["data"]["active"])


@pytest.fixture
async def brief(tmp_path: Path) -> Any:
    """A house in which leaving counts after a moment."""
    async with serving(tmp_path, GRACE) as served:
        await served.agree()
        yield served


async def test_AB_129_a_loop_ends_when_its_last_socket_stays_away(brief: ServedProject) -> None:
    client = await brief.socket()
    call = await hanging(brief, client, child=True)
    began = time.monotonic()
    await client.io.disconnect()
    assert (await ended(brief))["cause"] == "disconnect"
    assert time.monotonic() - began >= GRACE
    async with asyncio.timeout(60):
        while not (gone(call["pid"]) and gone(call["child"])):
            await asyncio.sleep(0.005)


async def test_AB_130_one_of_two_sockets_may_leave(brief: ServedProject) -> None:
    first, second = await brief.socket(), await brief.socket()
    await hanging(brief, first)
    await first.io.disconnect()
    assert await goes_on(brief)
    assert second.io.connected


async def test_AB_131_whoever_comes_back_in_time_changes_nothing(tmp_path: Path) -> None:
    for grace in (GRACE, 4 * GRACE, 60 * GRACE):  # a busy machine may take longer than the first to come back
        folder = tmp_path / str(grace)
        folder.mkdir()
        async with serving(folder, grace) as served:
            await served.agree()
            client = await served.socket()
            await hanging(served, client)
            left = time.monotonic()
            await client.io.disconnect()
            back = await served.socket()
            if time.monotonic() - left < grace:
                assert await goes_on(served, 1.5 * grace)
                assert back.of("agent:status")[0] == {"agentId": "fixer", "status": "running"}
                return
    raise AssertionError("nobody came back in time")


async def test_AB_132_where_teardown_is_off_a_loop_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, grace_of({"RONDOFLOW_TEARDOWN_ON_DISCONNECT": "0"})) as served:
        await served.agree()
        client = await served.socket()
        await hanging(served, client)
        await client.io.disconnect()
        assert await goes_on(served, 0.5)


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


async def test_AB_135_an_open_question_is_rejected_by_the_teardown(brief: ServedProject) -> None:
    token = brief.token("anna", "editor")
    client = await brief.socket(token)
    brief.criterion("manual")
    await client.send("loop:start", message="do it")
    question = await client.level("action_required")
    await client.io.disconnect()
    assert (await ended(brief))["cause"] == "disconnect"
    late = await brief.post("approve", {"loopId": question["loopId"], "approved": True}, token)
    assert late.status_code == 400


async def test_AB_136_a_run_that_is_nobodys_goes_on(brief: ServedProject) -> None:
    client = await brief.socket()
    brief.agent.say({"text": "x", "hang": True})
    run_id = await brief.started(detach=True)
    await brief.calls(1)
    await client.io.disconnect()
    assert await goes_on(brief)
    other = await brief.socket(brief.token("bert", "editor"))
    await other.io.disconnect()
    assert await goes_on(brief)
    assert (await brief.state(run_id))["status"] == "running"


def test_only_loops_of_the_user_end_with_him() -> None:
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


async def test_AB_138_a_stop_that_hangs_keeps_nobody_waiting() -> None:
    stopped, never = [], asyncio.Event()

    async def stop(run_id: str) -> None:
        if run_id == "a":
            await never.wait()
        stopped.append(run_id)

    began = time.monotonic()
    await tear_down(["a", "b"], stop, bound=0.2)
    assert time.monotonic() - began >= 0.15
    assert stopped == ["b"]
    await tear_down([], stop)


async def test_an_engine_that_leaves_tears_nothing_down() -> None:
    torn = []

    async def teardown(user: str | None) -> None:
        torn.append(user)

    teardowns = DisconnectTeardown(teardown, 0.0)
    teardowns.came("anna")
    await teardowns.aclose()
    teardowns.left("anna")
    await asyncio.sleep(0.05)
    assert torn == []


async def test_AB_131_the_grace_time_counts_from_the_last_leaving() -> None:
    torn = asyncio.Event()

    async def teardown(user: str | None) -> None:
        torn.set()

    teardowns = DisconnectTeardown(teardown, 0.4)
    teardowns.came("anna")
    teardowns.left("anna")
    await asyncio.sleep(0.3)
    teardowns.came("anna")
    teardowns.left("anna")
    await asyncio.sleep(0.25)
    assert not torn.is_set()
    await asyncio.wait_for(torn.wait(), 60)
    await teardowns.aclose()
