"""One work-done progress per run: `iteration 3/5 · $0.012`, with a cancel button that stops the run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.contract import endings
from loop_ls.contract.amounts import money
from loop_ls.features.runs.enhance_rounds import ended_in_rounds, progress_in_words
from loop_ls.formats.registry import ASSISTANT
from loop_ls.server.client import Refused
from loop_ls.text.json_value import JsonObject, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.server.client import Client
    from loop_ls.server.runs.run_record import RunRecord
    from loop_ls.server.tasks import Tasks

logger = logging.getLogger(__name__)

PREFIX = "loop-ls/run/"
#: As the lenses say it.
_SAID = {"waiting_approval": "waiting for approval"}


class RunProgress:
    """Begun when the client has made the token, reported when it changes, ended once."""

    #: A run may be shown again after its engine was away; a token serves only once.
    _made = 0

    def __init__(self, client: Client, tasks: Tasks, record: RunRecord) -> None:
        self._client, self._record = client, record
        RunProgress._made += 1
        self.token = f"{PREFIX}{record.run_id}/{RunProgress._made}"
        self._open = False
        self._said: JsonObject = {}
        tasks.start(self._begin(), f"progress of {record.run_id}")

    async def _begin(self) -> None:
        try:
            await self._client.ask(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": self.token})
        except (Refused, TimeoutError) as error:
            logger.info("The client does not support progress: %s", error)
            return
        if self._record.ended:
            return
        self._open = True
        self._said = report(self._record)
        title = f"Enhance {self._record.name}" if self._record.view().rounds else self._record.name
        self._send({"kind": "begin", "title": title, "cancellable": True, **self._said})

    def update(self) -> None:
        """Say what is new; end when the run has ended."""
        if not self._open:
            return
        now = report(self._record)
        if self._record.ended:
            self._open = False
            self._send({"kind": "end", "message": ending(self._record)})
        elif now != self._said:
            self._said = now
            self._send({"kind": "report", "cancellable": True, **now})

    def end(self, message: str) -> None:
        """The run goes on, but we hear nothing of it any more (UP-80)."""
        if self._open:
            self._open = False
            self._send({"kind": "end", "message": message})

    def _send(self, value: JsonObject) -> None:
        self._client.notify(lsp.PROGRESS, {"token": self.token, "value": value})


def report(record: RunRecord) -> JsonObject:
    """Message, and a percentage where there is a limit."""
    rounds = record.view().rounds
    if rounds is not None:
        done = 100 * max(0, rounds.number - 1) // rounds.most if rounds.most else 0
        return {"message": progress_in_words(rounds), "percentage": min(100, done)}
    state = record.state
    iteration, most = int_field(state, "iteration") or 0, int_field(state, "maxIterations")
    done = iteration - 1
    if state.get("format") == ASSISTANT:  # its document counts what is done: 3 of 10 are 30 percent
        log = state.get("progressLog")
        iteration = done = len(log) if isinstance(log, list) else 0
    status = text_field(state, "status") or "queued"
    parts = []
    if iteration:
        parts.append(f"iteration {iteration}/{most}" if most else f"iteration {iteration}")
    if isinstance(cost := state.get("costUsd"), int | float):
        parts.append(money(cost))
    if status != "running" or not parts:
        parts.append(_SAID.get(status) or status.replace("_", " "))
    found: JsonObject = {"message": " · ".join(parts)}
    if most is not None and most > 0:
        # The running iteration is not done yet.
        found["percentage"] = min(100, max(0, 100 * done // most))
    return found


def ending(record: RunRecord) -> str:
    rounds = record.view().rounds
    if rounds is not None:
        return ended_in_rounds(rounds)
    told = endings.ending(record.state)
    return told["line"] if told else text_field(record.state, "status").replace("_", " ") or "ended"


def run_of(token: object) -> str | None:
    """The run that a progress token stands for."""
    if not isinstance(token, str) or not token.startswith(PREFIX):
        return None
    return token.removeprefix(PREFIX).rpartition("/")[0]
