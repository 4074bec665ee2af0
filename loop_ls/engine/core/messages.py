"""Tools in a conversation with a model: what is offered, what it asks for, what it is answered.

The same values for every provider; dialects write and read them in their own words. An exchange goes
to the journal as it is, so a run that was interrupted goes on in the middle of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NotRequired, TypedDict

from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.record import equal_record


@equal_record
class ToolSpec:
    """A tool as a model sees it. `schema` is the JSON Schema of its arguments."""

    name: str
    description: str = ""
    schema: Mapping[str, Json] = field(default_factory=dict)


class RecordedToolCall(TypedDict):
    """A `ToolCall` in the record."""

    id: str
    name: str
    written: NotRequired[str]
    arguments: JsonObject | None
    extra: NotRequired[JsonObject]


@equal_record
class ToolCall:
    """A model wants a tool. `arguments` is None where what it wrote (`written`) is no JSON object.

    `extra` is what its provider wants to get back with the call (signatures of thoughts).
    """

    id: str
    name: str
    arguments: Mapping[str, Json] | None
    written: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)

    def wire(self) -> RecordedToolCall:
        arguments = None if self.arguments is None else dict(self.arguments)
        found: RecordedToolCall = {"id": self.id, "name": self.name, "written": self.written, "arguments": arguments}
        if self.extra:
            found["extra"] = dict(self.extra)
        return found


@equal_record
class ToolAnswer:
    """What the model gets for one call. `failed`: the tool did not work, and the text says why."""

    id: str
    text: str
    failed: bool = False


@equal_record
class Turn:
    """One round: what the model said, which tools it asked for, and their answers in the same order.
    `thoughts` is reasoning that its provider wants to get back."""

    text: str
    calls: tuple[ToolCall, ...]
    answers: tuple[ToolAnswer, ...]
    thoughts: str = ""

    @property
    def texts(self) -> Iterator[str]:
        """Everything in it that is sent again with the next question."""
        yield self.text
        yield self.thoughts
        yield from (call.written for call in self.calls)
        yield from (answer.text for answer in self.answers)


def read_calls(written: Sequence[RecordedToolCall] | None) -> tuple[ToolCall, ...]:
    """The calls of a recorded answer."""
    return tuple(
        ToolCall(each["id"], each["name"], each["arguments"], each.get("written", ""), each.get("extra") or {})
        for each in written or ()
    )
