"""The rules of countdowns."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.rules.engine.context import Draft, draft
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.object_view import ObjectView
from loop_ls.rules.engine.registry import rule


@rule("CD002", "from", Severity.ERROR, on="countdown")
def starts_above_zero(view: ObjectView) -> Iterator[Draft]:
    """A countdown from zero or below.

    Bad::
        #- launch.countdown.yaml
        from: 0
    Good::
        #- launch.countdown.yaml
        from: 3
    """
    part = view.parts.get("from")
    if part is not None and part.field.scalar is not None and not part.field.scalar.text.isdigit():
        yield draft(part.piece, part.field.span, "`from` must be a whole number above zero")
