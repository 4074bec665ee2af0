"""Findings that their author wants to keep quiet: `# loop-ls: ignore WF703` on the line or above it (UP-16).

Codes are named, so that nothing else is hidden by the way. What cannot be read is always told: a file that nobody
reads is not in order. A finding inside of a text of several lines is meant by the line on which that text begins.
JSON has no comments: its settings have globs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.rules.engine.finding import Finding, Fix, Severity, TextEdit
from loop_ls.rules.engine.registry import CHECKS, conflict_codes, syntax_codes
from loop_ls.rules.engine.rule_selection import Selection
from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.index.document import Document

#: What an unused comment is reported as. It is no rule of a format and has no page.
UNUSED = "unused-ignore"
MARK = "loop-ls:"

_DIRECTIVE = pattern(r"(?:^|(?<=\s))#\s*loop-ls:\s*ignore\s+([A-Z]{2}\d{3}(?:[\s,]+[A-Z]{2}\d{3})*)\b")
_CODE = pattern(r"[A-Z]{2}\d{3}")


class Directive(NamedTuple):
    """`alone`: nothing else is on its line."""

    codes: tuple[str, ...]
    alone: bool


def heard(document: Document, found: tuple[Finding, ...], selection: Selection) -> tuple[Finding, ...]:
    """The findings that are not suppressed, and one for each comment that suppresses nothing."""
    if not document.text.mentions(MARK):
        return found
    by_line = _by_line(document)
    used: set[tuple[Span, str]] = set()
    always = never_silent()
    left = []
    for finding in found:
        hit = next((one for one in _meant(document, finding, by_line) if finding.rule in one[1].codes), None)
        if hit is None or finding.rule in always:
            left.append(finding)
        else:
            used.add((hit[0], finding.rule))
    left += _unused(by_line, used, selection)
    return tuple(sorted(left, key=lambda one: (one.span.start, one.rule)))


def never_silent() -> frozenset[str]:
    """The codes that no comment silences: what they tell of keeps the file from being read."""
    return syntax_codes() | conflict_codes()


def anchor(document: Document, at: Position) -> int:
    """The line that a comment about this place belongs to: the one on which its text begins."""
    texts = _texts_around(document, at.line)
    return next((text.start.line for text in texts if text.start.line < at.line <= text.end.line), at.line)


def _by_line(document: Document) -> dict[int, list[tuple[Span, Directive]]]:
    """Comments by the line that they are about."""
    found: dict[int, list[tuple[Span, Directive]]] = {}
    for number, line in enumerate(document.text.lines):
        match = _DIRECTIVE.search(line) if MARK in line else None
        if match is None or document.path.endswith((".json", ".jsonc")):
            continue
        span = Span(Position(number, match.start()), Position(number, match.end()))
        if any(text.start <= span.start < text.end for text in _texts_around(document, number)):
            continue
        alone = not line[: match.start()].strip()
        directive = Directive(tuple(dict.fromkeys(_CODE.findall(match[1]))), alone)
        found.setdefault(_below(document, number) if alone else number, []).append((span, directive))
    return found


def _below(document: Document, line: int) -> int:
    """The next line that is no comment and not empty, or the one behind the last."""
    lines = document.text.lines
    below = range(line, len(lines))
    return next((at for at in below if lines[at].strip() and not lines[at].lstrip().startswith("#")), len(lines))


def _meant(
    document: Document, finding: Finding, by_line: dict[int, list[tuple[Span, Directive]]]
) -> Iterator[tuple[Span, Directive]]:
    """A file as a whole is marked in its first line, also where that is the comment itself."""
    line = finding.span.start.line
    for about in (line, _below(document, line), anchor(document, finding.span.start)):
        yield from by_line.get(about, ())


def _unused(
    by_line: dict[int, list[tuple[Span, Directive]]], used: set[tuple[Span, str]], selection: Selection
) -> Iterator[Finding]:
    for listed in by_line.values():
        for span, directive in listed:
            idle = [code for code in directive.codes if (span, code) not in used and not _is_off(code, selection)]
            if not idle:
                continue
            names = ", ".join(f"`{code}`" for code in idle)
            why = "cannot be ignored" if never_silent().issuperset(idle) else "has no findings here"
            yield Finding(
                UNUSED,
                Severity.INFORMATION,
                span,
                f"{names} {why}, so this comment has no effect",
                name=UNUSED,
                fixes=(Fix("Remove the unused suppression", _Without(span, directive, tuple(idle)), preferred=True),),
                tags=frozenset({"unnecessary"}),
            )


def _is_off(code: str, selection: Selection) -> bool:
    """Whether a rule does not speak now, so that nobody can tell whether a comment about it is needed."""
    own = [check for check in CHECKS if check.rule.code == code]
    return bool(own) and not any(selection.is_on(check) for check in own)


class _Without:
    """The edit that takes codes out of a comment, or the comment away."""

    __slots__ = ("_directive", "_idle", "_span")

    def __init__(self, span: Span, directive: Directive, idle: tuple[str, ...]) -> None:
        self._span, self._directive, self._idle = span, directive, idle

    def __call__(self, document: Document) -> tuple[TextEdit, ...]:
        kept = [code for code in self._directive.codes if code not in self._idle]
        (line, column), end = self._span
        if kept:
            return (TextEdit(self._span, f"# {MARK} ignore {', '.join(kept)}"),)
        text = document.text.lines[line]
        rest = text[end.column :].lstrip()
        if rest.startswith("#"):  # another remark, which stays
            return (TextEdit(Span(Position(line, column), Position(line, len(text) - len(rest))), ""),)
        if self._directive.alone and line + 1 < len(document.text.lines):
            return (TextEdit(Span(Position(line, 0), Position(line + 1, 0)), ""),)
        before = len(text[:column].rstrip())
        return (TextEdit(Span(Position(line, before), Position(line, len(text))), ""),)


# -- reading --------------------------------------------------------------------------------------


def _texts_around(document: Document, line: int) -> Iterator[Span]:
    """The places of texts in the part of a document that a line is in."""
    start, pieces = document.tree.around(line)
    return (node.span.shift(start) for piece in pieces for node in _scalars(piece.node))


def _scalars(node: Node | None) -> Iterator[Scalar]:
    match node:
        case Scalar():
            yield node
        case Mapping():
            for entry in node.entries:
                if not entry.merged:
                    yield from _scalars(entry.value)
        case Sequence():
            for item in node.items:
                yield from _scalars(item)
        case _:
            return
