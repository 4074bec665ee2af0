"""JSON Schema of checks: whether a schema is one, and what in a value does not fit it.

Nothing is fetched: a `$ref` leads only into the schema itself. A pattern in it is searched with the limit of time
that every pattern of a file has. A few references that name others twice are billions: the whole has a limit, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from typing import Protocol

from loop_ls.formats.common.regex_check import compiled, found_in
from loop_ls.text.json_value import Json

#: Seconds for one search.
PATTERN_LIMIT = 5.0
#: Seconds for all that one value is held against.
SCHEMA_LIMIT = 10.0
_until: ContextVar[float] = ContextVar("schema deadline", default=math.inf)


class TookTooLong(Exception):
    """Nobody knows whether the value fits."""


class Unresolved(Exception):
    """Nobody knows either: a reference in the schema leads nowhere."""


class _Misfit(Protocol):
    message: str
    json_path: str


class _Validator(Protocol):
    def iter_errors(self, value: Json) -> Iterable[_Misfit]: ...


def schema_problem(schema: Json) -> str:
    """Why this is no JSON Schema; empty: it is one."""
    if not isinstance(schema, dict | bool):
        return "a JSON Schema is a mapping"
    validators, exceptions = import_module("jsonschema.validators"), import_module("jsonschema.exceptions")
    try:
        validators.Draft202012Validator.check_schema(schema)
    except exceptions.SchemaError as error:
        return _told(error)
    except RecursionError:
        return "it is nested too deeply"
    return ""


def misfit(value: Json, schema: Json, limit: float = SCHEMA_LIMIT) -> str:
    """The first thing that does not fit, with its path; empty: all of it does. Raises `TookTooLong` and
    `Unresolved`."""
    unresolvable = import_module("referencing.exceptions").Unresolvable
    validator = _validator()(schema, registry=import_module("referencing").Registry())
    before = _until.set(time.monotonic() + limit)
    try:
        return next(map(_told, validator.iter_errors(value)), "")
    except (unresolvable, RecursionError) as error:
        raise Unresolved(f"the references in the schema cannot be resolved: {error}") from None
    finally:
        _until.reset(before)


def _told(error: _Misfit) -> str:
    return error.message if error.json_path == "$" else f"{error.json_path}: {error.message}"


@lru_cache(maxsize=1)
def _validator() -> Callable[..., _Validator]:
    validators, exceptions = import_module("jsonschema.validators"), import_module("jsonschema.exceptions")

    def pattern(validator: object, written: str, instance: Json, schema: Json) -> Iterator[Exception]:
        source = compiled(written).source
        if not isinstance(instance, str):
            return
        found = False if source is None else found_in(source, instance, PATTERN_LIMIT, exact_case=True)
        if found is None:
            raise TookTooLong
        if not found:
            yield exceptions.ValidationError(f"{instance!r} does not match {written!r}")

    plain = validators.Draft202012Validator
    own = {"pattern": pattern, **{name: _in_time(plain.VALIDATORS[name]) for name in ("$ref", "$dynamicRef")}}
    found: Callable[..., _Validator] = validators.extend(plain, own)
    return found


def _in_time(followed: Callable[..., Iterable[Exception] | None]) -> Callable[..., Iterator[Exception]]:
    def reference(validator: object, written: str, instance: Json, schema: Json) -> Iterator[Exception]:
        if time.monotonic() > _until.get():
            raise TookTooLong
        yield from followed(validator, written, instance, schema) or ()

    return reference
