"""The changes that rules propose. Each is computed against the document as it is when it is wanted.

A fix whose piece is gone by then changes nothing. Layout is left to `syntax.edit.edits`, which keeps
style and comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from loop_ls.formats.common.typed_mapping import Block
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.finding import Fix, TextEdit, Tier
from loop_ls.rules.fixes.merge_blocks import merged
from loop_ls.rules.until.without_variable import without_variable
from loop_ls.syntax.edit import edits as layout
from loop_ls.syntax.edit.render import in_quotes, scalar_text
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.merge_conflicts import Conflict, conflict_fault
from loop_ls.syntax.nodes import Entry, Node, Scalar, Style
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span

Edits = Callable[[Document], tuple[TextEdit, ...]]

_QUOTES = {"'": Style.SINGLE, '"': Style.DOUBLE}


def replace(piece: Piece, span: Span, text: str, title: str, tier: Tier = Tier.SAFE) -> Fix:
    def change(document: Document) -> tuple[TextEdit, ...]:
        return (TextEdit(document.absolute(piece, span), text),)

    return fix_of(title, change, tier)


def reword(piece: Piece, span: Span, new: str) -> Fix:
    """Another word for the same place, in the quotes that are there, or on one line; an alias is left alone."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        place = _without_line_end(document, document.absolute(piece, span))
        first = document.text.slice(place)[:1]
        if first == "*":
            return ()
        style = _QUOTES.get(first)
        written = in_quotes(new, style) if style is not None else None
        return (TextEdit(place, written or scalar_text(new, True)),)

    return fix_of(f"Change to `{shortened(new)}`", change)


def _without_line_end(document: Document, span: Span) -> Span:
    """A block of text without the line break behind it, which stays."""
    start, end = span
    if end.column == 0 and end.line > start.line:
        end = Position(end.line - 1, len(document.text.line(end.line - 1)))
    return Span(start, end)


def on_one_line(piece: Piece, node: Node | None, as_text: bool = True) -> tuple[Fix, ...]:
    """A short text out of its block: `name: |` and a line below it become one line. Nothing for other texts."""
    if not isinstance(node, Scalar) or not node.style.block or not node.text.strip() or "\n" in node.text.strip():
        return ()

    def change(document: Document) -> tuple[TextEdit, ...]:
        text = node.text.strip()
        place = _without_line_end(document, document.absolute(piece, node.span))
        return (TextEdit(place, scalar_text(text, True) if as_text else text),)

    return (fix_of("Write it on one line", change),)


def quote(piece: Piece, span: Span) -> Fix:
    """Quotes around a value that YAML would take for something else."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        place = document.absolute(piece, span)
        written = document.text.slice(place)
        quoted = in_quotes(written, Style.DOUBLE)
        return () if quoted is None else (TextEdit(place, quoted),)

    return fix_of("Add quotes", change)


def quote_whole(piece: Piece, span: Span) -> Fix:
    """Quotes around a text that cannot be read without them; nothing where it can neither with them."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        place = document.absolute(piece, span)
        quoted = in_quotes(document.text.slice(place), Style.DOUBLE)
        after = document.edit(place, quoted)
        return (TextEdit(place, quoted),) if _faults(after) < _faults(document) else ()

    return fix_of("Add quotes", change)


def _faults(document: Document) -> int:
    return len(document.tree.faults) + sum(len(piece.faults) for piece in document.tree.pieces)


