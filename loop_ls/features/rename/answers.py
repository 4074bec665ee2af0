"""What renaming answers: what may be renamed, the edits, or the reason why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from loop_ls.features.answers import Edits
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Span


@dataclass(frozen=True, slots=True)
class Renamable:
    """What `prepare` answers: the word to replace and its present text."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why not, in one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rename:
    """`edits` belong together. `prose`: the bare word in prompts of the file, for a person to confirm."""

    edits: Edits
    prose: Edits = field(default_factory=dict)


def gathered(edits: Iterable[tuple[str, TextEdit]]) -> Edits:
    """By file, each once and in order."""
    found: dict[str, list[TextEdit]] = {}
    for uri, edit in edits:
        found.setdefault(uri, []).append(edit)
    return {uri: tuple(sorted(set(own), key=lambda edit: edit.span)) for uri, own in found.items()}
