"""A tool and what it answered, as plain values: they outlive the session and go to the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loop_ls.text.json_value import Json

#: What a model is shown of one answer; more would push everything else out of its context.
MOST_CHARACTERS = 50_000


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one server. `schema` is the JSON Schema of its arguments."""

    server: str
    name: str
    description: str = ""
    schema: Mapping[str, Json] = field(default_factory=dict)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered, as text. `failed`: the tool itself says that it did not work."""

    text: str
    failed: bool = False

    def shown(self, most: int = MOST_CHARACTERS) -> str:
        """The text, its middle left out where it is too long; start and end say the most."""
        if len(self.text) <= most:
            return self.text
        half = most // 2
        left_out = len(self.text) - 2 * half
        return f"{self.text[:half]}\n[… {left_out} characters omitted …]\n{self.text[-half:]}"
