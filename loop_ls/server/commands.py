"""The commands of `workspace/executeCommand`: each command of the contract with the function that answers it.

One argument object, checked against its type, and one answer each. Checks are loaded with the first command.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.contract import validation
from loop_ls.contract.operations import COMMANDS, Command
from loop_ls.server.command_answers import refused, sentence
from loop_ls.server.runs import dry_run_commands as before
from loop_ls.server.runs import enhance_commands as enhance
from loop_ls.server.runs import fork_replay_commands as again
from loop_ls.server.runs.assistant_setup import assistant_setup
from loop_ls.server.runs.commands import Runs
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.server.context import Context

logger = logging.getLogger(__name__)

Function = Callable[["Context", JsonObject], Awaitable[JsonObject]]


def _of_runs(call: Callable[[Runs, JsonObject], Awaitable[JsonObject]]) -> Function:
    async def command(context: Context, argument: JsonObject) -> JsonObject:
        return await call(context.runs.get(), argument)

    return command


#: What a command of the contract does, where it is more than asking the engine that has the run.
FUNCTIONS: dict[str, Function] = {
    "loopLs.run": _of_runs(Runs.start),
    "loopLs.stop": _of_runs(Runs.stop),
    "loopLs.pause": _of_runs(Runs.pause),
    "loopLs.resume": _of_runs(Runs.resume),
    "loopLs.runs": _of_runs(Runs.recent),
    "loopLs.status": _of_runs(Runs.status),
    "loopLs.events": _of_runs(Runs.events),
    "loopLs.view": _of_runs(Runs.view),
    "loopLs.approve": again.approve,
    "loopLs.inbox": _of_runs(Runs.inbox),
    "loopLs.answer": again.answer,
    "loopLs.note": again.note,
    "loopLs.changes": again.changes,
    "loopLs.decideChanges": again.decide_changes,
    "loopLs.restore": again.restore,
    "loopLs.history": again.history,
    "loopLs.artifact": again.artifact,
    "loopLs.import": again.take_in,
    "loopLs.fork": again.fork,
    "loopLs.replay": again.replay,
    "loopLs.testUntil": again.test_until,
    "loopLs.definitions": before.definitions,
    "loopLs.previewPrompt": before.preview,
    "loopLs.estimate": before.estimate,
    "loopLs.enhance.start": enhance.start,
    "loopLs.enhance.continue": enhance.go_on,
    "loopLs.enhance.skipEdits": enhance.skip,
    "loopLs.enhance.stop": enhance.stop,
    "loopLs.enhance.status": enhance.status,
    "loopLs.enhance.timeline": enhance.timeline,
    "loopLs.enhance.revert": enhance.revert,
    "loopLs.enhance.feedback": enhance.feedback,
    "loopLs.enhance.enable": enhance.enable,
    "loopLs.enhance.setup": enhance.setup,
    "loopLs.assistant.setup": assistant_setup,
    "loopLs.engine.status": _of_runs(Runs.engine_status),
    "loopLs.engine.restart": _of_runs(Runs.engine_restart),
}


async def execute_command(context: Context, name: str, given: object) -> JsonObject:
    """Never raises: whoever clicked gets an answer that can be shown."""
    answer = await _answer(context, name, given)
    if not answer.get("ok") and name in COMMANDS and COMMANDS[name].told and not context.session.settles_answers:
        if answer.get("code") != "consent_required":
            _tell(context, answer)
        elif not context.client.facts.message_request:  # else it is asked for
            _tell(
                context,
                {
                    **answer,
                    "hint": "This editor cannot ask: allow the run once with `loop-ls run` in a terminal.",
                },
            )
    return answer


async def _answer(context: Context, name: str, given: object) -> JsonObject:
    command = COMMANDS.get(name)
    if command is None:
        known = ", ".join(f"`{one}`" for one in COMMANDS)
        return refused("not_found", f"Unknown command `{name}`.", f"Known commands: {known}.")
    if not validation.loaded():  # takes long enough to be felt while typing
        await asyncio.to_thread(validation.load)
    given = {} if given is None else given
    if problem := validation.problem_of(command.argument, given, f"`{name}`"):
        return refused("bad_argument", problem.message)
    argument: JsonObject = given if isinstance(given, dict) else {}
    try:
        if function := FUNCTIONS.get(name):
            return await function(context, argument)
        return await _passed_on(context, command, text_field(argument, "runId"))
    except Exception as error:
        logger.exception(
            "%s failed with %s", name, {k: argument[k] for k in argument if k in ("uri", "runId", "target")}
        )
        message = f"`{name}` failed in the server ({type(error).__name__}: {error})."
        return refused("internal", message, "See the server log for details.")


async def _passed_on(context: Context, command: Command, run_id: str) -> JsonObject:
    """A command about one run that the engine answers alone."""
    operation = command.operation
    assert operation is not None
    return await context.runs.get().ask_home(run_id, lambda client: client.call(operation, run_id))


def _tell(context: Context, answer: JsonObject) -> None:
    """Most editors throw the answer of a command away."""
    context.client.show(lsp.MessageType.Warning, sentence(answer))
