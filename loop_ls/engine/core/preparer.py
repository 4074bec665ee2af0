"""The ports of a start: how the engine prepares one, and how files are checked before it.

Rules are not this room's business: whoever puts the engine together passes `Validate` in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol, runtime_checkable

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.plan import ModelAccess, Plan
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record


class Problem(NamedTuple):
    """An error that keeps a file from being run: rule, sentence, line (from 1)."""

    code: str
    message: str
    line: int


#: The errors (and nothing milder) of some files of a workspace, one list for each.
Validate = Callable[[Workspace, Sequence[Document]], Sequence[Sequence[Problem]]]


@equal_record
class Prepared:
    """The first fact of a run, and the texts it names, by hash. `more` goes into the answer of the start."""

    started: RunStarted
    texts: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Json] = field(default_factory=dict)


class Preparer(Protocol):
    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        """Raises `Refused`: the file has errors, something is missing, nobody agreed, ..."""
        ...


@runtime_checkable
class Agreeing(Protocol):
    """A preparer that can ask for consent to a run whose texts are recorded and came from elsewhere."""

    async def agree(
        self, started: RunStarted, texts: Mapping[str, str], consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> RunStarted:
        """The first fact, with what this place knows better. Raises `Refused`."""
        ...
