"""Sockets whose leaving ends what their user started: put together from whoever knows a part of it."""

from __future__ import annotations

import asyncio

from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.sockets.socket_server import Sockets
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.disconnect_teardown import DisconnectTeardown, Pause, attended_runs, tear_down


def sockets_of(
    assistants: AssistantService, presence: Presence, grace: float | None, pause: Pause = asyncio.sleep
) -> Sockets:
    """`grace` None: runs are never torn down."""
    engine = assistants.engine

    async def teardown(user: str | None) -> None:
        """The owner's editors listen too; as long as one does, the owner is there."""
        if user is None and presence.listeners > teardowns.total:
            return
        runs = attended_runs(engine.live, user)
        await tear_down(runs, lambda run_id: engine.control("stop", run_id, cause="teardown"))

    teardowns = DisconnectTeardown(teardown, grace, pause)
    return Sockets(assistants, teardowns, presence.listening)
