"""The commands of `workspace/executeCommand`: one table, one argument object, one typed answer each."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from loop_ls.server import command_arguments as arguments
from loop_ls.server.command_answers import Answer, refused, sentence
from loop_ls.server.runs import dry_run_commands as before
from loop_ls.server.runs import enhance_commands as enhance
from loop_ls.server.runs import fork_replay_commands as again
from loop_ls.server.runs.assistant_setup import assistant_setup
from loop_ls.server.runs.commands import Runs

if TYPE_CHECKING:
    from loop_ls.server.context import Context

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Command = Callable[["Context", Json], Awaitable[Answer]]

#: Refusals that a person who clicked has to hear of; a client that settles answers itself shows them.
_TOLD = tuple(
    f"loopLs.{name}"
    for name in (
        "run",
        "stop",
        "pause",
        "resume",
        "approve",
        "fork",
        "replay",
        "history",
        "testUntil",
        "engine.restart",
    )
) + tuple(
    f"loopLs.enhance.{name}"
    for name in ("start", "continue", "skipEdits", "stop", "timeline", "revert", "feedback", "enable")
)


def _of_runs(call: Callable[[Runs, Json], Awaitable[Answer]]) -> Command:
    async def command(context: Context, argument: Json) -> Answer:
        return await call(context.runs.get(), argument)

    return command


#: name -> what it does, its argument, and what of that must be there.
TABLE: dict[str, tuple[Command, arguments.Shape, tuple[str, ...]]] = {
    "loopLs.run": (_of_runs(Runs.start), arguments.RUN, ()),
    "loopLs.stop": (_of_runs(Runs.stop), arguments.CONTROL, ("runId",)),
    "loopLs.pause": (_of_runs(Runs.pause), arguments.CONTROL, ("runId",)),
    "loopLs.resume": (_of_runs(Runs.resume), arguments.CONTROL, ("runId",)),
    "loopLs.runs": (_of_runs(Runs.recent), arguments.RUNS, ()),
    "loopLs.status": (_of_runs(Runs.status), arguments.STATUS, ("runId",)),
    "loopLs.events": (_of_runs(Runs.events), arguments.EVENTS, ("runId",)),
    "loopLs.approve": (again.approve, arguments.APPROVE, ("runId",)),
    "loopLs.history": (again.history, arguments.HISTORY, ("runId",)),
    "loopLs.metrics": (again.metrics, arguments.CONTROL, ("runId",)),
    "loopLs.delete": (again.delete, arguments.CONTROL, ("runId",)),
    "loopLs.export": (again.export, arguments.CONTROL, ("runId",)),
    "loopLs.import": (again.take_in, arguments.IMPORT, ("run",)),
    "loopLs.fork": (again.fork, arguments.FORK, ("runId",)),
    "loopLs.replay": (again.replay, arguments.REPLAY, ("runId",)),
    "loopLs.testUntil": (again.test_until, arguments.TEST_UNTIL, ("uri", "loop")),
    "loopLs.definitions": (before.definitions, arguments.DEFINITIONS, ()),
    "loopLs.previewPrompt": (before.preview, arguments.PREVIEW, ("uri",)),
    "loopLs.estimate": (before.estimate, arguments.ESTIMATE, ("uri",)),
    "loopLs.enhance.start": (enhance.start, arguments.RUN, ("uri",)),
    "loopLs.enhance.continue": (enhance.go_on, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.skipEdits": (enhance.skip, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.stop": (enhance.stop, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.status": (enhance.status, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.timeline": (enhance.timeline, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.revert": (enhance.revert, arguments.ENHANCE, ("uri",)),
    "loopLs.enhance.feedback": (enhance.feedback, arguments.ENHANCE, ("uri", "text")),
    "loopLs.enhance.enable": (enhance.enable, arguments.ENABLE, ("uri", "enabled")),
    "loopLs.enhance.setup": (enhance.setup, arguments.SETUP, ()),
    "loopLs.assistant.setup": (assistant_setup, arguments.LOOP_SETUP, ("uri",)),
    "loopLs.engine.status": (_of_runs(Runs.engine_status), arguments.NOTHING, ()),
    "loopLs.engine.restart": (_of_runs(Runs.engine_restart), arguments.NOTHING, ()),
}


async def execute_command(context: Context, name: str, given: Any) -> Answer:
    """Never raises: whoever clicked gets an answer that can be shown."""
    answer = await _answer(context, name, given)
    if not answer.get("ok") and name in _TOLD and not context.session.settles_answers:
        if answer.get("code") != "consent_required":
            _tell(context, answer)
        elif not context.client.facts.message_request:  # else it is asked for
            _tell(context, {**answer, "hint": "This editor cannot ask: agree once with `loop-ls run` in a terminal."})
    return answer


async def _answer(context: Context, name: str, given: Any) -> Answer:
    entry = TABLE.get(name)
    if entry is None:
        known = ", ".join(f"`{one}`" for one in TABLE)
        return refused("not_found", f"`{name}` is no command of this server.", f"It has {known}.")
    command, shape, required = entry
    argument = {} if given is None and not required else given
    if problem := arguments.checked(name, argument, shape, required):
        return problem
    try:
        return await command(context, argument)
    except Exception as error:
        logger.exception(
            "%s failed with %s", name, {k: argument[k] for k in argument if k in ("uri", "runId", "target")}
        )
        message = f"`{name}` failed in the server ({type(error).__name__}: {error})."
        return refused("internal", message, "The server's log has the details.")


def _tell(context: Context, answer: Answer) -> None:
    """Most editors throw the answer of a command away."""
    context.client.show(lsp.MessageType.Warning, sentence(answer))
