"""From drafts to findings: places in the text, severities, and rules that give way to others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from loop_ls.index.document import Document
from loop_ls.rules.engine.context import LINE_1, Draft, Spot
from loop_ls.rules.engine.finding import Finding, Related, Severity
from loop_ls.rules.engine.registry import Check
from loop_ls.rules.engine.work_unit import Placed, Unit
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.text.position import Position, Span

#: The document behind a URI, for related places in other files.
DocumentOf = Callable[[str], Document | None]


#: By place and rule.
_FIRST = itemgetter(0)

#: Speaks only of keys that no other rule marks.
_EMPTY = "WF009"

#: A line that cannot be read is told once; its key may be half of one.
_BROKEN, _HALF = "WF001", "WF006"


class FindingBuilder:
    """Makes the findings of one version of one document. `positions` is another object whenever some piece moves;
    what was placed under the same one stays as it is."""

    def __init__(
        self, document: Document, levels: Mapping[str, Severity], document_of: DocumentOf, positions: object
    ) -> None:
        self._document, self._levels, self._document_of, self._positions = document, levels, document_of, positions

    def findings(self, units: Iterable[Unit], broken: bool) -> tuple[Finding, ...]:
        """All findings of these units, by place and rule."""
        found: list[Placed] = []
        empties: list[Placed] = []
        once: dict[str, list[Placed]] = {}
        for unit in units:
            placed = unit.placed
            if placed is None or placed[0] is not self._positions:
                placed = unit.placed = (self._positions, self._place(unit))
            for (check, draft), one in zip(unit.found, placed[1], strict=True):
                if draft.once:
                    once.setdefault(draft.once, []).append(one)
                elif not (broken and check.missing):
                    (empties if check.rule.code == _EMPTY else found).append(one)
        found += [min(alike, key=_FIRST) for alike in once.values()]
        marked = {one[0][:2] for one in found}
        found += [one for one in empties if one[0][:2] not in marked]
        found.sort(key=_FIRST)
        return tuple([one[1] for one in (_one_per_line(found) if broken else found)])

    def _place(self, unit: Unit) -> tuple[Placed, ...]:
        findings = [self._finding(check, draft) for check, draft in unit.found]
        return tuple([((*finding.span.start, finding.rule), finding) for finding in findings])

    def _finding(self, check: Check, draft: Draft) -> Finding:
        rule = check.rule
        message = draft.message if isinstance(draft.message, str) else draft.message(self._line_of)
        return Finding(
            rule.code,
            self._levels.get(rule.code) or draft.severity or rule.severity,
            self._span(draft.spot),
            message,
            rule.name,
            tuple(Related(self._span(spot), text, spot.uri) for spot, text in draft.related),
            draft.fixes,
            draft.tags,
        )

    def _span(self, spot: Spot) -> Span:
        if spot is LINE_1:
            return Span(Position(0, 0), Position(0, len(self._document.text.line(0).rstrip())))
        if spot.piece is None:
            return spot.span
        if spot.uri is not None:
            return self._elsewhere(spot.uri, spot.piece, spot.span)
        return spot.span.shift(self._document.tree.start_of(spot.piece))

    def _elsewhere(self, uri: str, piece: Piece, span: Span) -> Span:
        document = self._document_of(uri)
        try:
            return span if document is None else document.absolute(piece, span)
        except LookupError:
            return span

    def _line_of(self, spot: Spot) -> int:
        return self._span(spot).start.line + 1


def _one_per_line(found: Iterable[Placed]) -> list[Placed]:
    """Of each line that cannot be read the first reason only, and nothing about its key."""
    listed = sorted(found, key=lambda one: (one[0], one[1].message))  # units come in no order of their own
    first: dict[int, Placed] = {}
    for one in listed:
        if one[1].rule == _BROKEN:
            first.setdefault(one[1].span.start.line, one)
    return [
        one for one in listed if one[1].rule not in (_BROKEN, _HALF) or first.get(one[1].span.start.line, one) is one
    ]
