"""Inlay hints: what counts without being written, durations in words, and how the last run went.

`inlays(workspace, document, span, runs)` looks only at the elements that `span` touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.contract.amounts import count
from loop_ls.features.answers import Inlay, LoopView, ShownRun
from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.pieces import with_starts
from loop_ls.features.runs.outcome_texts import ENDED, VERDICTS, ended_in_words, sign
from loop_ls.features.text.humanize import duration
from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.index.document import Document
from loop_ls.index.effective import Effective, effective
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
#: A loop of a hundred iterations shows the last ones.
_VERDICTS = 10


def inlays(workspace: Workspace, document: Document, span: Span, runs: Sequence[ShownRun] = ()) -> tuple[Inlay, ...]:
    return support_of(document).inlays(workspace, document, span, runs)


def workflow_inlays(document: Document, span: Span, runs: Sequence[ShownRun]) -> tuple[Inlay, ...]:
    found: list[Inlay] = []
    for start, piece, facts in with_starts(document):
        if start > span.end.line:
            break
        if start + len(piece.lines) < span.start.line:
            continue
        if facts.top is not None and facts.top.field is not None and isinstance(facts.top.field.value, Block):
            found += _durations(document, start, facts.top.field.value)
        for element in facts.elements:
            found += _of_element(document, start, element, runs)
    inside = (one for one in found if span.start.line <= one.at.line <= span.end.line)
    return tuple(sorted(inside, key=lambda one: one.at))


def _of_element(document: Document, start: int, element: Element, runs: Sequence[ShownRun]) -> Iterator[Inlay]:
    for block in element.block.walk():
        yield from _durations(document, start, block)
    yield from _retries(document, start, element)
    yield from _changed(document, start, element, runs)
    if element.loop is not None:
        yield from _run(document, start, element, runs)
    elif element.name_span is not None and element.mode in ("run", "embeddings"):
        yield from _inherited(document, start, element, effective(document, element))


# -- what is not written ---------------------------------------------------------------------------


def _inherited(document: Document, start: int, element: Element, given: Effective) -> Iterator[Inlay]:
    """Whom the step asks, and how many rounds of tools it may take, where it does not say so itself."""
    said: list[str] = []
    tips: list[str] = []
    models = given.models
    if models.chain and models.source != "step":
        first = models.chain[0]
        more = f" +{len(models.chain) - 1}" if len(models.chain) > 1 else ""
        said.append(f"{first.provider} {first.model}{more}")
        tips.append(f"from `{models.source}`")
    if (given.servers.value or given.skills.value) and given.max_iterations.source != "step":
        rounds = given.max_iterations
        said.append(f"≤ {count(rounds.value, 'tool round')}")
        source = "the default" if rounds.source == "built-in" else f"`{rounds.source}`"
        tips.append(f"`max_iterations` from {source}")
    if said:
        yield Inlay(_end_of_line(document, start, element.label_span), " · ".join(said), ", ".join(tips))


def _retries(document: Document, start: int, element: Element) -> Iterator[Inlay]:
    block = element.loop if element.loop is not None else element.block
    field = block.get("on_failure")
    if field is None or field.value != "retry" or block.has("max_retries"):
        return
    what = "an iteration" if element.loop is not None else "the step"
    tip = f"Default for `max_retries`: {what} is retried 3 times, then the workflow fails"
    yield Inlay(_end_of_line(document, start, field.span), "up to 3 retries, then halt", tip)


def _durations(document: Document, start: int, block: Block) -> Iterator[Inlay]:
    for field in block.fields.values():
        if field.key.type is Type.DURATION and isinstance(field.value, int | float) and _worth_saying(field):
            yield Inlay(_behind(start, field.span), duration(field.value))


def _worth_saying(field: Field) -> bool:
    """`30s` explains itself; `5400s` and `1h30m` do not."""
    scalar = field.scalar
    if scalar is None or field.entry.merged:
        return False
    units = sum(letter.isalpha() for letter in scalar.text.replace("ms", "m").replace("us", "u").replace("ns", "n"))
    digits = sum(letter.isdigit() for letter in scalar.text)
    return units > 1 or digits > 3


# -- the last round ---------------------------------------------------------------------------------


def _changed(document: Document, start: int, element: Element, runs: Sequence[ShownRun]) -> Iterator[Inlay]:
    """What the last round of an enhance loop did to the step."""
    run = runs[-1] if runs and runs[-1].uri in ("", document.uri) else None
    if run is None or run.rounds is None:
        return
    reasons = [change.reason for change in run.rounds.changes if change.target == element.name]
    if reasons and element.name:
        said = f"changed after round {run.rounds.changed_after}"
        yield Inlay(_end_of_line(document, start, element.label_span), said, "; ".join(filter(None, reasons)))


# -- the last run ----------------------------------------------------------------------------------


def _run(document: Document, start: int, element: Element, runs: Sequence[ShownRun]) -> Iterator[Inlay]:
    run = next((run for run in reversed(runs) if element.name in run.loops and run.uri in ("", document.uri)), None)
    if run is None or element.loop is None:
        return
    loop = run.loops[element.name]
    if loop.status in ENDED:
        said = f"{sign(loop.status, loop.reason)} {ended_in_words(loop)}"
    else:
        said = f"{numbered(loop.iteration or 1)} {loop.status.replace('_', ' ')}…"
    yield Inlay(_end_of_line(document, start, element.label_span), said)
    until = element.loop.get("until")
    if until is not None and loop.verdicts:
        yield Inlay(_end_of_line(document, start, until.span), _verdicts(loop))


def _verdicts(loop: LoopView) -> str:
    shown = loop.verdicts[-_VERDICTS:]
    dots = "… " if len(loop.verdicts) > len(shown) else ""
    return dots + "  ".join(f"{numbered(one.iteration)} {VERDICTS.get(one.verdict, one.verdict)}" for one in shown)


def numbered(number: int) -> str:
    return _CIRCLED[number - 1] if 1 <= number <= len(_CIRCLED) else f"({number})"


# -- places ----------------------------------------------------------------------------------------


def _behind(start: int, span: Span) -> Position:
    return Position(span.end.line + start, span.end.column)


def _end_of_line(document: Document, start: int, span: Span) -> Position:
    """Behind everything on the line where the span begins."""
    line = span.start.line + start
    return Position(line, len(document.text.lines[line].rstrip()))
