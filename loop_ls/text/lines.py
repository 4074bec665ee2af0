"""A text as immutable lines: what an editor edits and a reader reads.

Lines end at LF, CR LF or CR and nowhere else, as in LSP. Lines are kept in blocks, so that a
keystroke copies one block and not the whole document. A byte order mark is kept aside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, overload

from loop_ls.text.invariant import invariant
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

BOM = "\ufeff"
BLOCK = 256  # lines of a fresh block; one that outgrows twice this is split
_BREAK = pattern(r"(\r\n|\r|\n)")


def without_trailing_blanks(lines: list[str]) -> list[str]:
    """The lines up to the last one that holds more than blanks."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


class _Block(NamedTuple):
    """Lines with the terminator of each; `ends` None: LF everywhere."""

    lines: tuple[str, ...]
    ends: tuple[str, ...] | None


#: What was found out about blocks, by word and block; shared by the versions of a text.
_Mentions = dict[tuple[tuple[str, ...], int], tuple[_Block, bool]]


class Change(NamedTuple):
    """Lines that an edit touched: `removed` old ones from `first` on became `added` new ones."""

    first: int
    removed: int
    added: int


class Lines(Sequence[str]):
    """The lines of a text without their terminators."""

    __slots__ = ("_blocks", "_count", "_starts")

    def __init__(self, blocks: list[_Block], starts: list[int], count: int) -> None:
        self._blocks, self._starts, self._count = blocks, starts, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            low, high, step = index.indices(self._count)
            return self._between(low, high) if step == 1 else [self[i] for i in range(low, high, step)]
        if index < 0:
            index += self._count
        if not 0 <= index < self._count:
            raise IndexError(index)
        block = bisect_right(self._starts, index) - 1
        return self._blocks[block].lines[index - self._starts[block]]

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            yield from block.lines

    def _between(self, low: int, high: int) -> list[str]:
        found: list[str] = []
        block = bisect_right(self._starts, low) - 1
        while low < high:
            start = self._starts[block]
            found += self._blocks[block].lines[low - start : high - start]
            block += 1
            low = start + len(self._blocks[block - 1].lines)
        return found


