"""Runs that wait for a person ask in every editor that shows them; the first answer counts, and the others'
messages close by themselves. Editors that cannot ask have the lens and the command.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.contract.questions import answers_to, commands, first_line, is_protected, wait_of
from loop_ls.contract.run_view.rounds import listed
from loop_ls.server.client import Refused
from loop_ls.server.command_answers import sentence
from loop_ls.server.documents.show_document import show_text
from loop_ls.text.json_value import JsonObject, int_field, text_field
from loop_ls.text.markdown import fenced

if TYPE_CHECKING:
    from loop_ls.server.runs.context import RunAccess, RunContext
    from loop_ls.server.runs.run_record import RunRecord

logger = logging.getLogger(__name__)

SHOW = "Show output"
#: A person may take this long; the lens is there afterwards too.
_LIMIT = 24 * 3600.0
_EXCERPT = 300


class Approvals:
    """One open message for each question."""

    def __init__(self, context: RunContext, runs: RunAccess) -> None:
        self._session, self._client = context.session, context.client
        self._runs = runs
        self._open: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._told: set[tuple[tuple[str, str], int | None]] = set()

    def look(self, record: RunRecord) -> None:
        """The run's state is new: ask what is asked, close what was answered."""
        pending = listed(record.state.get("pendingApprovals") or [record.state.get("pendingApproval")])
        asked = {(record.run_id, str(each.get("place") or each.get("loopId"))): each for each in pending}
        for key in [key for key in self._open if key[0] == record.run_id and key not in asked]:
            self._open.pop(key).cancel()
        if self._session.asks_people:
            return
        if not self._client.facts.message_request:
            self._tell(record, asked)
            return
        for key, each in asked.items():
            if key not in self._open:
                task = asyncio.get_running_loop().create_task(self._ask(record, each))
                task.add_done_callback(_seen)
                self._open[key] = task

    def _tell(self, record: RunRecord, asked: dict[tuple[str, str], JsonObject]) -> None:
        """The editor cannot be asked, so it is told once, and how to answer."""
        for key, each in asked.items():
            if (which := (key, int_field(each, "iteration"))) not in self._told:
                self._told.add(which)
                typed = commands(each, record.run_id[:8])
                said = f"{question(record.name, each)} Answer above the loop, or: {typed}"
                self._client.show(lsp.MessageType.Info, said)

    def close(self) -> None:
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _ask(self, record: RunRecord, asked: JsonObject) -> None:
        # A message takes no text: an answer that needs one is given elsewhere.
        answers = {title: decision for decision, title in answers_to(asked).items() if decision != "revise"}
        blocked = wait_of(asked) == "blocked"
        hint = f" To answer with a text: {commands(asked, record.run_id[:8])}." if blocked else ""
        params: JsonObject = {
            "type": lsp.MessageType.Warning if is_protected(asked) else lsp.MessageType.Info,
            "message": f"{question(record.name, asked)}{hint}",
            "actions": [{"title": title} for title in (*answers, SHOW)],
        }
        while True:
            try:
                chosen = await self._client.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, params, _LIMIT)
            except (Refused, TimeoutError) as error:
                logger.info("The answer to run %s was not accepted: %s", record.run_id, error)
                return
            title = text_field(chosen, "title") if isinstance(chosen, dict) else ""
            if title == SHOW:
                await self._show(record, asked)
            elif title in answers:
                await self._decide(record, asked, answers[title])
                return
            else:
                return  # put aside: the lens is still there

    async def _decide(self, record: RunRecord, asked: JsonObject, decision: str) -> None:
        run_id, loop, yes = record.run_id, text_field(asked, "loopId") or None, decision == "approve"
        answer = await self._runs.ask_home(run_id, lambda engine: engine.approve(run_id, loop, yes, decision))
        if not answer.get("ok"):
            self._client.show(lsp.MessageType.Warning, sentence(answer))

    async def _show(self, record: RunRecord, asked: JsonObject) -> None:
        """The output as a document of its own, which the editor can show however long it is."""
        what = f"iteration-{asked.get('iteration', 'output')}"
        data = await self._runs.data_folder(record.run_id)
        await show_text(self._client, data, record.run_id, what, fenced(str(asked.get("output") or "")))


def question(name: str, asked: JsonObject) -> str:
    """What a person is asked: which loop, where in the run, and how the output begins."""
    place = str(asked.get("place") or "").partition(":")[0]
    path = " › ".join(part for part in place.split("/") if part and not part.isdigit())
    number = asked.get("iteration")
    where = f"`{name}`" + (f" ({path})" if path and path != name else "")
    if is_protected(asked):
        return f"{where}, iteration {number}: {first_line(asked)} Checks do not count until you decide."
    if wait_of(asked) == "blocked":
        return f"{where} is blocked: {first_line(asked)}"
    output = " ".join(str(asked.get("output") or "").split())
    excerpt = output if len(output) <= _EXCERPT else output[: _EXCERPT - 1] + "…"
    return f"{where} waits for your decision on iteration {number}: {excerpt or '(no output)'}"


def _seen(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("The question about a decision could not be shown.", exc_info=error)
