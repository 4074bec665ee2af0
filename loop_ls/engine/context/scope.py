"""What names mean at one place of a run: immutable values, all of them text.

A scope is handed on and copied with one more result, never changed, so a replayed or parallel
branch cannot see what it should not. Substituting names in a text is `engine.context.interpolation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

#: Names that belong to the language: an argument or a step of this name cannot be read (WF516).
RESERVED = frozenset({"env", "loop", "step"})


class LoopValues(Protocol):
    """The `loop.*` variables that hold at one place."""

    def get(self, name: str) -> str | None:
        """The value of `loop.<name>`, None where it does not exist."""
        ...


class NoLoop:
    """`loop.*` where no loop has run and none called this workflow."""

    def get(self, name: str) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything `{{name}}` can mean in one workflow run, at one moment."""

    input: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)  # `<rag step>.results` and the like
    loop: LoopValues = field(default_factory=NoLoop)

    def get(self, name: str) -> str | None:
        """The value of a name as written in a placeholder, None when nothing defines it."""
        if name == "input":
            return self.input
        head, _, rest = name.partition(".")
        if rest:
            found = self._dotted(head, rest)
            if found is not None:
                return found
            return self.parts.get(name, self.results.get(name, self.arguments.get(name)))
        if name in RESERVED:
            return None
        # A step takes an argument's name over as soon as it has finished.
        return self.results.get(name, self.arguments.get(name))

    def _dotted(self, head: str, rest: str) -> str | None:
        match head:
            case "env":
                return self.env.get(rest)
            case "loop":
                return self.loop.get(rest)
            case "step":
                return self.results.get(rest)
            case _:
                return None

    def with_loop(self, values: LoopValues) -> Scope:
        """The scope in which `loop.*` are these values."""
        return replace(self, loop=values)
