"""The assistant as its file says it now, for the next iteration of a loop that was started before.

A loop keeps the criterion, the limit and the program it was started with; the persona, the tools and the
model may be improved while it runs. When the file is gone, or says that it may not loop any more, the loop
goes on with what it was started with, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypedDict, cast

from loop_ls.engine.journal.serialization import plain_text
from loop_ls.formats.assistant.model import Assistant
from loop_ls.formats.assistant.read import read_assistant
from loop_ls.index.disk.discovery import read_text
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import JsonObject, from_fields

#: What an agent is told of the file besides its message; a run notes it where it changes.
TOLD = ("persona", "model", "purpose")


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody should know about the file of a running loop."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """`disk` is the hash of the text that was on the disk at the start; None: there was none, or it is
    not to be looked at."""

    path: Path
    started: Assistant
    disk: str | None

    def now(self) -> tuple[Assistant, Iterable[Change]]:
        """Reads the disk: not for the loop's own thread."""
        if self.disk is None:
            return self.started, ()
        read = read_text(str(self.path))
        if read is None:
            return self.started, [self._gone("was deleted", "file_gone")]
        text = plain_text(str(read))
        if hash_of(text) == self.disk:
            return self.started, ()
        found = read_assistant(text, self.started.id, json=self.path.suffix == ".json")
        if not isinstance(found, Assistant):
            return self.started, [self._gone("can no longer be read", "file_faulty")]
        if not found.loop_enabled:
            return self.started, [self._gone("now has `loopEnabled: false`", "loop_disabled")]
        return self._merged(found)

    def _merged(self, found: Assistant) -> tuple[Assistant, Iterable[Change]]:
        new = replace(
            self.started,
            persona=found.persona,
            model=found.model,
            purpose=found.purpose,
            allowed_tools=found.allowed_tools,
            max_budget_usd=found.max_budget_usd,
        )
        if new == self.started:
            return new, ()
        names = ", ".join(name for name, changed in _differences(self.started, new) if changed)
        told = f"{self.path.name} changed: this iteration uses the new {names}."
        return new, [Change("assistant_changed", told)]

    def _gone(self, what: str, code: str) -> Change:
        told = f"{self.path.name} {what}; the run continues with the version it was started with."
        return Change(code, told)


def told_of(assistant: Assistant) -> JsonObject:
    return {name: getattr(assistant, name) for name in TOLD}


class Note(TypedDict, total=False):
    """What an iteration notes of the file: the code of what is said, and what its agent is told."""

    code: str
    told: JsonObject


def noted(known: object) -> tuple[list[str], JsonObject | None]:
    """The codes of what was said, and what the agent was told."""
    notes = cast("list[Note]", known or [])
    told = next((note["told"] for note in notes if "told" in note), None)
    return [note["code"] for note in notes if note.get("code")], told


def as_noted(assistant: Assistant, notes: Iterable[str], recall: Callable[[str], object]) -> Assistant:
    """The assistant as an iteration had it. `notes`: where it and those before it noted, the latest first."""
    for key in notes:
        _, told = noted(recall(key))
        if told is not None:
            return from_fields(partial(replace, assistant), told)
    return assistant


def _differences(old: Assistant, new: Assistant) -> Iterable[tuple[str, bool]]:
    yield "`persona`", old.persona != new.persona
    yield "`model`", (old.model, old.purpose) != (new.model, new.purpose)
    yield "`allowedTools`", old.allowed_tools != new.allowed_tools
    yield "`maxBudgetUsd`", old.max_budget_usd != new.max_budget_usd
