"""What an agent says on its standard output, understood while it comes.

Each agent has a speech of its own; all of them end in the same values. Lines that are not understood are
kept: when nothing else came, they are the only clue to what went wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from loop_ls.engine.core.ports import LONGEST_ANSWER
from loop_ls.engine.runners.runner import Hear
from loop_ls.engine.runners.usage_windows import Window
from loop_ls.text.json_value import JsonObject

#: Of a clue, so much is told.
CLUE = 500

#: No amount of money or tokens is larger.
MOST = 10**12


class TooMuch(Exception):
    """The answer is longer than any that can be used."""


@dataclass(slots=True)
class AgentOutput:
    """`output` None: no text came. `error` is what the agent itself calls a failure; `exhausted`: its own field
    or event says that a usage limit, quota or credit is used up, `resets_at` (Unix time) until when."""

    output: str | None = None
    error: str | None = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0  # of the input tokens
    usd: float | None = None
    exhausted: bool = False
    resets_at: float | None = None
    unfinished: bool = False  # it says when it is finished, and has not
    used_up: bool = False  # it ended because it had taken the steps that it may take
    windows: tuple[Window, ...] = ()  # of its account's usage, as far as it says so
    clues: list[str] = field(default_factory=list)

    def keep_clue(self, line: str) -> None:
        """The first ones are enough."""
        if sum(map(len, self.clues)) < CLUE:
            self.clues.append(line[:CLUE])

    @property
    def clue(self) -> str:
        return "\n".join(self.clues)[:CLUE].strip()


@runtime_checkable
class HearsAside(Protocol):
    """Of an agent that says something on its standard error that is no error."""

    def aside(self, line: str) -> bool:
        """Whether this line is such a thing, which has been understood."""
        ...


@runtime_checkable
class CountsSteps(Protocol):
    """Of an agent that takes no number of steps, but tells each of them."""

    def goes_on_after(self, steps: int) -> bool:
        """Whether it works on after so many model calls."""
        ...


class OutputParser(Protocol):
    """One for each process."""

    def line(self, line: str) -> bool:
        """Whether it shows that the agent works; that it tries to reach its service again shows nothing."""
        ...

    def heard(self) -> AgentOutput: ...


class PlainOutput:
    """A program that simply prints its answer."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._lines: list[str] = []
        self._length = 0

    def line(self, line: str) -> bool:
        self._length = longer(self._length, line)
        self._lines.append(line)
        self._hear(line + "\n")
        return True

    def heard(self) -> AgentOutput:
        text = "\n".join(self._lines)
        return AgentOutput(output=text if text.strip() else None)


def longer(length: int, text: str) -> int:
    """The length with this text. Raises `TooMuch`."""
    length += len(text) + 1
    if length > LONGEST_ANSWER:
        raise TooMuch
    return length


def parsed(line: str) -> JsonObject | None:
    """The JSON object of a line; None for anything else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def number(value: object) -> float | None:
    """An amount as a program tells it; None where it is none: JSON has infinities, and nobody gives money back."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= MOST else None


def count(value: object) -> int:
    return int(number(value) or 0)


def text(value: object) -> str:
    return value if isinstance(value, str) else ""
