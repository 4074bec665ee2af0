"""`workspace/executeCommand`, and the cancel button of a run's progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loop_ls.server.rpc import methods
from loop_ls.server.rpc.errors import JsonRpcInvalidParams
from loop_ls.server.runs.progress import run_of

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    async def execute(params: Json) -> Json:
        name, given = params.get("command"), params.get("arguments")
        if not isinstance(name, str):
            raise JsonRpcInvalidParams("workspace/executeCommand names a command")
        first = given[0] if isinstance(given, list) and given else None
        return await server.commands.execute(name, first)

    async def cancel(params: Json) -> None:
        run_id = run_of(params.get("token"))
        if run_id is not None:
            await server.commands.execute("loopLs.stop", {"runId": run_id})

    # Arguments are ours to read, and to refuse with a sentence.
    server.protocol.raw[methods.WORKSPACE_EXECUTE_COMMAND] = execute
    server.protocol.raw[methods.WINDOW_WORK_DONE_PROGRESS_CANCEL] = cancel