class Text:
    """An immutable text. Two texts are equal only if they are the same object."""

    __slots__ = ("_blocks", "_count", "_mentions", "_starts", "bom", "lines")

    def __init__(
        self, blocks: list[_Block], starts: list[int], count: int, bom: bool, mentions: _Mentions | None = None
    ) -> None:
        self._blocks, self._starts, self._count, self.bom = blocks, starts, count, bom
        self._mentions: _Mentions = {} if mentions is None else mentions
        invariant(lambda: (starts, count) == _counted(blocks, 0), "the index of lines fits the blocks of a text")
        self.lines = Lines(blocks, starts, count)

    @classmethod
    def of(cls, text: str) -> Text:
        bom = text.startswith(BOM)
        blocks = _blocks(*_split(text[1:] if bom else text))
        return cls(blocks, *_counted(blocks, 0), bom)

    def __str__(self) -> str:
        parts = [_joined(block) for block in self._blocks]
        last = self._blocks[-1].ends
        parts[-1] = parts[-1][: -len(last[-1] if last else "\n")]
        return (BOM if self.bom else "") + "".join(parts)

    def line(self, index: int) -> str:
        return self.lines[index]

    def mentions(self, *words: str) -> bool:
        """Whether a line holds one of these words, behind `\\n`: begins with it. After an edit only the block that it
        touched is looked through."""
        known = self._mentions
        if len(known) > 16 * len(self._blocks) + 64:
            known.clear()  # of earlier versions
        for block in self._blocks:
            entry = known.get((words, id(block)))
            if entry is None or entry[0] is not block:
                entry = known[words, id(block)] = (block, _mentions(block, words))
            invariant(partial(_is_true, words, entry), "what was found out about a block is true")
            if entry[1]:
                return True
        return False

    @property
    def end(self) -> Position:
        return Position(self._count - 1, len(self._blocks[-1].lines[-1]))

    @property
    def eol(self) -> str:
        """How new lines should end: as the first one does."""
        return "\n" if self._count == 1 else self._line_end(0)

    def clamp(self, at: Position) -> Position:
        """The nearest place that exists: behind a line's end is its end."""
        line, column = at
        if line < 0:
            return Position(0, 0)
        if line >= self._count:
            return self.end
        return Position(line, max(0, min(column, len(self.lines[line]))))

    def slice(self, span: Span) -> str:
        """The characters between two places, line ends as written."""
        start, end = self.clamp(span.start), self.clamp(span.end)
        if start >= end:
            return ""
        if start.line == end.line:
            return self.lines[start.line][start.column : end.column]
        lines = self.lines[start.line : end.line + 1]
        lines[0] = lines[0][start.column :]
        lines[-1] = lines[-1][: end.column]
        parts = [line + self._line_end(start.line + i) for i, line in enumerate(lines[:-1])]
        return "".join(parts) + lines[-1]

    def edit(self, span: Span, new: str) -> Text:
        """This text with `span` replaced by `new`."""
        return self.change(span, new)[0]

    def change(self, span: Span, new: str) -> tuple[Text, Change]:
        """Like `edit`, and which lines it touched."""
        start, end = sorted((self.clamp(span.start), self.clamp(span.end)))
        first, last = start.line, end.line
        head = self.lines[first][: start.column]
        if first and not head and self._line_end(first - 1) == "\r":
            first -= 1  # a line feed typed behind a lone CR belongs to it
            head = self.lines[first] + "\r"
        at_end = last == self._count - 1
        tail = self.lines[last][end.column :]
        lines, ends = _split(head + new + (tail if at_end else tail + self._line_end(last)))
        if not at_end:
            lines.pop()  # what follows the terminator is the next line, which stays
            ends = ends and ends[:-1]
        return self._spliced(first, last + 1, lines, ends), Change(first, last - first + 1, len(lines))

    def rewritten(self, new: str) -> tuple[Text, Change]:
        """The text of `new`, and which lines it changed: all between the first and the last that differ."""
        text = Text.of(new)
        old, fresh = list(self.lines), list(text.lines)
        most = min(len(old), len(fresh)) - 1  # a change has a line at least
        first = next((at for at in range(most) if old[at] != fresh[at]), most)
        behind = next((at for at in range(most - first) if old[-1 - at] != fresh[-1 - at]), most - first)
        return text, Change(first, len(old) - first - behind, len(fresh) - first - behind)

    def _spliced(self, low: int, high: int, lines: list[str], ends: list[str] | None) -> Text:
        """This text with the lines low..high replaced."""
        a = bisect_right(self._starts, low) - 1
        b = bisect_right(self._starts, high - 1) - 1
        before, after = low - self._starts[a], high - self._starts[b]
        first, last = self._blocks[a], self._blocks[b]
        merged = first.lines[:before] + tuple(lines) + last.lines[after:]
        blocks = self._blocks.copy()
        if first.ends is None and last.ends is None and ends is None:
            fresh = _blocks(merged, None)
        else:
            kept = _ends(first)[:before] + tuple(ends or ("\n",) * len(lines)) + _ends(last)[after:]
            fresh = _blocks(merged, kept)
        blocks[a : b + 1] = fresh
        grown = len(lines) - (high - low)
        if list(map(_size, fresh)) == list(map(_size, self._blocks[a : b + 1])):
            return Text(blocks, self._starts, self._count, self.bom, self._mentions)
        starts, _ = _counted(fresh, self._starts[a])
        behind = [start + grown for start in self._starts[b + 1 :]]
        return Text(blocks, self._starts[:a] + starts + behind, self._count + grown, self.bom, self._mentions)

    def _line_end(self, index: int) -> str:
        block = bisect_right(self._starts, index) - 1
        ends = self._blocks[block].ends
        return "\n" if ends is None else ends[index - self._starts[block]]


def _split(text: str) -> tuple[list[str], list[str] | None]:
    """Lines and their terminators (None: LF everywhere). The last line gets the last one seen."""
    if "\r" not in text:
        return text.split("\n"), None
    parts = _BREAK.split(text)
    ends = parts[1::2]
    return parts[::2], [*ends, ends[-1]]


def _counted(blocks: list[_Block], first: int) -> tuple[list[int], int]:
    """The first line of each block, and the number of the line behind the last one."""
    starts = []
    for block in blocks:
        starts.append(first)
        first += _size(block)
    return starts, first


def _is_true(words: tuple[str, ...], entry: tuple[_Block, bool]) -> bool:
    return entry[1] == any(word in f"\n{line}" for line in entry[0].lines for word in words)


def _mentions(block: _Block, words: tuple[str, ...]) -> bool:
    text = "\n" + "\n".join(block.lines)
    return any(word in text for word in words)


def _size(block: _Block) -> int:
    return len(block.lines)


def _ends(block: _Block) -> tuple[str, ...]:
    return ("\n",) * len(block.lines) if block.ends is None else block.ends


def _blocks(lines: Sequence[str], ends: Sequence[str] | None) -> list[_Block]:
    if len(lines) <= 2 * BLOCK:
        return [_Block(tuple(lines), None if ends is None else tuple(ends))] if lines else []
    return [
        _Block(tuple(lines[i : i + BLOCK]), None if ends is None else tuple(ends[i : i + BLOCK]))
        for i in range(0, len(lines), BLOCK)
    ]


def _joined(block: _Block) -> str:
    if block.ends is None:
        return "\n".join(block.lines) + "\n"
    return "".join(line + end for line, end in zip(block.lines, block.ends, strict=True))
