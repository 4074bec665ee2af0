"""One question to completion: the snapshot, the place, and what the spot there means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from loop_ls.features.complete.shapes import Meaning, meaning_of
from loop_ls.features.complete.style import Style, style_of
from loop_ls.features.lookup.pieces import element_at, pieces_at
from loop_ls.features.spot.block import Frame, dash_at
from loop_ls.features.spot.line import spots_at
from loop_ls.features.spot.place import Lines, Spot
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span

#: How far below its piece the lines are looked at: what follows decides where a blank line belongs.
_MARGIN = 40


#: What lies in a folder: names, and whether each is a folder itself.
Listing = Callable[[str], Iterable[tuple[str, bool]]]


@dataclass(frozen=True)
class Request:
    """`spot` is one of those at the place; `first` tells that it is the likeliest."""

    workspace: Workspace
    document: Document
    at: Position
    settings: Settings | None
    spot: Spot
    style: Style
    first: bool = True
    listing: Listing | None = None

    @property
    def options(self) -> Settings:
        return self.workspace.settings if self.settings is None else self.settings

    @property
    def line(self) -> str:
        return self.document.text.lines[self.at.line]

    @cached_property
    def meaning(self) -> Meaning:
        return meaning_of(self.spot.path)

    @cached_property
    def element(self) -> Element | None:
        """The step or loop around the place, None where it cannot be read or is only being begun."""
        return element_at(self.document, self.at.line) if self.spot.path[:1] in (("steps",), ("loops",)) else None

    @cached_property
    def name(self) -> str:
        """The name of the element around the place, as written."""
        if len(self.spot.path) < 2:
            return ""
        entries = self.spot.outer[-1] if self.spot.outer else self.spot.written
        return entries.get("name", "")

    @cached_property
    def in_loop(self) -> Literal["with", "items", "until"] | None:
        """Which field of a loop the place is in, if any: there its variables exist."""
        path = self.spot.path
        base = 2 if path[:1] == ("loops",) else 3 if path[:1] == ("steps",) and path[2:3] == ("loop",) else None
        if base is None or len(path) <= base:
            return None
        match path[base]:
            case "with" | "items" | "until" as field:
                return field
            case _:
                return None


def requests(
    workspace: Workspace,
    document: Document,
    at: Position,
    settings: Settings | None,
    listing: Listing | None = None,
) -> tuple[Request, ...]:
    """One request for every spot that the place may be, likeliest first."""
    style = style_of(document.text.lines)
    spots = spots_of(document, at, style)
    return tuple(
        Request(workspace, document, at, settings, spot, style, number == 0, listing)
        for number, spot in enumerate(spots)
    )


def spots_of(document: Document, at: Position, style: Style) -> tuple[Spot, ...]:
    """The spots at a place of the document, read from the lines of its piece."""
    lines = document.text.lines
    if not 0 <= at.line < len(lines):
        return ()
    start, pieces = pieces_at(document, at.line)
    own = pieces[0].lines if pieces else ()
    end = max(len(own), at.line - start + 1)
    window = lines[start : start + end + _MARGIN]
    root = Frame("mapping", 0, (), 0)
    frames = [root]
    head = window[0] if window else ""
    dash = indent_of(head)
    if pieces and pieces[0].section and pieces[0].kind == "item" and dash_at(head, dash):
        root.key, root.key_line = pieces[0].section, -1
        frames.append(Frame("sequence", dash, (pieces[0].section,), -1, items=[]))
    source = Lines(window, 0, min(end, len(window)), tuple(frames))
    found = spots_at(source, Position(at.line - start, at.column), style.unit)
    return tuple(_placed(spot, start, document) for spot in found)


def _placed(spot: Spot, start: int, document: Document) -> Spot:
    """The spot in the document; the top-level keys of other pieces count as written, too."""
    written = spot.written
    if not spot.path and spot.where.value == "key":
        others = {top.name: "" for top in document.head.tops if top.name != spot.text or not spot.colon}
        written = {**others, **written}
    return replace(spot, word=Span(*spot.word).shift(start), written=written)
