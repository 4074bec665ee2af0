"""What a called workflow receives: the values of `with` and its `{{input}}`.

Text is interpolated in the caller first; lists and mappings become compact JSON afterwards, so a
value with quotes cannot break the JSON around it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.scope import Scope
from loop_ls.formats.workflow.model import Argument


class ArgumentFault(ValueError):
    """`with` cannot be turned into arguments; the text says why."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The variables of a callee and the text of its `{{input}}`. `unknown` names stayed as written."""

    values: dict[str, str]
    input: str
    unknown: tuple[str, ...] = ()


def build_arguments(written: Mapping[str, Argument] | None, scope: Scope, without: str = "") -> Arguments:
    """The arguments of a template or a refine loop.

    `without` is the callee's input when there is no `with` at all: the previous output for a loop,
    empty text for a template (D49).
    """
    if not written:
        return Arguments({}, without)
    if isinstance(written.get("input"), list | dict):
        raise ArgumentFault("`with.input` must be a string, not a list or a mapping (WF608)")
    plain, unknown = _interpolated(written, scope)
    texts = {key: as_text(value) for key, value in plain.items()}
    lines = "\n".join(f"{key}: {text}" for key, text in texts.items())
    return Arguments(texts, texts.get("input", lines), unknown)


def build_item_arguments(written: Mapping[str, Argument] | None, item: Argument, scope: Scope) -> Arguments:
    """The arguments for one item of an iterate loop: its `{{input}}` is always a JSON object."""
    plain, unknown = _interpolated(written or {}, scope)
    plain["item"] = item
    texts = {key: as_text(value) for key, value in plain.items()}
    return Arguments(texts, _compact(plain, sort_keys=True), unknown)


def as_text(value: Argument) -> str:
    """A value as the callee's variable: text as it is, everything else as it would be written."""
    match value:
        case str():
            return value
        case None:
            return ""
        case _:
            return _compact(value)


def _interpolated(written: Mapping[str, Argument], scope: Scope) -> tuple[dict[str, Argument], tuple[str, ...]]:
    unknown: dict[str, None] = {}

    def fill(value: Argument) -> Argument:
        match value:
            case str():
                rendered = interpolate(value, scope)
                unknown.update(dict.fromkeys(rendered.unknown))
                return rendered.text
            case list():
                return [fill(part) for part in value]
            case dict():
                return {key: fill(part) for key, part in value.items()}
            case _:
                return value

    return {key: fill(value) for key, value in written.items()}, tuple(unknown)


def _compact(value: Argument, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
