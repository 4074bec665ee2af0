"""What a dialect is: how to ask, and how to read the events of an answer. Pure: no network.

A reader is fed decoded events. It says what was heard, when the answer is whole, and what it cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.core.price_table import Usage
from loop_ls.engine.core.redaction import unquoted
from loop_ls.engine.providers.config import Provider
from loop_ls.text.json_value import JsonObject
from loop_ls.text.record import equal_record


@equal_record
class Call:
    """One HTTP request, complete."""

    url: str
    headers: dict[str, str]
    body: JsonObject


class StreamError(Exception):
    """The provider reports an error inside its stream; `status` is the one it stands for."""

    def __init__(self, status: int, body: JsonObject) -> None:
        super().__init__(status)
        self.status, self.body = status, body


@dataclass
class Heard:
    """What an answer consists of besides its text. `finish` is empty until the provider says so; `begun`
    once any of it is there, be it a thought or a piece of a call. `unseen` are the parts that are paid and
    never shown: thoughts, and what tools are called with. `reports` counts how often the provider has said what
    it wrote; `interim`: more came after the last time."""

    finish: str = ""
    refused: str = ""
    usage: Usage = field(default_factory=Usage)
    unseen: list[str] = field(default_factory=list)
    unseen_length: int = 0
    response_id: str | None = None
    model: str = ""
    thoughts: str = ""
    calls: tuple[ToolCall, ...] = ()
    begun: bool = False
    reports: int = 0
    interim: bool = False

    def add_unseen(self, piece: str) -> None:
        self.unseen.append(piece)
        self.unseen_length += len(piece)

    def report(self, usage: Usage) -> None:
        self.usage = self.usage.joined(usage)
        self.reports += usage.output is not None


class Reader(Protocol):
    """Reads one answer. `feed` and `whole` answer new text; both may raise `StreamError`. Calls of tools
    are complete once `heard.finish` is set."""

    heard: Heard

    def feed(self, event: JsonObject) -> str: ...

    def whole(self, body: JsonObject) -> str:
        """An answer that came in one piece although a stream was asked for."""
        ...


class Dialect(Protocol):
    def call(self, provider: Provider, key: str, request: ModelRequest, without: frozenset[str]) -> Call:
        """`without`: parameters that this model was found not to take."""
        ...

    def limit(self, request: ModelRequest) -> int | None:
        """The `max_tokens` that holds for a request; None: only the model's own limit."""
        ...

    def headers(self, provider: Provider, key: str) -> dict[str, str]: ...

    def reader(self) -> Reader: ...


_LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
#: What services say of a number that is larger or smaller than they take.
OUT_OF_BOUNDS = re.compile(r"too (?:large|high|long|big)|at most|at least|less than|greater than|exceed|maximum")


@equal_record
class Unaccepted:
    """Which parameter a provider refused, learnt from its words (models differ, lists would age)."""

    names: tuple[str, ...] = field(
        default=(
            *("temperature", "max_completion_tokens", "max_tokens", "stream_options"),
            *("response_format", "output_config", "tool_choice"),
        ),
    )
    #: What a provider may call a parameter instead.
    others: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            "response_format": ("response format", "json_schema", "structured output"),
            "output_config": ("output_format", "json_schema", "structured output"),
            "tool_choice": ("tool choice",),
        }
    )

    def find(self, said: str, sent: JsonObject) -> str | None:
        words = said.lower()
        named = ((name, (name, *self.others.get(name, ()))) for name in self.names if name in sent)
        found = next((name for name, called in named if any(one in words for one in called)), None)
        if found in _LIMITS and (OUT_OF_BOUNDS.search(words) or "reached" in words):
            return None  # it takes the parameter: the number does not fit, or was used up
        return found


class Asked:
    """One call of a tool while it streams in, its arguments in pieces."""

    def __init__(self, id_: str = "", name: str = "") -> None:
        self.id, self.name = id_, name
        self.extra: JsonObject = {}
        self._written: list[str] = []

    def add(self, piece: str) -> None:
        self._written.append(piece)

    def call(self, position: int) -> ToolCall:
        written = "".join(self._written).strip()
        return ToolCall(self.id or f"call_{position}", self.name, _object(written or "{}"), written, self.extra)


def without_key(heard: Heard, key: str) -> Heard:
    """The same without the key it was asked with: an endpoint may quote it in a call, a thought or a refusal, too."""
    calls = tuple(
        call
        if (written := unquoted(call.written, key)) == call.written
        else replace(call, written=written, arguments=_object(written or "{}"))
        for call in heard.calls
    )
    thoughts, refused = unquoted(heard.thoughts, key), unquoted(heard.refused, key)
    return replace(heard, calls=calls, thoughts=thoughts, refused=refused)


def _object(written: str) -> JsonObject | None:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def text_of(value: object) -> str:
    """Content as text: a string, or the text parts of a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
    return ""
