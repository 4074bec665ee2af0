"""Conditions for `until`: first those that the callee's last step can meet, then general good ones."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.items.callees import prompt_of
from loop_ls.features.complete.quoting import as_text, literal
from loop_ls.features.complete.request import Request
from loop_ls.rules.until.criteria import Criterion, from_last_step, general


def conditions(request: Request) -> Iterator[Item]:
    spot = request.spot
    callee = request.workspace.callee(request.document, spot.written.get("workflow", ""))
    last = callee.last_step() if callee is not None else None
    found: list[Criterion] = []
    if callee is not None and last is not None:
        found += from_last_step(last.name, prompt_of(callee))
    known = {criterion.text for criterion in found}
    found += [criterion for criterion in general() if criterion.text not in known]
    for place, criterion in enumerate(found):
        text = as_text(criterion.text, spot, always=True)
        yield Item(
            criterion.text,
            ItemKind.CRITERION,
            spot.lead + text,
            spot.lead + _snippet(text, criterion),
            "",
            f"{place:02}",
            preselect=place == 0 and criterion.sure,
            documentation=criterion.why,
        )


def _snippet(text: str, criterion: Criterion) -> str:
    """The part that depends on the callee is a tab stop where the callee does not say it itself."""
    if not criterion.hole or criterion.sure:
        return literal(text)
    before, _, after = text.partition(criterion.hole)
    return f"{literal(before)}${{1:{literal(criterion.hole)}}}{literal(after)}"
