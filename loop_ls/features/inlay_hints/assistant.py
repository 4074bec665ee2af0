"""Inlay hints of assistants: what all iterations together may cost."""

from __future__ import annotations

from loop_ls.contract.amounts import money
from loop_ls.features.answers import Inlay
from loop_ls.features.docs.assistant import ceiling, ceiling_text
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span


def assistant_inlays(document: Document, span: Span, settings: Settings) -> tuple[Inlay, ...]:
    found: list[Inlay] = []
    for one in document.whole.assistants:
        part = one.get("maxIterations") or one.get("maxBudgetUsd") or one.get("maxTotalBudgetUsd")
        total, told = ceiling(one, settings), ceiling_text(one, settings)
        if part is None or part.node is None or part.entry.merged or total is None or told is None or not one.enabled:
            continue
        end = document.absolute(part.piece, part.node.span).end
        if span.start.line <= end.line <= span.end.line:
            found.append(Inlay(Position(end.line, end.column), f"≤ {money(total)} in total", told))
    return tuple(found)
