"""From drafts to findings: places in the text, severities, and rules that give way to others (5.0)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from loop_ls.index.document import Document
from loop_ls.rules.finding import Finding, Related, Severity
from loop_ls.rules.registry import Check
from loop_ls.rules.site import LINE_1, Draft, Spot
from loop_ls.rules.unit import Unit
from loop_ls.text.position import Position, Span

#: The document behind a URI, for related places in other files.
DocumentOf = Callable[[str], Document | None]


class Placing:
    """Makes the findings of one version of one document."""

    def __init__(self, document: Document, levels: Mapping[str, Severity], document_of: DocumentOf) -> None:
        self._document, self._levels, self._document_of = document, levels, document_of
        self._starts: dict[int, int] = {}

    def findings(self, units: Iterable[Unit], broken: bool) -> tuple[Finding, ...]:
        """All findings of these units, by place and rule."""
        listed = list(units)
        marked = {
            (id(draft.spot.piece), draft.spot.span.start)
            for unit in listed
            for check, draft in unit.found
            if check.rule.code != "WF009"
        }
        found: list[Finding] = []
        for unit in listed:
            found += self._of_unit(unit, broken, marked)
        found.sort(key=_order)
        return tuple(found)

    def _of_unit(self, unit: Unit, broken: bool, marked: set[tuple[int, Position]]) -> list[Finding]:
        found: list[Finding] = []
        for check, draft in unit.found:
            if broken and check.missing:
                continue
            if check.rule.code == "WF009" and (id(draft.spot.piece), draft.spot.span.start) in marked:
                continue
            found.append(self._finding(check, draft))
        return found

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
            return self._elsewhere(spot)
        start = self._starts.get(id(spot.piece))
        if start is None:
            start = self._starts[id(spot.piece)] = self._document.tree.start_of(spot.piece)
        return spot.span.shift(start)

    def _elsewhere(self, spot: Spot) -> Span:
        document = self._document_of(spot.uri or "")
        try:
            return spot.span if document is None or spot.piece is None else document.absolute(spot.piece, spot.span)
        except LookupError:
            return spot.span

    def _line_of(self, spot: Spot) -> int:
        return self._span(spot).start.line + 1


def _order(finding: Finding) -> tuple[Position, str]:
    return finding.span.start, finding.rule
