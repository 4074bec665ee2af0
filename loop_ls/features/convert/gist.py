"""What loops of all formats have in common: parts that take turns, a condition, a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Ref(NamedTuple):
    """A place in a prompt where something is put in: the goal, the outcome of the round before, what
    an earlier part of this round gave (`name`), or a parameter."""

    kind: Literal["goal", "before", "part", "parameter"]
    name: str = ""


Prompt = tuple[str | Ref, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One turn in every round. `implied`: goal and earlier outcomes come along without being written."""

    name: str
    prompt: Prompt
    role: str | None = None
    implied: bool = False


class Parameter(NamedTuple):
    name: str
    description: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Gist:
    """`until` is None for loops that only count, that a `person` ends, or the clock after `seconds`.
    `lost` are sentences: what of the source has no place here."""

    name: str
    description: str
    parts: tuple[Part, ...]
    until: Prompt | None
    limit: int
    parameters: tuple[Parameter, ...] = ()
    provider: str | None = None
    model: str | None = None
    person: bool = False
    seconds: int | None = None
    lost: tuple[str, ...] = ()


class Converted(NamedTuple):
    """The new files by path, and what got lost on the way."""

    files: dict[str, str]
    lost: tuple[str, ...]


class NoConversion(Exception):
    """Nothing sensible can be written; the text says why, in one sentence."""


def with_context(part: Part, earlier: tuple[Part, ...]) -> Prompt:
    """The prompt with everything written out that came along by itself."""
    if not part.implied:
        return part.prompt
    pieces: list[str | Ref] = [*part.prompt, "\n\nThe goal:\n", Ref("goal")]
    for one in earlier:
        pieces += [f"\n\nWhat {one.name} gave:\n", Ref("part", one.name)]
    return (*pieces, "\n\nThe outcome of the round before (empty in the first round):\n", Ref("before"))
