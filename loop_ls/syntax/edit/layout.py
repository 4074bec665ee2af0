"""How the lines around a node are laid out: what edits need to know beyond the places of nodes."""

from __future__ import annotations

from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Scalar
from loop_ls.syntax.tree import Tree
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span


class Layout:
    """Places are relative to the piece, as those of its nodes."""

    def __init__(self, tree: Tree, piece: Piece) -> None:
        self.lines_of_piece = piece.lines
        self._last = len(tree.text.lines) - 1 - tree.start_of(piece)
        self._end = tree.text.end

    def line_end(self, at: Position) -> Position:
        """The end of the line, behind comments."""
        return Position(at.line, len(self.lines_of_piece[at.line]))

    def starts_line(self, at: Position) -> bool:
        return not self.lines_of_piece[at.line][: at.column].strip()

    def lines(self, first: int, last: int) -> Span:
        """Whole lines with their ends; of the last line of a document, the end in front of it."""
        if last < self._last:
            return Span(Position(first, 0), Position(last + 1, 0))
        end = Position(last, len(self.lines_of_piece[last]))
        if first == 0:
            return Span(Position(0, 0), end)
        return Span(Position(first - 1, len(self.lines_of_piece[first - 1])), end)

    def behind_colon(self, entry: Entry) -> Position:
        line, column = entry.key.span.end
        colon = self.lines_of_piece[line].find(":", column)
        return Position(line, colon + 1 if colon >= 0 else column)

    def header(self, scalar: Scalar) -> str:
        """What introduces a block text: `|-`, with its comment."""
        line, column = scalar.span.start
        return self.lines_of_piece[line][column:].rstrip()

    def margin(self, scalar: Scalar) -> int:
        """The indentation of a block text; of an empty one, two more than its key's line."""
        first = scalar.span.start.line
        for line in range(first + 1, scalar.span.end.line + 1):
            if self.lines_of_piece[line].strip():
                return indent_of(self.lines_of_piece[line])
        key = self.lines_of_piece[first]
        return indent_of(key) + 2 + (2 if key.lstrip(" ").startswith("- ") else 0)
