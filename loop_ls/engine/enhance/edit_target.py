"""Where the workflow's text lives while a loop changes it: the buffer of an editor, or a file.

An edit counts once the text it leads to was seen: the editor's word that it was applied carries none.
What an editor answers, and how a file was written, is recorded, so that a replay knows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from loop_ls.contract.facts.enhance import (
    Change,
    EditAcknowledged,
    EditAnswer,
    EditedFile,
    EditRefused,
    EditSent,
    RoundNumbers,
)
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.whole_files import replace_all
from loop_ls.engine.capabilities.guard import require_write
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Failure, Recorder
from loop_ls.engine.enhance.plan.bundle import ALONE, Bundle
from loop_ls.engine.enhance.plan.working_copy import differences
from loop_ls.engine.enhance.report.report import Mask
from loop_ls.engine.runs.isolation.put_in_place import FOLDER, Moved, PutInPlace
from loop_ls.formats.workflow.model import Workflow
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.index.disk.uris import uri_of
from loop_ls.text.encoding import to_units
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text

#: Why an edit is not there. `document_invalid`: what a person has made of the text cannot be run.
Trouble = Literal["text_mismatch", "no_change_seen", "refused", "client_gone", "stale", "document_invalid"]


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
    bundle: Bundle = ALONE


@dataclass(frozen=True, slots=True)
class Ack:
    """`text` is what the document holds now, where that is known. `trouble` None: the edit is there."""

    text: str | None
    trouble: Trouble | None = None
    reason: str = ""


class Held(NamedTuple):
    """What the document holds; `trouble` is why nobody can say, empty otherwise."""

    text: str
    trouble: str = ""


class EditTarget(Protocol):
    async def current(self, place: Place, known: str) -> str:
        """The text as it is now; `known` is what it was when it was last seen. Raises `Failure`."""
        ...

    async def held(self, place: Place, known: str) -> Held:
        """The same, and no failure where a file cannot be read."""
        ...

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack: ...


class EditorTarget:
    """The document is open in an editor, whose server applies edits and answers for it. `others` are the URIs of
    further files, by path."""

    def __init__(self, recorder: Recorder, uri: str, seconds: float, others: Mapping[str, str] | None = None) -> None:
        self._recorder, self._uri, self._seconds, self._others = recorder, uri, seconds, others or {}

    async def current(self, place: Place, known: str) -> str:
        return known

    async def held(self, place: Place, known: str) -> Held:
        return Held(known)

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack:
        key = place.part("ack:asked")
        late: EditAnswer = {"outcome": "client_gone", "failureReason": "no editor accepted the edit in time"}
        fact = edit_sent(sent, common, self._uri, self._others)
        fact = fact.model_copy(update={"edits": edits_wire(sent), "question": key})
        told = await self._recorder.outside(key, [fact.fact(place)], self._seconds, late)
        return judged(sent, told)


class FileTarget:
    """Nobody has the file open: it is read and written here, whole or not at all. `others` are further files of the
    bundle, by path; `data` is the engine's folder, in which it is kept what several of them were."""

    def __init__(
        self,
        recorder: Recorder,
        path: Path,
        bundle: Bundle = ALONE,
        others: Mapping[str, Path] | None = None,
        data: Path | None = None,
    ) -> None:
        self._recorder, self._path, self._bundle, self._others = recorder, path, bundle, others or {}
        self._placing = None if data is None else PutInPlace.of(data / FOLDER / recorder.run_id)
        self._paths = {bundle.primary: path, **self._others}

    async def current(self, place: Place, known: str) -> str:
        held = await self.held(place, known)
        if held.trouble:
            raise Failure("not_found", held.trouble)
        return held.text

    async def held(self, place: Place, known: str) -> Held:
        found = await self._recorder.call(place.part("read"), self._read)
        return Held(found) if isinstance(found, str) else Held(known, found["trouble"])

    async def apply(self, place: Place, sent: Sent, common: RoundNumbers) -> Ack:
        others = {path: uri_of(whole) for path, whole in self._paths.items() if path != self._bundle.primary}
        fact = edit_sent(sent, common, uri_of(self._path), others)

        async def work() -> EditAnswer:
            for path in self._paths.values():
                require_write(path)
            if moved := self._moved():
                return {"outcome": "refused", "failureReason": moved}
            if not isinstance(held := await self._read(), str):
                return {"outcome": "document_invalid", "failureReason": held["trouble"]}
            return await asyncio.to_thread(written_together, self._paths, sent, self._placing)

        def facts(told: EditAnswer) -> Sequence[Fact]:
            plan_id, text, outcome = sent.plan_id, text_hash(sent.text), told["outcome"]
            if outcome == "applied":
                return [EditAcknowledged(**common, plan_id=plan_id, text_sha256=text).fact(place)]
            reason = told.get("failureReason", "")
            refused = EditRefused(**common, plan_id=plan_id, text_sha256=text, outcome=outcome, failure_reason=reason)
            return [refused.fact(place)]

        told = await self._recorder.call(place.part("write"), work, facts, [fact.fact(place)])
        return judged(sent, told)

    def _moved(self) -> str:
        """Why a further file is no longer the one that was agreed to; empty: all are."""
        links = [path for path, whole in self._others.items() if not is_itself(whole, path)]
        return f"`{links[0]}` is now a link, or is outside the workspace" if links else ""

    async def _read(self) -> str | dict[str, str]:
        if moved := await asyncio.to_thread(self._moved):
            raise Failure("not_found", f"{moved}.")
        try:
            return await asyncio.to_thread(_texts_of, self._bundle, self._paths)
        except OSError as error:
            return {"trouble": f"`{error.filename or self._path}` cannot be read: {error.strerror or error}"}
        except ValueError as error:
            return {"trouble": f"`{self._path}` cannot be read: {error}"}


