"""One piece of checking work and what it found, kept until something changes that it looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.workflow.keys import WORKFLOW
from loop_ls.index.element import Element
from loop_ls.index.top_level import Top
from loop_ls.rules.engine.context import Draft, Site, block_sites, sites
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.prefilter import of_block, of_element
from loop_ls.rules.engine.queries import QueryContext
from loop_ls.rules.engine.registry import Check
from loop_ls.rules.engine.rule_selection import Plan
from loop_ls.rules.engine.tracked_view import Askers, Topic, View
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Mapping
from loop_ls.text.fault import Fault
from loop_ls.text.invariant import invariant
from loop_ls.text.position import Position, Span, span

Found = tuple[tuple[Check, Draft], ...]
#: A finding behind what findings are sorted by: line, column, rule.
Placed = tuple[tuple[int, int, str], Finding]
#: With a plan only what stands in that one is done.
Work = Callable[[View, Plan | None], Iterator[tuple[Check, Draft]]]

#: A unit that has asked so many times what it asked at first is run from the beginning: it keeps old questions.
_MOST_QUESTIONS = 4


class Unit:
    """`view` is None for work that looks at nothing but its own piece, and so is done once.

    `placed` are the findings made of `found`, and the positions for which they were made.
    """

    __slots__ = ("_most", "found", "placed", "view", "work")

    def __init__(self, work: Work | None = None) -> None:
        self.work = work
        self.view: View | None = None
        self.placed: tuple[object, tuple[Placed, ...]] | None = None
        self.take(())

    def run(self, world: QueryContext, askers: Askers | None = None) -> None:
        assert self.work is not None
        self.view = View(world, askers)
        self.take(tuple(self.work(self.view, None)))
        self.view.leave()
        self._most = _MOST_QUESTIONS * self.view.count

    def run_some(self, world: QueryContext, topics: Iterable[Topic], asked: Plan, askers: Askers) -> None:
        """Run again the rules `asked`, which are all that have ever asked about these topics: the others would be
        answered as before, and so would these about other topics."""
        assert self.work is not None
        assert self.view is not None, "what has not run yet is run as a whole"
        if self.view.count > self._most:
            self.run(world, askers)
            return
        self.view.enter(world, topics)
        invariant(self._knows_the_world(world), "an answer is kept under the topic that it depends on")
        fresh = tuple(self.work(self.view, asked))
        again = {id(check) for found in asked.wide.values() for check in found}
        kept = tuple([one for one in self.found if id(one[0]) not in again])
        self.take((*kept, *fresh))
        self.view.leave()
        invariant(lambda: _shown(self.found) == _shown(self._all_again(world)), "rules that did not ask say the same")

    def _knows_the_world(self, world: QueryContext) -> Callable[[], bool]:
        return lambda: self.view is not None and self.view.still_true(world, tuple(self.view.topics))

    def _all_again(self, world: QueryContext) -> Found:
        assert self.work is not None
        other = Unit(self.work)
        other.run(world)
        return other.found

    @property
    def topics(self) -> Set[Topic]:
        """What the work has asked about."""
        return frozenset() if self.view is None else self.view.topics

    def would_hear_the_same(self, world: QueryContext, topics: Iterable[Topic]) -> bool:
        assert self.view is not None, "only who has asked about a topic is asked again"
        return self.view.still_true(world, topics)

    def take(self, found: Found) -> None:
        self.found = tuple([one for one in found if not _is_broken_text(*one)])
        self.placed = None


def _shown(found: Found) -> list[tuple[str, str, str]]:
    """What can be compared of findings, in an order of its own."""
    return sorted((check.rule.code, repr(draft.spot.span), repr(draft.severity)) for check, draft in found)


#: Faults behind which keys may have ended up where they do not belong.
_MISPLACED = ("tab", "odd-blank", "indentation", "unexpected-text", "missing-space")


def _is_broken_text(check: Check, draft: Draft) -> bool:
    """Whether a finding is about words that could not be read anyway: one fault gives one finding."""
    piece = draft.spot.piece
    if piece is None or check.rule.code[2:] == "001":
        return False
    start, end = draft.spot.span
    return any(
        fault.span.start <= end
        and (start <= fault.span.end or fault.code in _MISPLACED or _is_half_typed(fault, start))
        for fault in piece.faults
    )


def _is_half_typed(fault: Fault, start: Position) -> bool:
    """Whether a place lies behind a bracket that is still open: its last entry may be half a word."""
    return fault.code == "open-bracket" and start.line == fault.span.start.line


#: Rules of whole pieces have no block to look at.
_NO_BLOCK = Block(WORKFLOW, Mapping(span(0, 0, 0, 0), ()), {})


def local_unit(found: Iterable[tuple[Check, Draft]]) -> Unit:
    unit = Unit()
    unit.take(tuple(found))
    return unit


# -- local work: nothing but the piece ----------------------------------------------------------


def local_of_piece(plan: Plan, piece: Piece) -> Iterator[tuple[Check, Draft]]:
    site = Site(piece, _NO_BLOCK)
    for check in plan.local.get("tree", ()):
        for draft in check.run(site):
            yield check, draft


def _guessed(element: Element) -> list[Span]:
    """The values of unknown keys: those of misspelt ones count, and no rule judges them."""
    unknown = (one.entry.value for block in element.block.walk() for one in block.unknown)
    return [value.span for value in unknown if value is not None]


def _judged(element: Element, drafts: Iterator[tuple[Check, Draft]]) -> Iterator[tuple[Check, Draft]]:
    """Without what is said about a value whose key is only guessed. A rule of elements marks places in their piece."""
    guessed = _guessed(element)
    for check, draft in drafts:
        start = draft.spot.span.start
        if not any(span.start <= start < span.end for span in guessed):
            yield check, draft


def local_of_element(plan: Plan, element: Element) -> Iterator[tuple[Check, Draft]]:
    yield from _judged(element, _local_of_element(plan, element))


def _local_of_element(plan: Plan, element: Element) -> Iterator[tuple[Check, Draft]]:
    for check in plan.local_on("element", of_element(element)):
        for draft in check.run(element):
            yield check, draft
    for site in sites(element):
        yield from _local_of_site(plan, site)


def local_of_top(plan: Plan, top: Top) -> Iterator[tuple[Check, Draft]]:
    """A top-level key is checked like a block that holds it alone."""
    if top.field is None:
        return
    node = Mapping(top.entry.key.span, (top.entry,))
    yield from _local_of_site(plan, Site(top.piece, Block(WORKFLOW, node, {top.name: top.field})))
    for site in _inner_sites(top):
        yield from _local_of_site(plan, site)


def _inner_sites(top: Top) -> Iterator[Site]:
    if top.field is not None and isinstance(top.field.value, Block):
        yield from block_sites(top.piece, top.field.value)


def _local_of_site(plan: Plan, site: Site) -> Iterator[tuple[Check, Draft]]:
    traits = of_block(site.block)
    for place in ("*", site.block.shape.name):
        for check in plan.local_on(place, traits):
            for draft in check.run(site):
                yield check, draft


# -- wide work: whatever looks beyond the piece -------------------------------------------------


def wide_of_element(plan: Plan, element: Element) -> Work:
    def work(view: View, asked: Plan | None) -> Iterator[tuple[Check, Draft]]:
        if asked is None:
            checks, of_sites = plan.wide_on("element", of_element(element)), True
        else:  # few enough to be asked whatever they are about
            checks, of_sites = asked.wide.get("element", ()), len(asked.wide) > ("element" in asked.wide)
        for check in checks:
            view.asker = id(check)
            for draft in check.run(element, view):
                yield check, draft
        for site in sites(element) if of_sites else ():
            yield from _wide_of_site(asked or plan, site, view)

    return lambda view, asked: _judged(element, work(view, asked))


def late_of_element(plan: Plan, element: Element) -> Work:
    def work(view: View) -> Iterator[tuple[Check, Draft]]:
        for check in plan.last:
            view.asker = id(check)
            for draft in check.run(element, view):
                yield check, draft

    return lambda view, asked: _judged(element, work(view))


def wide_of_top(plan: Plan, top: Top) -> Work:
    def work(view: View, asked: Plan | None) -> Iterator[tuple[Check, Draft]]:
        for site in _inner_sites(top):
            yield from _wide_of_site(asked or plan, site, view)

    return work


def _wide_of_site(plan: Plan, site: Site, view: View) -> Iterator[tuple[Check, Draft]]:
    for check in plan.wide_on(site.block.shape.name, of_block(site.block)):
        view.asker = id(check)
        for draft in check.run(site, view):
            yield check, draft


def of_document(check: Check) -> Work:
    def work(view: View, asked: Plan | None) -> Iterator[tuple[Check, Draft]]:
        view.asker = id(check)
        for draft in check.run(view):
            yield check, draft

    return work
