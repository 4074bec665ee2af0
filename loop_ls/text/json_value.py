"""JSON values: what a file, a record or a message may hold where no type says more.

Whoever reads one has to ask what it is. Lists and objects inside are read-only to the type checker, so that a
`list[str]` is a JSON value, too. At run time nothing is checked, which keeps pydantic's models of them cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

T = TypeVar("T")

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
else:
    Json = object

JsonObject: TypeAlias = dict[str, Json]


def from_fields(make: Callable[..., T], fields: Mapping[str, object]) -> T:
    """The value whose fields were written down, by `asdict` of the same class."""
    return make(**fields)


def as_object(value: object) -> Mapping[str, Json]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def plain_object(fields: Mapping[str, object]) -> JsonObject:
    """An answer of a named type as the JSON object that it is, for those who pass it on."""
    return cast("JsonObject", fields)


def text_field(fields: Mapping[str, object], key: str) -> str:
    """A text of an object; empty where there is none."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def int_field(fields: Mapping[str, object], key: str) -> int | None:
    """A whole number of an object; None where there is none."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def float_field(fields: Mapping[str, object], key: str) -> float | None:
    """A number of an object; None where there is none."""
    value = fields.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
