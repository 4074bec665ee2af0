"""The checking state of one document: units of work by what they look at, and who reads which topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain
from operator import is_not

from loop_ls.formats.registry import LOOKALIKE
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.finding_builder import FindingBuilder
from loop_ls.rules.engine.invalidation import changed_topics, difference
from loop_ls.rules.engine.queries import QueryContext
from loop_ls.rules.engine.rule_selection import Plan
from loop_ls.rules.engine.tracked_view import OUTSIDE, Askers, Topic, kind_of
from loop_ls.rules.engine.work_unit import (
    Unit,
    late_of_element,
    local_of_element,
    local_of_piece,
    local_of_top,
    local_unit,
    of_document,
    wide_of_element,
    wide_of_top,
)
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.text.invariant import invariant

#: What depends on all names of a file: silent where `steps` or `loops` are misspelt.
_ABOUT_NAMES = frozenset(
    {"WF301", "WF304", "WF305", "WF416", "WF417", "WF501", "WF502", "WF503", "WF506", "WF513", "WF603"}
)


class Session:
    """Follows one document from version to version. `late` units count the errors of other files and
    are run only when findings are wanted, never to count errors themselves. One that does not
    remember who reads what is for a single check.
    """

    def __init__(self, plan: Plan, place: str, remembers: bool = True) -> None:
        self.plan, self.place, self._remembers = plan, place, remembers
        self.document: Document | None = None
        self.workspace: Workspace | None = None
        self._pieces: dict[Piece, Unit] = {}
        self._tops: dict[Piece, tuple[Unit, Unit]] = {}
        self._elements: dict[Element, tuple[Unit, ...]] = {}
        self._whole = [Unit(of_document(check)) for check in plan.wide.get(place, ())]
        self._readers: dict[Topic, set[Unit]] = {}
        self._askers: Askers = defaultdict(set)
        self._asked: dict[frozenset[int], Plan] = {}
        self._speaking: set[Unit] = set()
        self._late: set[Unit] = set()
        self._stale_late: set[Unit] = set()
        self._broken: set[Piece] = set()
        self._positions = object()  # another one whenever some piece moves
        #: what `findings` answered last, for as long as nothing changes in it
        self._answer: tuple[Finding, ...] | None = None
        #: what has been run for this version already
        self._fresh: set[Unit] = set()

    def update(self, world: QueryContext, workspace: Workspace) -> None:
        """Bring every unit but the late ones to this version of the document and its workspace."""
        document, old = world.document, self.document
        outside = self.workspace is None or _outside_changed(self.workspace, workspace, document.uri)
        self.document, self.workspace = document, workspace
        self._fresh.clear()
        if old is document:
            if outside:
                self._ask_again(world, {OUTSIDE})
            return
        if old is None:
            self._take(world, (), document.tree.pieces, (), document.elements)
            for unit in self._whole:
                self._run(unit, world)
            return
        lost, fresh = difference(old.tree.pieces, document.tree.pieces)
        if not _as_long(lost, fresh) or old.text.line(0) != document.text.line(0):  # LINE_1 is as long as it
            self._positions = object()
            self._answer = None
        gone, come = difference(old.elements, document.elements)
        topics = changed_topics(old, document, gone, come, chain(lost, fresh))
        if outside or _calls_itself(workspace, document):
            topics.add(OUTSIDE)
        self._take(world, lost, fresh, gone, come)
        self._ask_again(world, topics)

    def run_late(self, world: QueryContext) -> None:
        for unit in tuple(self._stale_late):
            self._run(unit, world)
        self._stale_late.clear()

    def findings(self, late: bool) -> tuple[Finding, ...]:
        """Every finding, by place and rule; without the late ones for those who count errors."""
        if late and self._answer is not None:
            invariant(lambda: self._answer == self._placed(late), "Nothing changed in the last answer")
            return self._answer
        found = self._placed(late)
        if late:
            self._answer = found
        return found

    def _placed(self, late: bool) -> tuple[Finding, ...]:
        assert self.document is not None
        assert self.workspace is not None
        placing = FindingBuilder(self.document, self.plan.levels, self.workspace.documents.get, self._positions)
        broken = self._is_broken(self.document)
        found = placing.findings(self._speaking if late else self._speaking - self._late, broken)
        if self.document.head.misspelt_sections:
            found = tuple(one for one in found if one.rule not in _ABOUT_NAMES)
        return found

    def _is_broken(self, document: Document) -> bool:
        """Whether something in the file could not be read, so that nothing is said to be missing."""
        unknown = any(fault.code == "unknown-anchor" for fault in document.tree.faults)
        return bool(self._broken) or document.head.misspelt_sections or unknown

    # -- taking over a new version ----------------------------------------------------------------

    def _take(
        self,
        world: QueryContext,
        lost: Iterable[Piece],
        fresh: Iterable[Piece],
        gone: Iterable[Element],
        come: Iterable[Element],
    ) -> None:
        for piece in lost:
            self._drop(self._pieces.pop(piece))
            if piece.faults:
                self._broken.discard(piece)
                self._answer = None
        told = self.place != LOOKALIKE  # which gets its one finding and no other
        for piece in fresh:
            self._pieces[piece] = self._kept(local_unit(local_of_piece(self.plan, piece) if told else ()))
            if piece.faults:
                self._broken.add(piece)
                self._answer = None
        if self.place != "document":
            return
        for element in gone:
            for unit in self._elements.pop(element):
                self._drop(unit)
        self._take_tops(world)
        for element in come:
            self._elements[element] = tuple(self._units_of(element, world))

    def _units_of(self, element: Element, world: QueryContext) -> Iterator[Unit]:
        """The local one, the wide one and, of an element that calls a file, the late one."""
        yield self._kept(local_unit(local_of_element(self.plan, element)))
        wide = Unit(wide_of_element(self.plan, element))
        self._run(wide, world)
        yield wide
        if element.reference is not None:
            late = Unit(late_of_element(self.plan, element))
            self._late.add(late)
            self._stale_late.add(late)
            yield late

    def _take_tops(self, world: QueryContext) -> None:
        """The top-level keys that count: of a repeated one the first."""
        wanted = {top.piece: top for top in world.document.head.first.values() if top.name not in ("steps", "loops")}
        for piece in self._tops.keys() - wanted.keys():
            for unit in self._tops.pop(piece):
                self._drop(unit)
        for piece, top in wanted.items():
            if piece not in self._tops:
                wide = Unit(wide_of_top(self.plan, top))
                self._run(wide, world)
                self._tops[piece] = (self._kept(local_unit(local_of_top(self.plan, top))), wide)

    # -- units ------------------------------------------------------------------------------------

    def _ask_again(self, world: QueryContext, topics: Set[Topic]) -> None:
        """Run again what reads one of these topics and would be answered differently now."""
        suspects: dict[Unit, list[Topic]] = {}
        for topic in topics:
            for unit in self._readers.get(topic, ()):
                suspects.setdefault(unit, []).append(topic)
        for unit, about in suspects.items():
            if unit in self._fresh:
                continue
            if unit in self._late:
                self._stale_late.add(unit)
            elif not unit.would_hear_the_same(world, about):
                self._run(unit, world, about)

    def _plan_about(self, topics: Iterable[Topic]) -> Plan:
        """The rules that ask about such topics."""
        checks = frozenset(chain.from_iterable(self._askers[kind] for kind in set(map(kind_of, topics))))
        if checks not in self._asked:
            self._asked[checks] = self.plan.asked(checks)
        return self._asked[checks]

    def _run(self, unit: Unit, world: QueryContext, about: Sequence[Topic] = ()) -> None:
        """`about`: only these topics changed since it ran."""
        self._silence(unit)
        before = frozenset(unit.topics)
        if about:
            unit.run_some(world, about, self._plan_about(about), self._askers)
        else:
            unit.run(world, self._askers if self._remembers else None)
        self._kept(unit)
        self._fresh.add(unit)
        if self._remembers:
            self._unread(unit, before - unit.topics)
            for topic in unit.topics - before:
                self._readers.setdefault(topic, set()).add(unit)

    def _kept(self, unit: Unit) -> Unit:
        if unit.found:
            self._speaking.add(unit)
            self._answer = None
        return unit

    def _silence(self, unit: Unit) -> None:
        if unit.found:
            self._speaking.discard(unit)
            self._answer = None

    def _drop(self, unit: Unit) -> None:
        self._silence(unit)
        self._late.discard(unit)
        self._stale_late.discard(unit)
        self._unread(unit, unit.topics)

    def _unread(self, unit: Unit, topics: Set[Topic]) -> None:
        """Nothing is kept of a topic that nobody asks about any more."""
        for topic in topics:
            readers = self._readers.get(topic, set())
            readers.discard(unit)
            if not readers:
                self._readers.pop(topic, None)


def _as_long(lost: Sequence[Piece], fresh: Sequence[Piece]) -> bool:
    """Whether an edit left every other piece where it was."""
    return len(lost) == len(fresh) and all(
        len(old.lines) == len(new.lines) for old, new in zip(lost, fresh, strict=True)
    )


def _outside_changed(old: Workspace, new: Workspace, uri: str) -> bool:
    """Whether any other file changed, appeared or vanished, or one has another key. Compares pointers, not contents."""
    if old is new:
        return False
    if old.keys is not new.keys or len(old.documents) != len(new.documents):
        return True
    changed = sum(map(is_not, old.documents.values(), new.documents.values()))
    return changed > (old.documents.get(uri) is not new.documents.get(uri))


def _calls_itself(workspace: Workspace, document: Document) -> bool:
    """Whether an edit of a file may change what it is as a callee of its own."""
    name = document.name
    return name is not None and document.uri in workspace.referring.get(name.rpartition("/")[2], ())
