"""The values of criteria as their rules see them: texts with what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.formats.assistant.keys import REGEX, TEST_PASS
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.object_parts import Part
from loop_ls.formats.common.regex_check import compiled
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.rules.engine.context import Draft, draft, value_span
from loop_ls.rules.engine.finding import Fix
from loop_ls.rules.engine.object_view import ObjectView
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Scalar
from loop_ls.text.position import Span


class Value(NamedTuple):
    """A text behind `value`, and what it belongs to."""

    one: AssistantParts
    piece: Piece
    block: Block
    type: str
    field: Field
    text: str

    def found(self, message: str, *fix: Fix, tags: frozenset[str] = frozenset()) -> Draft:
        return draft(self.piece, value_span(self.field), message, fixes=fix, tags=tags)

    @property
    def scalar(self) -> Scalar | None:
        """The text as written here, not behind an alias."""
        return self.field.node if isinstance(self.field.node, Scalar) else None


class Judged(NamedTuple):
    """An assistant whose criteria have a type that can be read. `at` is where the type stands."""

    one: AssistantParts
    piece: Piece
    block: Block
    type: str
    at: Span


def judged(view: ObjectView, *types: str) -> Iterator[Judged]:
    """With criteria of these types; of any where none is named."""
    for one in view.assistants:
        match one.get("loopCriteria"), one.criteria_type:
            case Part(piece, Field(value=Block() as block)), str(own) if not types or own in types:
                yield Judged(one, piece, block, own, value_span(block.fields["type"]))


def values(view: ObjectView, *types: str) -> Iterator[Value]:
    for one, piece, block, own, _ in judged(view, *types):
        field = block.get("value")
        if field is None:
            continue
        text = text_of(field.node)
        if text is not None:
            yield Value(one, piece, block, own, field, text)


def patterns(view: ObjectView) -> Iterator[tuple[Value, str]]:
    """Patterns that compile, with their Python spelling."""
    for value in values(view, REGEX):
        source = compiled(value.text).source if value.text else None
        if source is not None:
            yield value, source


def commands(view: ObjectView) -> Iterator[Value]:
    """Commands that are used: exact words in `argv` win over them."""
    return (one for one in values(view, TEST_PASS) if one.text.strip() and not one.block.has("argv"))