def is_itself(whole: Path, path: str) -> bool:
    """Whether no part of a path below the workspace is a link."""
    root = whole.parents[path.count("/")]
    return whole.resolve() == root.resolve() / path


def written(path: Path, sent: Sent) -> EditAnswer:
    """Write one file."""
    return written_together({sent.bundle.primary: path}, sent)


def written_together(paths: Mapping[str, Path], sent: Sent, placing: PutInPlace | None = None) -> EditAnswer:
    """Write the files whole, all of them or none, unless one is another by now (EB-066). Never raises. With `placing`
    several are put back at the next start of an engine that was killed in the middle. A file that has its new text
    already was written before a crash, and the others follow."""
    try:
        if placing is not None:
            placing.put_back()
        before, after = sent.bundle.apart(sent.base), sent.bundle.apart(sent.text)
        held = {path: _text_of(whole) for path, whole in paths.items()}
        known = {path: (text_hash(before[path]), text_hash(after[path])) for path in paths}
        if any(text_hash(text) not in known[path] for path, text in held.items()):
            text = sent.bundle.joined(held)
            return {"outcome": "stale", "text": text, "failureReason": "the file was changed in the meantime"}
        changed = {path: after[path] for path in paths if held[path] != after[path]}
        if placing is None or len(changed) < 2:
            replace_all({paths[path]: text for path, text in changed.items()})
        else:
            _put(placing, paths, changed)
    except Moved as moved:
        return {"outcome": "stale", "failureReason": f"`{moved.path}` was changed in the meantime"}
    except (OSError, ValueError) as error:
        return {"outcome": "refused", "failureReason": str(error)}
    return {"outcome": "applied", "text": sent.text}


def _put(placing: PutInPlace, paths: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Raises `Moved` and `OSError`; then all files are as they were."""
    [top] = {whole.parents[path.count("/")] for path, whole in paths.items()}
    placing.prepare()
    placing.keep(top, texts)
    for path, text in texts.items():
        new = placing.new / path
        new.parent.mkdir(0o700, parents=True, exist_ok=True)
        new.write_bytes(text.encode("utf-8"))
        new.chmod(paths[path].stat().st_mode & 0o777)
    try:
        placing.put(top, [*texts])
    except (Moved, OSError):
        placing.put_back()
        raise
    placing.forget()


def judged(sent: Sent, told: EditAnswer) -> Ack:
    """What an answer means. A text that differs only in how it is written counts as the one that was sent."""
    outcome, reason, text = told["outcome"], told.get("failureReason") or "", told.get("text")
    if text == sent.text:
        return Ack(text)
    if outcome == "applied":
        if text is None:
            return Ack(None, "no_change_seen", reason or "the editor accepted the change but did not show it")
        if _same_workflows(sent, text):
            return Ack(text)
        return Ack(text, "text_mismatch", "the document differs from the text that was sent")
    return Ack(text, outcome, reason)


def _same_workflows(sent: Sent, text: str) -> bool:
    try:
        held, wanted = sent.bundle.apart(text), sent.bundle.apart(sent.text)
    except ValueError:
        return False
    return all(same_workflow(held[path], wanted[path]) for path in wanted)


def same_workflow(one: str, other: str) -> bool:
    first, second = read_workflow(one), read_workflow(other)
    return isinstance(first, Workflow) and isinstance(second, Workflow) and first == second


def edits_wire(sent: Sent, path: str | None = None) -> list[JsonObject]:
    """LSP text edits of one file, else of the workflow, against its base text, in UTF-16 units."""
    path = sent.bundle.primary if path is None else path
    base, text = Text.of(sent.bundle.apart(sent.base)[path]), Text.of(sent.bundle.apart(sent.text)[path])

    def at(line: int, column: int) -> dict[str, int]:
        return {"line": line, "character": to_units(base.line(line), column, "utf-16")}

    return [
        {"range": {"start": at(*edit.span.start), "end": at(*edit.span.end)}, "newText": edit.text}
        for edit in differences(base, text)
    ]


def edit_sent(sent: Sent, common: RoundNumbers, uri: str, others: Mapping[str, str] | None = None) -> EditSent:
    """The fact of an edit. Of several files, each with its own edits; `others` are the URIs of those beside the
    workflow."""
    before, after = sent.bundle.apart(sent.base), sent.bundle.apart(sent.text)
    primary = sent.bundle.primary
    files = [
        EditedFile(
            path=path,
            uri=uri if path == primary else (others or {}).get(path, ""),
            base_sha256=text_hash(before[path]),
            text_sha256=text_hash(after[path]),
            edits=edits_wire(sent, path),
        )
        for path in sent.bundle.paths
    ]
    return EditSent(
        **common,
        plan_id=sent.plan_id,
        label=sent.label,
        base_sha256=text_hash(before[primary]),
        text_sha256=text_hash(after[primary]),
        changes=list(sent.changes),
        diff=sent.mask(sent.bundle.diff(sent.base, sent.text)),
        uri=uri,
        files=files if len(files) > 1 else None,
    )


def _texts_of(bundle: Bundle, paths: Mapping[str, Path]) -> str:
    return bundle.joined({path: _text_of(whole) for path, whole in paths.items()})


def _text_of(path: Path) -> str:
    with path.open("r", encoding="utf-8", newline="") as file:
        return file.read()
