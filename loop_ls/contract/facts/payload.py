"""Base of all fact payloads: camelCase on the wire, immutable, unknown fields ignored.

Fields that are None do not travel.
"""

from __future__ import annotations

from typing import ClassVar, NotRequired, Protocol

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from loop_ls.text.json_value import Json

#: A fact as it is journalled: its kind and its fields.
Fact = tuple[str, dict[str, Json]]


class Error(TypedDict):
    """A failure as data: which one, one sentence, what to do."""

    code: str
    message: str
    hint: NotRequired[str]


class Location(Protocol):
    """Where in a run something happens, as fields that every fact may have (`place`, `loop`, `iteration`, `depth`)."""

    def fields(self) -> dict[str, Json]: ...


class WireModel(BaseModel):
    """A value inside a fact: camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True, defer_build=True
    )


class Payload(WireModel):
    """What a fact says besides run, number and time."""

    kind: ClassVar[str] = ""

    def fact(self, place: Location | None = None) -> Fact:
        body = self.model_dump(by_alias=True, exclude_none=True)
        return self.kind, {**place.fields(), **body} if place else body


class ReportModel(BaseModel):
    """A part of a failure report: snake_case, and fields that a later version adds are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, defer_build=True)


class UnfixableFailure(ReportModel):
    failure: str
    reason: str
