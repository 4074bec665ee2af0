"""An engine whose parts are silent takes no start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.servers.mcp import ByClient
from loop_ls.engine.api.mcp.agent_tools import ToolRefusal, loop_start
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.recovery import heartbeat as hearts
from loop_ls.engine.recovery.heartbeat import Heartbeat, unready

HEALTHY = {
    "status": "ok",
    "workspace_id": "here",
    "managers": {"loops": {"ready": True}, "tasks": {"ready": True}},
}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def fine() -> None:
    return None


async def test_RB_127_a_part_that_is_silent_for_15_seconds_is_not_ready() -> None:
    clock = Clock()
    heartbeat = Heartbeat(fine, clock)
    assert heartbeat.wire() == {"loops": {"ready": False}, "tasks": {"ready": False}}
    heartbeat.open()
    clock.now = 15.0
    assert heartbeat.wire() == {"loops": {"ready": True}, "tasks": {"ready": True}}
    heartbeat.require_ready()
    clock.now = 15.1
    assert heartbeat.wire() == {"loops": {"ready": False}, "tasks": {"ready": False}}
    with pytest.raises(Refused) as refused:
        heartbeat.require_ready()
    assert refused.value.code == "engine_not_ready"
    await heartbeat.close()


async def test_RB_127_each_part_beats_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearts, "BEAT", 0.01)
    clock, beaten = Clock(), asyncio.Event()

    async def broken() -> None:
        beaten.set()
        raise OSError("the disk is gone")

    heartbeat = Heartbeat(broken, clock)
    heartbeat.open()
    clock.now = 20.0
    await asyncio.wait_for(beaten.wait(), 60)
    assert heartbeat.wire() == {"loops": {"ready": True}, "tasks": {"ready": False}}
    await heartbeat.close()


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ({**HEALTHY, "workspace_id": "elsewhere"}, "another workspace"),
        ({**HEALTHY, "status": "starting"}, "starting"),
        ({**HEALTHY, "managers": {"loops": {"ready": True}}}, "is not responding"),
        ({**HEALTHY, "managers": {**HEALTHY["managers"], "loops": {"ready": False}}}, "is not responding"),  # type: ignore[dict-item]
        (None, "an unreadable health status"),
        ("<html>", "an unreadable health status"),
    ],
)
def test_RB_032_an_engine_of_another_workspace_or_one_that_is_not_well_is_told_apart(health: Any, said: str) -> None:
    refused = unready(health, "here")
    assert refused is not None
    assert refused.code == "engine_not_ready"
    assert said in refused.message


def test_a_healthy_engine_takes_starts() -> None:
    assert unready(HEALTHY, "here") is None


class Elsewhere:
    """An engine that serves the data folder of somebody else."""

    folder = Path("/data")
    started = False

    async def health(self) -> dict[str, Any]:
        return {"ok": True, **HEALTHY, "workspace_id": "elsewhere"}

    async def start(self, argument: Any) -> dict[str, Any]:
        self.started = True
        return {"ok": True, "runId": "x"}


async def test_RB_032_loop_start_asks_no_engine_of_another_workspace() -> None:
    client = Elsewhere()
    with pytest.raises(ToolRefusal, match="another workspace"):
        await loop_start(ByClient(client, Path("/project")), {"definition": "pair", "goal": "x"})  # type: ignore[arg-type]
    assert not client.started
