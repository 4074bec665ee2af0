"""`workspace/executeCommand`, and the cancel button of a run's progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcInvalidParams

from loop_ls.server.commands import execute_command
from loop_ls.server.runs.progress import run_of
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


async def execute(context: Context, params: JsonObject) -> JsonObject:
    name, given = params.get("command"), params.get("arguments")
    if not isinstance(name, str):
        raise JsonRpcInvalidParams("workspace/executeCommand must name a command")
    first = given[0] if isinstance(given, list) and given else None
    return await execute_command(context, name, first)


async def cancel(context: Context, params: JsonObject) -> None:
    run_id = run_of(params.get("token"))
    if run_id is not None:
        await execute_command(context, "loopLs.stop", {"runId": run_id})
