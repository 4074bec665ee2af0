"""Validation at the border: an object against the type of its operation or command, refused in one sentence.

The types are loaded when the first object comes: that takes a moment, so a program that may not wait calls `load`
in a thread before.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter
    from pydantic_core import ErrorDetails


_REQUESTS = "loop_ls.contract.requests"


class Problem(NamedTuple):
    """What is wrong with an object: the name of the field (empty: the object itself), and one sentence. `missing`: the
    field is needed, and is not there."""

    field: str
    message: str
    missing: bool = False


@cache
def request_type(name: str) -> type[BaseModel]:
    """The type of `contract.requests` with this name."""
    found: type[BaseModel] = getattr(importlib.import_module(_REQUESTS), name)
    return found


@cache
def answer_type(name: str) -> TypeAdapter[object]:
    """The type of `contract.answers` with this name."""
    from pydantic import TypeAdapter

    return TypeAdapter(getattr(importlib.import_module("loop_ls.contract.answers"), name))


def load() -> None:
    """Import what checks need, so that none of them waits for it."""
    importlib.import_module(_REQUESTS)


def loaded() -> bool:
    return _REQUESTS in sys.modules


def problem_of(name: str, given: object, subject: str = "The request") -> Problem | None:
    """What is wrong with an object that should be a `contract.requests` type; None: nothing.

    `subject` begins the sentence about a field that is missing."""
    if not isinstance(given, Mapping):
        return Problem("", f"{subject} must be an object.")
    from pydantic import ValidationError

    try:
        request_type(name).model_validate(given)
    except ValidationError as error:
        return _worded(error.errors(include_url=False, include_input=False), subject)
    return None


#: Names that unions put into the place of an error, besides those with brackets.
_TAGS = frozenset({"str", "int", "bool", "float", "nullable"})


def _field(error: ErrorDetails) -> str:
    return ".".join(str(part) for part in error["loc"] if part not in _TAGS and "[" not in str(part))


def _worded(errors: list[ErrorDetails], subject: str) -> Problem:
    """The first field that is wrong. Of a union, each member has its say."""
    first = _field(errors[0])
    of_field = [error for error in errors if _field(error) == first]
    own = next((error["ctx"]["error"] for error in of_field if error["type"] == "value_error"), None)
    if own is not None:
        return Problem(first, str(own))
    if of_field[0]["type"] == "missing":
        return Problem(first, f"{subject} needs `{first}`.", missing=True)
    words = list(dict.fromkeys(_WORDS.get(error["type"], _otherwise)(error) for error in of_field))
    return Problem(first, f"`{first}` {' or '.join(words).replace(' or must be ', ' or ')}.")


def _must_be(what: str) -> Callable[[ErrorDetails], str]:
    return lambda error: f"must be {what}"


def _otherwise(error: ErrorDetails) -> str:
    said = error["msg"]
    return f"is not valid: {said[0].lower()}{said[1:]}"


def _one_of(error: ErrorDetails) -> str:
    return f"must be one of {error['ctx']['expected'].replace(' or ', ', ').replace(chr(39), '`')}"


_WORDS: dict[str, Callable[[ErrorDetails], str]] = {
    "string_type": _must_be("a text"),
    "string_unicode": _must_be("a string without lone surrogates"),
    "string_too_short": _must_be("a non-empty string"),
    "string_too_long": lambda error: f"must have at most {error['ctx']['max_length']} characters",
    "int_type": _must_be("an integer"),
    "float_type": _must_be("a number"),
    "bool_type": _must_be("true or false"),
    "dict_type": _must_be("an object"),
    "model_type": _must_be("an object"),
    "model_attributes_type": _must_be("an object"),
    "list_type": _must_be("a list"),
    "greater_than_equal": lambda error: f"must be at least {error['ctx']['ge']}",
    "literal_error": _one_of,
    "extra_forbidden": lambda error: "is unknown",
}
