"""One chunk: libyaml first, the tolerant reader where libyaml refuses, and doubts about the cut."""

from __future__ import annotations

from loop_ls.syntax import tolerant
from loop_ls.syntax.compose import ODD_BREAKS, Composed, Rejected, compose
from loop_ls.syntax.cut import Kind, State
from loop_ls.syntax.nodes import Mapping, Node, Sequence
from loop_ls.syntax.piece import Chunk, Piece, Source, pieces
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span

#: A unit that starts like this may belong to what stands in front of it.
_ODD_STARTS = ("?", ":", "\ufeff")


def read_chunk(lines: tuple[str, ...], kind: Kind, before: State, after: State, followed: bool, order: int) -> Chunk:
    """The chunk of one unit. `followed`: the next unit is an item (of this head's section)."""
    source = Source(lines, after.section if kind in ("head", "item") else None, order=order)
    if kind in ("lead", "tail"):
        doubt = kind == "lead" and any(line.startswith("%") for line in lines)
        return Chunk(lines, kind, before, after, followed, pieces(None, source, kind), order, doubt=doubt)
    try:
        composed = compose(lines)
    except Rejected as rejected:
        return _refused(source, kind, before, after, followed, rejected)
    root = composed.node
    if not fits(root, kind, before):
        doubt = not before.begun or _odd(lines)
        return _refused(source, kind, before, after, followed, None, doubt)
    faults = alias_faults(composed)
    doubt = lines[0].startswith(_ODD_STARTS)
    if any(character in line for line in lines for character in ODD_BREAKS):
        doubt = doubt or len(root.entries if isinstance(root, Mapping) else root.items) > 1  # type: ignore[union-attr]
    if kind == "head" and followed and (stray := _value(root)) is not None:
        sentence = f"Text stands between `{after.section}:` and its first item; remove it or start it with `- `."
        found = pieces(
            None,
            Source(lines, source.section, (*faults, Fault(stray.span, sentence, "unexpected-text")), True, order),
            kind,
        )
        found = (Piece(after.section, "head", root.entries[0].key, None, lines, found[0].faults, True, order),)  # type: ignore[union-attr]
        doubt = True
    else:
        found = pieces(root, Source(lines, source.section, faults, False, order), kind)
    return Chunk(
        lines,
        kind,
        before,
        after,
        followed,
        found,
        order,
        doubt=doubt,
        anchors=frozenset(composed.anchors),
        missing=frozenset(alias.name for alias in composed.aliases),
    )


def fits(root: Node | None, kind: Kind, before: State) -> bool:
    """Whether a unit that libyaml reads is what the cut took it for."""
    if kind == "item":
        return isinstance(root, Sequence) and not root.flow
    return isinstance(root, Mapping) and not root.flow and root.span.start == (0, 0)


def alias_faults(composed: Composed) -> tuple[Fault, ...]:
    unknown = [
        Fault(
            alias.span,
            f"`*{alias.name}` stands for nothing: no anchor `&{alias.name}` comes before it.",
            "unknown-anchor",
        )
        for alias in composed.aliases
    ]
    inside = [
        Fault(
            alias.span,
            f"`*{alias.name}` stands inside what it stands for; an anchor cannot contain itself.",
            "recursive-anchor",
        )
        for alias in composed.recursive
    ]
    return (*unknown, *inside)


def _value(root: Node | None) -> Node | None:
    return root.entries[0].value if isinstance(root, Mapping) and root.entries else None


def _odd(lines: tuple[str, ...]) -> bool:
    return lines[0].startswith(_ODD_STARTS) or any(character in line for line in lines for character in ODD_BREAKS)


def _refused(
    source: Source, kind: Kind, before: State, after: State, followed: bool, why: Rejected | None, doubt: bool = False
) -> Chunk:
    root, faults = tolerant.read(source.lines)
    if not faults:
        faults = [_refusal(why, source.lines)]
    read = Source(source.lines, source.section, tuple(faults), True, source.order)
    ended = why is not None and (why.ended or _odd(source.lines))
    return Chunk(
        source.lines,
        kind,
        before,
        after,
        followed,
        pieces(root, read, kind),
        source.order,
        refused=True,
        ended=ended or not before.begun,
        doubt=doubt,
    )


def _refusal(why: Rejected | None, lines: tuple[str, ...]) -> Fault:
    """libyaml's own words, where the tolerant reader sees nothing wrong."""
    at = why.at if why else Position(0, 0)
    line = min(at.line, len(lines) - 1)
    while line and not lines[line].strip():
        line -= 1
    column = min(at.column, len(lines[line])) if line == at.line else 0
    span = Span(Position(line, column), Position(line, max(column + 1, len(lines[line]))))
    problem = why.problem if why else "no `key: value` here"
    return Fault(span, f"The text cannot be read as YAML from here on: {problem}.", "syntax")
