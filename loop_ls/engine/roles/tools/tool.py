"""A tool of a stage: how a model sees it, what it does, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from loop_ls.engine.core.messages import ToolSpec
from loop_ls.text.json_value import Json, JsonObject

Arguments = Mapping[str, Json]
#: Characters of one answer; more would push everything else out of a model's context.
MOST = 50_000
#: Digits of a number: no file has more lines.
LONGEST_NUMBER = 12


class Refusal(Exception):
    """The tool does not do this; the sentence goes to the model."""


@dataclass(frozen=True, slots=True)
class RoleTool:
    """`run` gives the text that the model gets. Raises `Refusal`."""

    spec: ToolSpec
    run: Callable[[Arguments], Awaitable[str]]

    @property
    def name(self) -> str:
        return self.spec.name


def spec(name: str, description: str, **parameters: str | tuple[str, ...]) -> ToolSpec:
    """A tool with parameters that are texts: what each means; a tuple lists what it may be. A name that
    ends in `_` is optional."""
    properties: JsonObject = {}
    for key, meaning in parameters.items():
        told = {"enum": list(meaning)} if isinstance(meaning, tuple) else {"description": meaning}
        properties[key.removesuffix("_")] = {"type": "string", **told}
    required = [key for key in parameters if not key.endswith("_")]
    return ToolSpec(
        name,
        description,
        {"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    )


def text(arguments: Arguments, name: str, otherwise: str | None = None) -> str:
    """An argument as text. Raises `Refusal` where it is missing or something else."""
    value = arguments.get(name)
    if value is None and otherwise is not None:
        return otherwise
    if isinstance(value, bool | int | float):
        return str(value)
    if not isinstance(value, str):
        raise Refusal(f"`{name}` is required and must be a string.")
    return value


def number(arguments: Arguments, name: str, otherwise: int) -> int:
    written = text(arguments, name, str(otherwise)).strip()
    if not written.isascii() or not written.isdigit() or len(written) > LONGEST_NUMBER:
        raise Refusal(f"`{name}` must be an integer from 0, not `{written[:40]}`.")
    return int(written)


def shortened(answer: str, most: int = MOST) -> str:
    """An answer of bearable length: its beginning and its end."""
    if len(answer) <= most:
        return answer
    half = most // 2
    return f"{answer[:half]}\n[… {len(answer) - most} characters omitted …]\n{answer[-half:]}"