def plain_blanks() -> Fix:
    """Spaces wherever in the file something stands in front of words that only looks like a space."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        spans = [
            document.absolute(piece, fault.span)
            for piece in document.tree.pieces
            for fault in piece.faults
            if fault.code == "odd-blank"
        ]
        return tuple(TextEdit(span, _plain_blanks(document.text.slice(span))) for span in spans)

    return fix_of("Replace with plain spaces", change)


def _plain_blanks(text: str) -> str:
    """As wide as it looks: some of these signs have no width."""
    return "".join("" if sign in "\u200b\u2060\ufeff" else " " if sign != "\t" else sign for sign in text)


def wrap(piece: Piece, span: Span, before: str, after: str, title: str) -> Fix:
    def change(document: Document) -> tuple[TextEdit, ...]:
        start, end = document.absolute(piece, span)
        return TextEdit(Span(start, start), before), TextEdit(Span(end, end), after)

    return fix_of(title, change)


def bracket(piece: Piece, span: Span) -> Fix:
    return wrap(piece, span, "[", "]", "Change to a list")


def set_key(piece: Piece, block: Block, key: str, value: str, title: str, tier: Tier = Tier.SAFE) -> Fix:
    """The value of a key: in place of the one that stands there, behind its colon, or with a new key at the end of
    the mapping. What a merge brings is left alone."""
    field = block.fields.get(key)
    own = field if field is not None and not field.entry.merged else None

    def change(document: Document) -> tuple[TextEdit, ...]:
        if own is None:
            return _taken(layout.insert_entry(document.tree, piece, block.node, key, value))
        if own.node is not None:
            return (TextEdit(document.absolute(piece, own.span), value),)
        end = document.absolute(piece, own.entry.key.span).end
        colon = document.text.line(end.line).index(":", end.column) + 1
        place = Position(end.line, colon)
        return (TextEdit(Span(place, place), f" {value}"),)

    return fix_of(title, change, tier)


def remove_key(piece: Piece, block: Block, entry: Entry, tier: Tier = Tier.SAFE) -> Fix:
    def change(document: Document) -> tuple[TextEdit, ...]:
        return _taken(layout.remove_entry(document.tree, piece, block.node, entry))

    return Fix(f"Remove `{entry.key.text}`", guarded(change), tier)


def add_need(element: Element, name: str) -> Fix:
    def change(document: Document) -> tuple[TextEdit, ...]:
        found = layout.add_to_list(document.tree, element.piece, element.block.node, "needs", name, after="name")
        return _taken(found)

    return fix_of(f"Add `{name}` to `needs`", change)


def also_needed(fix: Fix, element: Element, name: str) -> Fix:
    """A fix that makes a step use a result, together with the entry in `needs` that this takes."""
    need = add_need(element, name)
    return Fix(fix.title, lambda document: (*fix.edits(document), *need.edits(document)), fix.tier, fix.preferred)


def add_schema(schema: str) -> Fix:
    """To be reviewed: a file that becomes a workflow is loaded, checked and run as one."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        line = f"$schema: {schema}{document.text.eol}"
        return (TextEdit(Span(Position(0, 0), Position(0, 0)), line),)

    return fix_of(f"Add `$schema: {schema}`", change, Tier.REVIEW)


def condition_without(piece: Piece, scalar: Scalar, name: str, number: int) -> Fix | None:
    """The condition without the placeholder that is the `number`-th one of this name in it; None where no sentence
    without it says the same."""
    text = _condition_without(scalar.text, name, number)
    return None if text is None else write_text(piece, scalar, text, f"Remove `{{{{{name}}}}}` from the condition")


def _condition_without(condition: str, name: str, number: int) -> str | None:
    found = list(re.finditer(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}", condition))
    return without_variable(condition, *found[number].span(), name) if number < len(found) else None


def write_text(piece: Piece, scalar: Scalar, text: str, title: str) -> Fix:
    """Another text for a scalar, in the style that is there; to be reviewed."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        return _taken(layout.set_scalar(document.tree, piece, scalar, text))

    return fix_of(title, change, Tier.REVIEW)


def merge_section(later: Piece, first: Piece, name: str) -> Fix:
    """Move the entries of a repeated `steps` or `loops` block behind those of the first one."""
    return fix_of(f"Merge these entries into the first `{name}`", lambda document: merged(document, first, later))


def resolved_conflict(fault: Fault) -> tuple[Fix, ...]:
    """What may be kept of a merge conflict; of a marker that is left over, nothing."""

    def keep(sides: Callable[[Conflict], list[tuple[int, int]]]) -> Edits:
        def change(document: Document) -> tuple[TextEdit, ...]:
            text = document.text
            for conflict in document.tree.conflicts:
                if conflict_fault(text, conflict) == fault:
                    kept = "".join(text.slice(_rows(document, *side)) for side in sides(conflict))
                    return (TextEdit(_rows(document, conflict.first, conflict.last + 1), kept),)
            return ()

        return change

    if fault.span.start.line == fault.span.end.line:
        return (Fix("Remove the marker line", keep(lambda _: []), Tier.REVIEW, only_by_hand=True),)
    return tuple(
        Fix(title, keep(sides), Tier.REVIEW, only_by_hand=True)
        for title, sides in (
            ("Accept the current change", lambda one: [one.current()]),
            ("Accept the incoming change", lambda one: [one.incoming()]),
            ("Accept both changes", lambda one: [one.current(), one.incoming()]),
        )
    )


def _rows(document: Document, first: int, end: int) -> Span:
    """From the beginning of one line to that of another, or to the end of the text."""
    return Span(Position(first, 0), document.text.clamp(Position(end, 0)))


def fix_of(title: str, change: Edits, tier: Tier = Tier.SAFE) -> Fix:
    """What is safe is what an editor offers first."""
    return Fix(title, guarded(change), tier, tier is Tier.SAFE)


def guarded(change: Edits) -> Edits:
    """Nothing for a document that no longer holds the piece."""

    def edits(document: Document) -> tuple[TextEdit, ...]:
        try:
            return change(document)
        except (LookupError, ValueError):
            return ()

    return edits


def _taken(edits: Iterable[layout.Edit]) -> tuple[TextEdit, ...]:
    return tuple(TextEdit(edit.span, edit.text) for edit in edits)
