"""The closed list of what a planner may ask for, each with the fields it has.

Only form is checked here: names, types and ranges. Whether an operation fits the workflow is decided
on a working copy (see `enhance.plan.apply`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from loop_ls.text.json_value import Json

NAME = re.compile(r"[A-Za-z0-9_-]+")


class Rejection(NamedTuple):
    """Why an operation is not taken: one of the codes of 8.5, and a sentence."""

    code: str
    message: str


class Rejected(Exception):
    """Raised by checks; the plan goes on without the operation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.rejection = Rejection(code, message)


@dataclass(frozen=True, slots=True)
class Operation:
    """One change as proposed. `fields` are those of its kind, checked; `addresses` are failure ids; `file` is the
    called workflow that it is about, empty for the workflow itself."""

    op: str
    fields: Mapping[str, Json]
    reason: str = ""
    addresses: tuple[str, ...] = ()
    file: str = ""

    @property
    def place(self) -> str:
        """What it is about, for people."""
        return f"{self.target} in {self.file}" if self.file else self.target

    @property
    def target(self) -> str:
        """The element that it changes or adds."""
        return str(self.fields.get("target") or self.fields.get("name") or "")

    def text(self, name: str) -> str:
        """A field that is a text, as is checked when the operation is read."""
        return cast("str", self.fields[name])

    def names(self, name: str) -> list[str]:
        """A field that is a list of names; empty where it is left out."""
        return cast("list[str]", self.fields.get(name, []))

    def count(self, name: str) -> int:
        """A field that is a whole number; 0 where it is left out."""
        return cast("int", self.fields.get(name, 0))

    def wire(self) -> dict[str, Json]:
        file: dict[str, Json] = {"file": self.file} if self.file else {}
        return {"op": self.op, **self.fields, **file, "reason": self.reason, "addresses": list(self.addresses)}


class Field(NamedTuple):
    """`check` answers what is expected instead, None where a value is right. Out-of-range values
    have a code of their own, so `check` gives `(code, expected)`."""

    check: Callable[[Json], tuple[str, str] | None]
    schema: Mapping[str, Json]
    required: bool = True


@dataclass(frozen=True, slots=True)
class OperationKind:
    """`either`: exactly one of these fields; `some`: at least one of them."""

    fields: Mapping[str, Field]
    either: tuple[str, ...] = ()
    some: tuple[str, ...] = field(default=())

    def signature(self, op: str) -> str:
        """The operation as the planner is shown it: `set_retries(target, max_retries: 0 to 5, retry_delay?)`."""
        return f"{op}({', '.join(_shown(name, one) for name, one in self.fields.items())})"


def _shown(name: str, field: Field) -> str:
    schema, optional = field.schema, "" if field.required else "?"
    match schema:
        case {"enum": [*choices]}:
            return f"{name}{optional}: {'|'.join(map(str, choices))}"
        case {"minimum": low, "maximum": high}:
            return f"{name}{optional}: {low} to {high}"
        case {"description": str(said)}:
            return f"{name}{optional}: {said}"
        case {"type": "array", "items": {"properties": {**parts}}}:
            return f"{name}{optional}: [{{{', '.join(map(str, parts))}}}]"
        case {"type": "array"}:
            return f"{name}{optional}: [names]"
        case {"type": "object", "properties": {**parts}}:
            return f"{name}{optional}: {{{', '.join(map(str, parts))}}}"
        case {"maxLength": most}:
            return f"{name}{optional}: text up to {most}"
        case _:
            return f"{name}{optional}"


# -- fields ------------------------------------------------------------------------------------------


def text(most: int | None = None, least: int = 1, required: bool = True) -> Field:
    schema: dict[str, Json] = {"type": "string", "minLength": least, **({"maxLength": most} if most else {})}

    def check(value: Json) -> tuple[str, str] | None:
        if not isinstance(value, str) or len(value.strip()) < least:
            return "bad_fields", "a text"
        if most is not None and len(value) > most:
            return "out_of_range", f"at most {most} characters"
        return None

    return Field(check, schema, required)


def text_or_null() -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        fits = value is None or (isinstance(value, str) and value.strip())
        return None if fits else ("bad_fields", "a string or null")

    return Field(check, {"type": ["string", "null"]})


def name(required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        good = isinstance(value, str) and NAME.fullmatch(value) is not None
        return None if good else ("bad_fields", "a name of letters, digits, `_` and `-`")

    return Field(check, {"type": "string", "pattern": f"^{NAME.pattern}$"}, required)


def choice(*values: str, required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        return None if value in values else ("bad_fields", "one of " + ", ".join(f"`{one}`" for one in values))

    return Field(check, {"enum": list(values)}, required)


def whole(least: int, most: int, required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return "bad_fields", "an integer"
        return None if least <= value <= most else ("out_of_range", f"{least} to {most}")

    return Field(check, {"type": "integer", "minimum": least, "maximum": most}, required)


def number(least: float, most: float, required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "bad_fields", "a number"
        return None if least <= value <= most else ("out_of_range", f"{least:g} to {most:g}")

    return Field(check, {"type": "number", "minimum": least, "maximum": most}, required)


def names(required: bool = True) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        good = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        return None if good else ("bad_fields", "a list of names")

    return Field(check, {"type": "array", "items": {"type": "string"}}, required)


def arguments(required: bool = False) -> Field:
    def check(value: Json) -> tuple[str, str] | None:
        good = isinstance(value, dict) and all(isinstance(one, str | int | float | bool) for one in value.values())
        return None if good else ("bad_fields", "a mapping of names to strings")

    return Field(check, {"type": "object"}, required)
