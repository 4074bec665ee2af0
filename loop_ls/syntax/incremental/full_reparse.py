"""Whether a document must be read as a whole, and reading it so.

A whole document is one chunk whose pieces count their places from line 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from loop_ls.syntax.incremental.aliases import is_too_much
from loop_ls.syntax.incremental.piece import Chunk, Source, pieces
from loop_ls.syntax.incremental.split import START
from loop_ls.syntax.merge_conflicts import without_markers
from loop_ls.syntax.yaml.compose import completes_behind, compose
from loop_ls.syntax.yaml.composed import Composed
from loop_ls.syntax.yaml.refusal import Rejected
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span


def read_whole(chunks: list[Chunk], flagged: tuple[Chunk, ...]) -> Chunk | None:
    """The document as one chunk where the cut is not to be trusted and libyaml reads it; else None."""
    if not _doubtful(chunks, flagged):
        return None
    lines = tuple(chain.from_iterable(chunk.lines for chunk in chunks if not ends_document(chunk)))
    try:
        composed = compose(without_markers(lines), more=ends_document(chunks[-1]))
    except Rejected:
        return None
    return _chunk(lines, composed)


def _chunk(lines: tuple[str, ...], composed: Composed) -> Chunk:
    found = pieces(composed.node, Source(lines, None, composed.faults), "root")
    return Chunk(lines, "root", START, START, "end", found, 0, anchors=composed.anchors, missing=composed.missing)


def _doubtful(chunks: list[Chunk], flagged: tuple[Chunk, ...]) -> bool:
    for chunk in flagged:
        if chunk.doubt:
            return True
        if chunk.refused:
            return chunk.ended and _goes_on(chunks, chunk)
    return is_too_much(flagged)


def _goes_on(chunks: list[Chunk], chunk: Chunk) -> bool:
    """Whether what follows completes a chunk that ends too early (a quote closed further down)."""
    at = chunks.index(chunk)
    rest = (line for later in chunks[at:] if not ends_document(later) for line in later.lines)
    return completes_behind(without_markers(tuple(rest)), len(chunk.lines))


def unknown_anchors(chunks: Iterable[tuple[Chunk, int]]) -> Iterator[Fault]:
    """A fault for each alias whose anchor stands nowhere in front of it. Chunks come with their first line."""
    seen: set[str] = set()
    for chunk, start in chunks:
        for alias in chunk.missing:
            if alias.name not in seen:
                sentence = f"Unknown alias `*{alias.name}`: no anchor `&{alias.name}` comes before it."
                yield Fault(alias.span.shift(start), sentence, "unknown-anchor")
        seen.update(one.name for one in chunk.anchors)


def ends_document(chunk: Chunk) -> bool:
    """Whether nothing from here on belongs to the first document. A `%` may stand in a quoted text."""
    return chunk.kind == "tail" and chunk.lines[0].startswith(("---", "..."))


def second_document(last: Chunk, start: int) -> tuple[Fault, ...]:
    """The fault of a file with more than one document: only the first one counts."""
    if last.kind != "tail":
        return ()
    first, *rest = last.lines
    if last.pieces[0].tolerant:
        span = Span(Position(start, 0), Position(start, max(1, len(first))))
        sentence = (
            "The rest of the file is ignored: too many lines above are not valid YAML; is this another kind of file?"
        )
        return (Fault(span, sentence, "too-many-faults"),)
    if first[0] == "%":
        span = Span(Position(start, 0), Position(start, len(first)))
        sentence = "`%` starts a directive, which ends the document; everything below is ignored. Remove it."
        return (Fault(span, sentence, "directive"),)
    if not any(line.strip() and not line.lstrip().startswith("#") for line in (first[3:], *rest)):
        return ()
    span = Span(Position(start, 0), Position(start, 3))
    sentence = f"`{first[:3]}` ends the document; everything below is ignored. Move it to a separate file."
    return (Fault(span, sentence, "second-document"),)
