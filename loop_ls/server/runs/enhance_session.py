"""What an enhance loop asks of the editor between its rounds: take an edit, and say how it goes on.

An edit is sent against the version that it was made for and reported once the document shows it; the
editor's word alone says nothing about what it holds now. Whoever answers first, answers.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.client.engine_location import speaks_as_owner
from loop_ls.contract.run_view.rounds import listed, why_it_waits
from loop_ls.server.client import Refused
from loop_ls.server.command_answers import sentence
from loop_ls.server.documents import uris
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.documents.show_document import show_text
from loop_ls.text.hash import hash_of, text_hash
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.runs.context import RunAccess, RunContext
    from loop_ls.server.runs.run_record import RunRecord

logger = logging.getLogger(__name__)


def _together(files: list[JsonObject], texts: list[str]) -> str:
    """The texts of several files as one, as the facts of the loop spell it."""
    return json.dumps(
        {text_field(one, "path"): text for one, text in zip(files, texts, strict=True)}, ensure_ascii=False
    )


#: Seconds until an edit that was taken has to be seen in the document.
_SEEN_IN = 10.0
_APPLY_LIMIT = 600.0
#: How long another window that has the file open may take for an edit that does not fit here.
_OTHER_WINDOW = 2.0
_ASK_LIMIT = 24 * 3600.0
#: Asks a client that shows runs in its own way to show one.
SHOW_RUN = "loopLs/show"
GO_ON, SHOW, AS_IT_IS, STOP, AGAIN = (
    "Continue to next round",
    "Show changes",
    "Run without changes",
    "Stop",
    "Try again",
)


class Rounds:
    """One task for each question of a run that this client shows."""

    def __init__(self, context: RunContext, runs: RunAccess) -> None:
        self._session, self._client = context.session, context.client
        self._tasks, self._texts, self._runs = context.tasks, context.texts, runs
        self._open: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._warned: set[tuple[str, int]] = set()
        self._running: set[str] = set()

    def look(self, record: RunRecord) -> None:
        """The run's state is new: answer what it asks, let go of what was answered."""
        self._warn(record)
        self._tell_changed(record)
        question = record.state.get("question")
        asked = str(question.get("question")) if isinstance(question, dict) else None
        for key in [key for key in self._open if key[0] == record.run_id and key[1] != asked]:
            self._open.pop(key).cancel()
        if not isinstance(question, dict) or asked is None or (record.run_id, asked) in self._open:
            return
        if record.state.get("status") == "interrupted":
            return
        if (record.state.get("user") is None) != speaks_as_owner():
            return  # whoever started it takes its edits, and nobody else agreed to them
        if record.folded.rounds.question != asked:
            return  # the state is ahead of the facts; it is looked at again when they are here
        work = self._apply(record, question) if question["kind"] == "edit_sent" else self._ask(record, question)
        name = f"{question['kind']} of {record.run_id}"
        self._open[record.run_id, asked] = self._tasks.start(work, name)

    def close(self) -> None:
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    def _warn(self, record: RunRecord) -> None:
        """A loop that goes on although it fails as it did before: once for each such round."""
        state = record.state
        if state.get("label") != "fixation-risk" or state.get("format") != "enhance" or record.ended:
            return
        warned = (record.run_id, int_field(state, "iteration") or 0)
        if warned in self._warned:
            return
        self._warned.add(warned)
        said = f"Round {warned[1]} of `{record.name}` failed in the same way as the previous round"
        more = warned[1] < (int_field(state, "maxIterations") or warned[1] + 1)
        said += "; the next one costs about the same again." if more else "."
        self._client.show(lsp.MessageType.Warning, said)

    def _tell_changed(self, record: RunRecord) -> None:
        """A loop that converged on a text that its document no longer holds, saved or not: the engine sees files only.
        Once, and only of a loop that ended while this editor was there."""
        rounds = record.folded.rounds
        if not rounds.reason:
            if record.state.get("format") == "enhance":
                self._running.add(record.run_id)
            return
        if record.run_id not in self._running:
            return
        self._running.discard(record.run_id)
        if rounds.reason == "converged" and (names := [f"`{path}`" for path in self._changed(record)]):
            said = f"The enhance loop of `{record.name}` converged on a version that differs from the one in the editor"
            were = "was" if len(names) == 1 else "were"
            told = f"{said}: {' and '.join(names)} {were} changed while the last round ran."
            self._client.show(lsp.MessageType.Warning, told)

    def _changed(self, record: RunRecord) -> list[str]:
        """The open files of a loop that no longer hold what its last round ran."""
        started, rounds = record.folded.started, record.folded.rounds
        ran: dict[str, set[Json]] = {path: {name} for path, name in as_object(started.get("files")).items()}
        for one in listed((rounds.sent or {}).get("files")):  # those that plans edit, too: before it and after it
            ran.setdefault(text_field(one, "path"), set()).update((one.get("baseSha256"), one.get("textSha256")))
        last, own = rounds.by_number.get(rounds.number), text_field(started, "path")
        report = as_object(as_object((last and last.report) or {}).get("report"))
        if tried := as_object(report.get("workflow")).get("text_sha256"):
            ran[own] = {tried}
        root, found = text_field(started, "root"), list[str]()
        for path, names in ran.items():
            opened = self._session.open.get(record.key if path == own else uris.key(uris.from_path(f"{root}/{path}")))
            text = None if opened is None else str(opened.document.text)
            if text is not None and not names & {text_hash(text), hash_of(text)}:
                found.append(path)
        return sorted(found)

    # -- edits ------------------------------------------------------------------------------------

    async def _apply(self, record: RunRecord, question: JsonObject) -> None:
        sent = _about(record.folded.rounds.sent, question)
        opened = self._session.open.get(record.key)
        if sent is None or opened is None:
            return  # another window has the file open, or the engine's own limit ends the wait
        if files := listed(sent.get("files")):
            told = await self._taken_together(sent, files)
        else:
            told = await self._taken(opened, sent)
        if told["outcome"] == "stale":  # another window may hold the text that is meant: its answer ends this wait
            await asyncio.sleep(_OTHER_WINDOW)
        await self._say(record, "acknowledge", {"planId": sent["planId"], **told})

    async def _taken_together(self, sent: JsonObject, files: list[JsonObject]) -> JsonObject:
        """The same of an edit that changes several files: one change for the editor, and what each of them holds."""
        before = [self._held(one) for one in files]
        held = [opened for opened in before if opened is not None]
        if len(held) < len(files):
            return {"outcome": "refused", "failureReason": "a file of the change cannot be read"}
        texts = [str(opened.document.text) for opened in held]
        hashes = [text_hash(text) for text in texts]
        if all(found == one["textSha256"] for found, one in zip(hashes, files, strict=True)):
            return {"outcome": "applied", "text": _together(files, texts)}
        if any(found != one["baseSha256"] for found, one in zip(hashes, files, strict=True)):
            told = "a document was changed meanwhile"
            return {"outcome": "stale", "text": _together(files, texts), "failureReason": told}
        edit = self._edit([(opened, one) for opened, one in zip(held, files, strict=True) if one["edits"]], sent)
        try:
            answer = await self._client.ask(
                lsp.WORKSPACE_APPLY_EDIT, {"label": sent["label"], "edit": edit}, _APPLY_LIMIT
            )
            if not isinstance(answer, dict) or answer.get("applied") is not True:
                reason = answer.get("failureReason") if isinstance(answer, dict) else None
                return {"outcome": "refused", "failureReason": str(reason or "the editor gave no reason")}
            async with asyncio.timeout(_SEEN_IN):
                for one, text in zip(files, texts, strict=True):
                    while one["edits"] and self._text_now(one) == text:
                        await self._texts.next_change(uris.key(text_field(one, "uri")))
        except TimeoutError:  # what is not open may have been written: nobody tells of that
            if any(one["edits"] and self._text_now(one) == text for one, text in zip(files, texts, strict=True)):
                return {"outcome": "no_change_seen", "failureReason": "the editor did not show the change"}
        except Refused as refused:  # an error instead of an answer
            return {"outcome": "client_gone", "failureReason": refused.message}
        return {"outcome": "applied", "text": _together(files, [self._text_now(one) for one in files])}

    def _held(self, file: JsonObject) -> OpenDocument | None:
        return self._session.held(text_field(file, "uri"))

    def _text_now(self, file: JsonObject) -> str:
        held = self._held(file)
        return "" if held is None else str(held.document.text)

    async def _taken(self, opened: OpenDocument, sent: JsonObject) -> JsonObject:
        """Have the editor take an edit, and report the text of the document then."""
        before = str(opened.document.text)
        if text_hash(before) == sent["textSha256"]:
            return {"outcome": "applied", "text": before}  # it is there already: asked again after a restart
        if text_hash(before) != sent["baseSha256"]:
            return {"outcome": "stale", "text": before, "failureReason": "the document was changed in the meantime"}
        seen = asyncio.ensure_future(self._texts.next_change(opened.key))
        try:
            answer = await self._client.ask(
                lsp.WORKSPACE_APPLY_EDIT,
                {"label": sent["label"], "edit": self._edit([(opened, sent)], sent)},
                _APPLY_LIMIT,
            )
            if not isinstance(answer, dict) or answer.get("applied") is not True:
                reason = answer.get("failureReason") if isinstance(answer, dict) else None
                return {"outcome": "refused", "failureReason": str(reason or "the editor gave no reason")}
            if str(opened.document.text) == before:
                async with asyncio.timeout(_SEEN_IN):
                    await seen
        except TimeoutError:
            return {"outcome": "no_change_seen", "failureReason": "the editor did not show the change"}
        except Refused as refused:  # an error instead of an answer
            return {"outcome": "client_gone", "failureReason": refused.message}
        finally:
            seen.cancel()
        return {"outcome": "applied", "text": str(opened.document.text)}

    def _edit(self, files: list[tuple[OpenDocument, JsonObject]], sent: JsonObject) -> JsonObject:
        """As one change that one undo takes back. Ranges of facts count UTF-16 units."""
        client = self._client.facts
        every = [(opened, self._edits_of(opened, one)) for opened, one in files]
        if not client.document_changes:
            return {"changes": {opened.uri: edits for opened, edits in every}}
        if not client.confirms_edits:
            return {"documentChanges": [{"textDocument": self._version(one), "edits": edits} for one, edits in every]}
        reasons = "; ".join(f"{one['op']} {one['target']}: {one['reason']}" for one in listed(sent.get("changes")))
        note = {"label": sent["label"], "description": reasons, "needsConfirmation": False}
        changes: list[Json] = [
            {"textDocument": self._version(one), "edits": [{**edit, "annotationId": "enhance"} for edit in edits]}
            for one, edits in every
        ]
        return {"documentChanges": changes, "changeAnnotations": {"enhance": note}}

    def _edits_of(self, opened: OpenDocument, sent: JsonObject) -> list[JsonObject]:
        held = opened.document.text
        base, places = PositionMapping(held, "utf-16"), PositionMapping(held, self._session.encoding)
        return [places.edit(base.read_range(one["range"]), text_field(one, "newText")) for one in listed(sent["edits"])]

    def _version(self, opened: OpenDocument) -> JsonObject:
        """Of a file that is not open nobody knows a version."""
        is_open = self._session.open.get(opened.key) is opened
        return {"uri": opened.uri, "version": opened.document.version if is_open else None}

    # -- questions --------------------------------------------------------------------------------

    async def _ask(self, record: RunRecord, question: JsonObject) -> None:
        conflict = question.get("reason") == "conflict"
        kind = lsp.MessageType.Warning if conflict else lsp.MessageType.Info
        if not self._client.facts.message_request:
            told = f"{self._sentence(record, question)} Answer on the first line of the file."
            self._client.show(kind, told)
            return None  # there are the commands, the lens and the code action
        titles: tuple[str, ...] = (AGAIN, AS_IT_IS, STOP) if conflict else (GO_ON, SHOW, AS_IT_IS, STOP)
        if question.get("rejected"):
            titles = tuple(title for title in titles if title not in (AGAIN, GO_ON))
        params = {
            "type": kind.value,
            "message": self._sentence(record, question),
            "actions": [{"title": title} for title in titles],
        }
        while True:
            try:
                chosen = await self._client.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, params, _ASK_LIMIT)
            except (Refused, TimeoutError) as error:
                logger.info("The answer to run %s was not accepted: %s", record.run_id, error)
                return None
            match chosen.get("title") if isinstance(chosen, dict) else None:
                case "Show changes":
                    await self._show(record)
                case "Continue to next round" | "Try again":
                    return await self.choose(record, "continue")
                case "Run without changes":
                    return await self.choose(record, "skip")
                case "Stop":
                    return await self._stop(record, conflict)
                case _:
                    return None  # put aside: the pause goes on

    def _sentence(self, record: RunRecord, question: JsonObject) -> str:
        name = record.name
        if why := why_it_waits(question):
            return f"Enhance loop of `{name}`: {why}"
        proposed = _about(record.folded.rounds.proposal, question) or {}
        ops = listed(proposed.get("ops"))
        changes = f"{len(ops)} change{'s' if len(ops) != 1 else ''}"
        why = " ".join(str(proposed.get("rationale") or "").split())[:300]
        return f"Round {question.get('round')} of `{name}` failed; {changes} proposed. {why}".strip()

    async def _show(self, record: RunRecord) -> None:
        if self._session.shows_runs:
            self._client.notify(SHOW_RUN, {"runId": record.run_id, "tab": "round"})
            return
        answer = await self._runs.ask_home(record.run_id, lambda client: client.enhance(record.run_id, "timeline"))
        if answer.get("ok"):
            data = await self._runs.data_folder(record.run_id)
            await show_text(self._client, data, record.run_id, "timeline", str(answer["markdown"]))

    async def choose(self, record: RunRecord, choice: str) -> None:
        opened = self._session.open.get(record.key)
        text = {} if opened is None else {"text": str(opened.document.text)}
        await self._say(record, "choose", {"choice": choice, **text})

    async def _stop(self, record: RunRecord, conflict: bool) -> None:
        if conflict:  # the loop gives up and keeps what it has; a stop would cancel it
            await self._say(record, "choose", {"choice": "stop"})
        else:
            answer = await self._runs.ask_home(record.run_id, lambda engine: engine.stop(record.run_id))
            if not answer.get("ok"):
                self._client.show(lsp.MessageType.Warning, sentence(answer))

    async def _say(self, record: RunRecord, verb: str, given: JsonObject) -> None:
        answer = await self._runs.ask_home(record.run_id, lambda client: client.enhance(record.run_id, verb, given))
        if not answer.get("ok") and answer.get("code") != "wrong_status":  # somebody else answered
            logger.warning("Run %s could not be notified: %s", record.run_id, answer.get("message"))
            self._client.show(lsp.MessageType.Warning, sentence(answer))


def _about(fact: JsonObject | None, question: JsonObject) -> JsonObject | None:
    """The fact, if it is about the plan of a question."""
    plan = question.get("planId")
    return fact if fact is not None and plan in (None, fact.get("planId")) else None
