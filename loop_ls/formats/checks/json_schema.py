"""JSON Schema of checks: whether a schema is one, and what in a value does not fit it.

Nothing is fetched: a `$ref` leads only into the schema itself. A pattern in it is searched with the limit of time
that every pattern of a file has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Protocol

from loop_ls.formats.common.regex_check import compiled, found_in
from loop_ls.text.json_value import Json

#: Seconds for one search.
PATTERN_LIMIT = 5.0


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


def misfit(value: Json, schema: Json) -> str:
    """The first thing that does not fit, with its path; empty: all of it does."""
    unresolvable = import_module("referencing.exceptions").Unresolvable
    validator = _validator()(schema, registry=import_module("referencing").Registry())
    try:
        return next(map(_told, validator.iter_errors(value)), "")
    except (unresolvable, RecursionError) as error:
        return f"the references in the schema cannot be resolved: {error}"


def _told(error: _Misfit) -> str:
    return error.message if error.json_path == "$" else f"{error.json_path}: {error.message}"


@lru_cache(maxsize=1)
def _validator() -> Callable[..., _Validator]:
    validators, exceptions = import_module("jsonschema.validators"), import_module("jsonschema.exceptions")

    def pattern(validator: object, written: str, instance: Json, schema: Json) -> Iterator[Exception]:
        source = compiled(written).source
        if isinstance(instance, str) and (
            source is None or not found_in(source, instance, PATTERN_LIMIT, exact_case=True)
        ):
            yield exceptions.ValidationError(f"{instance!r} does not match {written!r}")

    found: Callable[..., _Validator] = validators.extend(validators.Draft202012Validator, {"pattern": pattern})
    return found
