"""All findings of a document among others, at the price of what changed since the last time.

Used by the language server after every keystroke and by `loop-ls check` once for every file. A
`Checker` remembers the last version of each document that it was asked about; asked about another
one, it runs the rules again that looked at something different.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.formats import registry
from loop_ls.formats.registry import LOOKALIKE
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.index.disk.discovery import Found
from loop_ls.index.document import Document
from loop_ls.index.nearby_lookup import with_called
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.document_state import Session
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.rules.engine.queries import QueryContext
from loop_ls.rules.engine.registry import CHECKS, all_rules, conflict_codes
from loop_ls.rules.engine.rule_selection import Plan, Selection, plan
from loop_ls.rules.engine.suppression import heard
from loop_ls.rules.engine.unreadable import unreadable
from loop_ls.rules.engine.workspace_queries import Neighbours, Summaries

if TYPE_CHECKING:
    from loop_ls.rules.engine.object_files import WholeFiles

#: What cannot be said before all files are known: that a name comes from nowhere, that nobody calls.
NEEDS_ALL_FILES = frozenset({"WF501", "WF502", "WF506", "WF601", "unused-ignore"})
#: Errors that say nothing about whether a called workflow can run (WF609).
_NOT_ITS_OWN = frozenset({"WF604", "WF605", "WF609"})


class Checkable(NamedTuple):
    """A workspace, and the rules that cannot speak of documents in it."""

    workspace: Workspace
    untold: frozenset[str] = frozenset()


def checkable(found: Found, workspace: Workspace, documents: Iterable[Document]) -> Checkable:
    """`workspace` is that of `found` with the documents that are to be checked. Where not every file was read, what
    these call is looked up."""
    if not found.capped and not found.ignored:
        return Checkable(workspace)
    workspace, complete = with_called(workspace, documents)
    if not complete:
        return Checkable(workspace, NEEDS_ALL_FILES)
    return Checkable(workspace, NEEDS_ALL_FILES - {"WF601"} if found.capped else frozenset())


class Checker:
    """`enable` takes `compat`, `pedantic` and codes, `disable` codes; the settings of the workspace
    are honoured below them. Not for several threads at once."""

    def __init__(self, enable: Iterable[str] = (), disable: Iterable[str] = ()) -> None:
        self._enable, self._disable = tuple(enable), tuple(disable)
        self._rules: Mapping[str, str] | None = None
        self._plan: Plan | None = None
        self._sessions: dict[str, Session] = {}
        self._remembers = True
        self._wholes: WholeFiles | None = None
        self._summaries = Summaries()
        self._neighbours: Neighbours | None = None
        self._last: QueryContext | None = None
        self._errors: dict[str, int] = {}  # of the workspace that `_neighbours` belong to
        self._nested: dict[str, Checker] = {}  # one for each project below: it has rules of its own

    def findings(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
        """Every finding of a document that its author did not silence, by place and rule, by the settings of the
        project that it lies in."""
        home, own = self._at(workspace, document)
        return own._heard(home, document)

    def _heard(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
        found = _outside_conflicts(document, self._found(workspace, document))
        return heard(document, found, self._current_plan(workspace).selection)

    def _at(self, workspace: Workspace, document: Document) -> tuple[Workspace, Checker]:
        """The project that a document lies in, and the checker of that project."""
        home = workspace.project(document.path)
        return home, self if home is workspace else self._of(home)

    def _of(self, home: Workspace) -> Checker:
        folder = home.roots.workspace
        if folder not in self._nested:
            self._nested[folder] = Checker(self._enable, self._disable)
        return self._nested[folder]

    def speaks(self, workspace: Workspace, code: str) -> bool:
        """Whether a rule is asked, in this project or in one below. One that nobody knows any more counts as asked:
        it finds nothing."""
        if code not in all_rules():
            return True
        selections = [self._current_plan(workspace).selection]
        selections += [one._plan.selection for one in self._nested.values() if one._plan is not None]
        checks = [check for check in CHECKS if check.rule.code == code]
        return any(selection.is_on(check) for selection in selections for check in checks)

    def _found(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
        if document.fault is not None:
            return unreadable(document)
        if document.is_object:
            return self._whole_files().findings(self._current_plan(workspace).selection, workspace, document)
        session = self._updated(workspace, document)
        if session is None:
            return ()
        session.run_late(self._world(workspace, document))
        return session.findings(late=True)

    def check_all(
        self, workspace: Workspace, uris: Container[str] | None = None
    ) -> Iterator[tuple[Document, tuple[Finding, ...]]]:
        """The documents with these URIs (None: all) in path order, once: nothing is remembered for a
        next time."""
        self._remembers = False
        try:
            for document in sorted(workspace.documents.values(), key=lambda one: one.path):
                if uris is None or document.uri in uris:
                    home, checker = self._at(workspace, document)
                    checker._remembers = False
                    found = checker._heard(home, document)
                    checker._count(home, document)
                    checker._sessions.pop(document.uri, None)
                    yield document, found
        finally:
            for checker in (self, *self._nested.values()):
                checker._remembers = True
                checker._sessions.clear()

    def beside(self, workspace: Workspace) -> Checker:
        """Another one with the same choice of rules, for a thread of its own."""
        other = Checker(self._enable, self._disable)
        other._plan = self._current_plan(workspace)
        other._rules = self._rules
        for folder, project in workspace.nested.items():
            home = workspace.project(f"{folder}/{SETTINGS_NAME}")
            assert home.settings is project.settings
            other._nested[folder] = self._of(home).beside(home)
        return other

    def take_over(self, other: Checker, uri: str) -> None:
        """What `other` has found out about a document, unless this one looked at it meanwhile."""
        for folder, nested in other._nested.items():
            if folder in self._nested:
                self._nested[folder].take_over(nested, uri)
        session = other._sessions.get(uri)
        if session is not None and session.plan is self._plan:
            self._sessions.setdefault(uri, session)

    def forget(self, uri: str) -> None:
        """Free what is remembered of a document that was closed or deleted."""
        for nested in self._nested.values():
            nested.forget(uri)
        self._sessions.pop(uri, None)
        self._errors.pop(uri, None)
        self._summaries.forget(uri)
        if self._wholes is not None:
            self._wholes.forget(uri)

    def _whole_files(self) -> WholeFiles:
        if self._wholes is None:
            from loop_ls.rules.engine.object_files import WholeFiles  # most sessions never see such a file

            self._wholes = WholeFiles()
        return self._wholes

    # -- sessions ---------------------------------------------------------------------------------

    def _updated(self, workspace: Workspace, document: Document) -> Session | None:
        place = _place(document)
        if place is None:
            self._sessions.pop(document.uri, None)
            return None
        plan_ = self._current_plan(workspace)
        session = self._sessions.get(document.uri)
        if session is None or session.place != place or _set_otherwise(session, workspace):
            session = self._sessions[document.uri] = Session(plan_, place, self._remembers)
        if session.document is not document or session.workspace is not workspace:
            session.update(self._world(workspace, document), workspace)
        return session

    def _current_plan(self, workspace: Workspace) -> Plan:
        rules = workspace.settings.rules
        if self._plan is None or rules != self._rules:
            self._rules = rules
            self._plan = plan(Selection.of(self._enable, self._disable, rules))
        return self._plan

    def _world(self, workspace: Workspace, document: Document) -> QueryContext:
        if self._neighbours is None or self._neighbours.workspace is not workspace:
            self._neighbours = Neighbours(workspace, self._summaries)
            self._last = None
            self._errors.clear()
        if self._last is None or self._last.document is not document:
            self._last = QueryContext(document, self._neighbours, partial(self._errors_of, workspace), document.names)
        return self._last

    # -- findings ---------------------------------------------------------------------------------

    def _errors_of(self, workspace: Workspace, key: str) -> int:
        document = workspace.by_key(key)
        assert document is not None, "it is known what a call means before its errors are counted"
        return self._count(workspace, document)

    def _count(self, workspace: Workspace, document: Document) -> int:
        """The errors of a workflow in this workspace, counted once."""
        if document.uri not in self._errors:
            self._errors[document.uri] = self._counted(workspace, document)
        return self._errors[document.uri]

    def _counted(self, workspace: Workspace, document: Document) -> int:
        session = self._updated(workspace, document)
        found = () if session is None else session.findings(late=False)
        return sum(one.severity is Severity.ERROR and one.rule not in _NOT_ITS_OWN for one in found)


def _place(document: Document) -> str | None:
    match document.format:
        case registry.WORKFLOW:
            return "document" if document.tree.root_kind == "mapping" else "root"
        case registry.LOOKALIKE:
            return LOOKALIKE
        case _:
            return None


def _set_otherwise(session: Session, workspace: Workspace) -> bool:
    """Whether the settings are others. Where the folder is another one every file has another key."""
    return session.workspace is not None and session.workspace.settings != workspace.settings


def _outside_conflicts(document: Document, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Of a merge conflict nothing is said but that it is one: everything in it is written twice."""
    conflicts = document.tree.conflicts
    if not conflicts:
        return found
    codes = conflict_codes()
    return tuple(
        one
        for one in found
        if one.rule in codes or not any(conflict.holds(one.span.start.line) for conflict in conflicts)
    )
