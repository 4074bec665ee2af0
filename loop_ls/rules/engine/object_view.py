"""What rules see of a file that is no workflow: all of it at once, among its neighbours.

Such files are small, so their rules look at everything again after an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.assistant.problems import assistant_flaws
from loop_ls.formats.common.json_stop import json_stop
from loop_ls.formats.common.object_parts import Parts
from loop_ls.formats.common.problem import Placed
from loop_ls.formats.registry import ROLE_LOOP, flaws_of, may_be_empty
from loop_ls.formats.role_loop.parts import RoleLoopParts
from loop_ls.formats.role_loop.problems import role_loop_flaws
from loop_ls.formats.role_loop.roles import Role
from loop_ls.formats.settings.model import Settings
from loop_ls.formats.workflow.problem_to_refusal import KINDS, begin_of, first_fault
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.context import Draft, Spot, node_span, value_span
from loop_ls.rules.engine.finding import Fix
from loop_ls.rules.fixes.builders import resolved_conflict
from loop_ls.syntax.merge_conflicts import conflict_fault
from loop_ls.syntax.nodes import Entry, Mapping, Node
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span
from loop_ls.text.record import equal_record


@equal_record
class ObjectView:
    """One version of a file in one version of its workspace."""

    document: Document
    workspace: Workspace

    @property
    def settings(self) -> Settings:
        return self.workspace.settings

    @property
    def parts(self) -> Parts:
        return self.document.whole.parts

    @property
    def loop(self) -> RoleLoopParts:
        return self.document.whole.role_loop

    @property
    def assistants(self) -> tuple[AssistantParts, ...]:
        return self.document.whole.assistants

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The roles that exist: built-in ones and those of the project."""
        return roles_of(self.settings)

    @cached_property
    def _flaws(self) -> dict[str, list[Placed]]:
        found: dict[str, list[Placed]] = {}
        for placed in self._all_flaws():
            found.setdefault(placed.flaw.code, []).append(placed)
        return found

    def _all_flaws(self) -> Iterable[Placed]:
        if self.document.format == ROLE_LOOP:
            return role_loop_flaws(self.loop, self.roles)
        own = flaws_of(self.document.format)
        return assistant_flaws(self.parts) if own is None else own(self.parts)

    @cached_property
    def subject(self) -> Document | None:
        """The loop file that checks or test cases are about."""
        return self.workspace.subject(self.document)

    def flaws(self, code: str) -> Sequence[Placed]:
        """What the reading of the file says under the code of a rule."""
        return self._flaws.get(code, ())

    def twins(self) -> Iterator[Document]:
        """The other definitions of this folder with the same name."""
        name = self.loop.name
        for other in self.workspace.definitions_beside(self.document):
            if name and not is_unreadable(other) and other.whole.role_loop.name == name:
                yield other

    # -- places -----------------------------------------------------------------------------------

    def begin(self) -> Spot:
        """Where the file as a whole is marked: its first sign."""
        return Spot(None, begin_of(self.document.tree))

    def spot(self, placed: Placed) -> Spot:
        at = placed.flaw.at
        if placed.piece is None or at is None:
            return self.begin()
        return Spot(placed.piece, mark(at))

    def of_flaw(self, placed: Placed, *fixes: Fix) -> Draft:
        """A draft of a flaw. Where a default is to blame, that is marked, and the place that uses it is told."""
        flaw, spot = placed.flaw, self.spot(placed)
        declared = self.loop.declared.get(flaw.parameter) if flaw.parameter is not None else None
        default = None if declared is None else declared.part
        if default is None:
            return Draft(spot, flaw.message, fixes=fixes)
        message = f"Invalid default of `{flaw.parameter}` where it is used: {flaw.message}"
        return Draft(Spot(default.piece, value_span(default.field)), message, related=((spot, "it is used here"),))


def mark(at: Node | Entry) -> Span:
    """What to mark of a value or key; of an object its brace."""
    if isinstance(at, Entry):
        return at.key.span
    if isinstance(at, Mapping) and at.flow:
        line, column = at.span.start
        return Span(at.span.start, Position(line, column + 1))
    return node_span(at)


def syntax_fault(document: Document) -> Fault | None:
    """Where the text of a file stops being what it has to be, and why."""
    fault = first_fault(document.tree)
    if not document.path.endswith(".json"):
        return fault
    stop = json_stop(document.text)
    if stop is None:
        return fault
    line = document.text.line(stop.line)
    place = Span(stop, Position(stop.line, min(stop.column + 1, len(line))))
    if not any(line.strip() for line in document.text.lines):
        return Fault(place, "Empty file: add an object in braces.", "syntax")
    if fault is None:
        return Fault(place, "Invalid JSON from here on.", "syntax")
    # A strict reader may notice a fault only further down: a bracket that is open, at the end.
    near = fault.span.start.line in (stop.line, stop.line - 1)
    return fault if near else Fault(place, fault.message, fault.code)


def conflict_drafts(document: Document) -> list[Draft]:
    """One for each merge conflict of a file: they are told before anything else, and all of them."""
    faults = (conflict_fault(document.text, one) for one in document.tree.conflicts)
    return [Draft(Spot(None, fault.span), fault.message, fixes=resolved_conflict(fault)) for fault in faults]


def root_message(document: Document) -> str | None:
    """What the root is, where it is no object. Settings may be empty."""
    kind = document.tree.root_kind
    fits = kind == "mapping" or (kind == "empty" and may_be_empty(document.format))
    return None if fits else KINDS[kind]


def is_unreadable(document: Document) -> bool:
    """Whether nothing but its syntax is told of a file."""
    return root_message(document) is not None or syntax_fault(document) is not None
