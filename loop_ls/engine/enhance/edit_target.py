"""Where the workflow's text lives while a loop changes it: the buffer of an editor, or a file.

An edit counts once the text it leads to was seen: the editor's word that it was applied carries none.
What an editor answers, and how a file was written, is recorded, so that a replay knows it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal, Protocol

from loop_ls.contract.facts.enhance import Change, EditAcknowledged, EditAnswer, EditRefused, EditSent, RoundNumbers
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.capabilities.guard import require_write
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Failure, Recorder
from loop_ls.engine.enhance.plan.working_copy import differences
from loop_ls.engine.enhance.report.report import Mask
from loop_ls.engine.enhance.timeline import unified
from loop_ls.formats.workflow.model import Workflow
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.index.disk.uris import uri_of
from loop_ls.text.encoding import to_units
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text

Trouble = Literal["text_mismatch", "no_change_seen", "refused", "client_gone", "stale"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One edit on its way: from `base` to `text`. `changes` are the operations, for people to read; what
    people read of the texts goes through `mask`."""

    plan_id: str
    label: str
    base: str
    text: str
    changes: Sequence[Change] = ()
    mask: Mask = str


@dataclass(frozen=True, slots=True)
class Ack:
    """`text` is what the document holds now, where that is known. `trouble` None: the edit is there."""

    text: str | None
    trouble: Trouble | None = None
    reason: str = ""


class EditTarget(Protocol):
    async def current(self, place: Place, known: str) -> str:
        """The text as it is now; `known` is what it was when it was last seen."""
        ...

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack: ...


class EditorTarget:
    """The document is open in an editor, whose server applies edits and answers for it."""

    def __init__(self, recorder: Recorder, uri: str, seconds: float) -> None:
        self._recorder, self._uri, self._seconds = recorder, uri, seconds

    async def current(self, place: Place, known: str) -> str:
        return known

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack:
        key = place.part("ack:asked")
        late: EditAnswer = {"outcome": "client_gone", "failureReason": "no editor took the edit in time"}
        fact = _fact(sent, common, self._uri).model_copy(update={"edits": edits_wire(sent), "question": key})
        told = await self._recorder.outside(key, [fact.fact(place)], self._seconds, late)
        return judged(sent, told)


class FileTarget:
    """Nobody has the file open: it is read and written here, whole or not at all."""

    def __init__(self, recorder: Recorder, path: Path) -> None:
        self._recorder, self._path = recorder, path

    async def current(self, place: Place, known: str) -> str:
        return await self._recorder.call(place.part("read"), self._read)

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack:
        fact = _fact(sent, common, uri_of(self._path))

        async def work() -> EditAnswer:
            require_write(self._path)
            return await asyncio.to_thread(written, self._path, sent)

        def facts(told: EditAnswer) -> Sequence[Fact]:
            plan_id, text, outcome = sent.plan_id, text_hash(sent.text), told["outcome"]
            if outcome == "applied":
                return [EditAcknowledged(**common, plan_id=plan_id, text_sha256=text).fact(place)]
            reason = told.get("failureReason", "")
            refused = EditRefused(**common, plan_id=plan_id, text_sha256=text, outcome=outcome, failure_reason=reason)
            return [refused.fact(place)]

        told = await self._recorder.call(place.part("write"), work, facts, [fact.fact(place)])
        return judged(sent, told)

    async def _read(self) -> str:
        try:
            return await asyncio.to_thread(_text_of, self._path)
        except (OSError, ValueError) as error:
            raise Failure("not_found", f"{self._path} cannot be read: {error}.") from None


def written(path: Path, sent: Sent) -> EditAnswer:
    """Write the file whole, unless it is another one by now (EB-066). Never raises."""
    try:
        if text_hash(_text_of(path)) != text_hash(sent.base):
            return {"outcome": "stale", "text": _text_of(path), "failureReason": "the file was changed meanwhile"}
        mode = path.stat().st_mode
        with NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
            new.write(sent.text.encode("utf-8"))
            new.flush()
            os.fsync(new.fileno())
        try:
            Path(new.name).chmod(mode & 0o7777)
            Path(new.name).replace(path)
        except OSError:
            Path(new.name).unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        return {"outcome": "refused", "failureReason": str(error)}
    return {"outcome": "applied", "text": sent.text}


def judged(sent: Sent, told: EditAnswer) -> Ack:
    """What an answer means. A text that differs only in how it is written counts as the one that was sent."""
    outcome, reason, text = told["outcome"], told.get("failureReason") or "", told.get("text")
    if text == sent.text:
        return Ack(text)
    if outcome == "applied":
        if text is None:
            return Ack(None, "no_change_seen", reason or "the editor said yes and showed no change")
        if _same_workflow(text, sent.text):
            return Ack(text)
        return Ack(text, "text_mismatch", "the document holds another text than the one that was sent")
    return Ack(text, outcome, reason)


def _same_workflow(one: str, other: str) -> bool:
    first, second = read_workflow(one), read_workflow(other)
    return isinstance(first, Workflow) and isinstance(second, Workflow) and first == second


def edits_wire(sent: Sent) -> list[JsonObject]:
    """LSP text edits against the base text, in UTF-16 units."""
    base = Text.of(sent.base)

    def at(line: int, column: int) -> dict[str, int]:
        return {"line": line, "character": to_units(base.line(line), column, "utf-16")}

    return [
        {"range": {"start": at(*edit.span.start), "end": at(*edit.span.end)}, "newText": edit.text}
        for edit in differences(base, Text.of(sent.text))
    ]


def _fact(sent: Sent, common: RoundNumbers, uri: str) -> EditSent:
    return EditSent(
        **common,
        plan_id=sent.plan_id,
        label=sent.label,
        base_sha256=text_hash(sent.base),
        text_sha256=text_hash(sent.text),
        changes=list(sent.changes),
        diff=sent.mask(unified(sent.base, sent.text, "workflow")),
        uri=uri,
    )


def _text_of(path: Path) -> str:
    with path.open("r", encoding="utf-8", newline="") as file:
        return file.read()
