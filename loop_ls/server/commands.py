"""The commands of `workspace/executeCommand`: one table, one argument object, one typed answer each."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from loop_ls.server import command_arguments as arguments
from loop_ls.server.command_answers import Answer, refused, sentence
from loop_ls.server.rpc import methods
from loop_ls.server.runs.assistant_setup import assistant_setup
from loop_ls.server.runs.dry_run_commands import BeforeRun
from loop_ls.server.runs.enhance_commands import Enhancing
from loop_ls.server.runs.fork_replay_commands import RunsAgain

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Command = Callable[[Json], Awaitable[Answer]]

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


class Commands:
    """What stands behind the names that the server announces."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        runs, before = server.runs, BeforeRun(server)
        again = RunsAgain(server, runs)
        enhancing = Enhancing(server, runs)
        self._table: dict[str, tuple[Command, arguments.Shape, tuple[str, ...]]] = {
            "loopLs.run": (runs.start, arguments.RUN, ()),
            "loopLs.stop": (runs.stop, arguments.CONTROL, ("runId",)),
            "loopLs.pause": (runs.pause, arguments.CONTROL, ("runId",)),
            "loopLs.resume": (runs.resume, arguments.CONTROL, ("runId",)),
            "loopLs.runs": (runs.recent, arguments.RUNS, ()),
            "loopLs.status": (runs.status, arguments.STATUS, ("runId",)),
            "loopLs.events": (runs.events, arguments.EVENTS, ("runId",)),
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
            "loopLs.enhance.start": (enhancing.start, arguments.RUN, ("uri",)),
            "loopLs.enhance.continue": (enhancing.go_on, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.skipEdits": (enhancing.skip, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.stop": (enhancing.stop, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.status": (enhancing.status, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.timeline": (enhancing.timeline, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.revert": (enhancing.revert, arguments.ENHANCE, ("uri",)),
            "loopLs.enhance.feedback": (enhancing.feedback, arguments.ENHANCE, ("uri", "text")),
            "loopLs.enhance.enable": (enhancing.enable, arguments.ENABLE, ("uri", "enabled")),
            "loopLs.enhance.setup": (enhancing.setup, arguments.SETUP, ()),
            "loopLs.assistant.setup": (partial(assistant_setup, server), arguments.LOOP_SETUP, ("uri",)),
            "loopLs.engine.status": (runs.engine_status, arguments.NOTHING, ()),
            "loopLs.engine.restart": (runs.engine_restart, arguments.NOTHING, ()),
        }

    async def execute(self, name: str, given: Any) -> Answer:
        """Never raises: whoever clicked gets an answer that can be shown."""
        answer = await self._answer(name, given)
        if not answer.get("ok") and name in _TOLD and not self._server.session.settles_answers:
            if answer.get("code") != "consent_required":
                self._tell(answer)
            elif not self._server.client.message_request:  # else it is asked for
                self._tell({**answer, "hint": "This editor cannot ask: agree once with `loop-ls run` in a terminal."})
        return answer

    async def _answer(self, name: str, given: Any) -> Answer:
        entry = self._table.get(name)
        if entry is None:
            known = ", ".join(f"`{one}`" for one in self._table)
            return refused("not_found", f"`{name}` is no command of this server.", f"It has {known}.")
        command, shape, required = entry
        argument = {} if given is None and not required else given
        if problem := arguments.checked(name, argument, shape, required):
            return problem
        try:
            return await command(argument)
        except Exception as error:
            logger.exception(
                "%s failed with %s", name, {k: argument[k] for k in argument if k in ("uri", "runId", "target")}
            )
            message = f"`{name}` failed in the server ({type(error).__name__}: {error})."
            return refused("internal", message, "The server's log has the details.")

    def _tell(self, answer: Answer) -> None:
        """Most editors throw the answer of a command away."""
        params = {"type": methods.WARNING, "message": sentence(answer)}
        self._server.protocol.notify(methods.WINDOW_SHOW_MESSAGE, params)
