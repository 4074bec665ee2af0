"""What rules ask about other files, answered from a workspace in plain values (see `rules.engine.call_facts`).

One instance belongs to one snapshot of the workspace. Summaries are kept with the documents that
they were made of and outlive it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import NamedTuple

from loop_ls.index.calls import circle_through, innermost_runs
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.graph.reachability import Closure
from loop_ls.index.resolve import Match, resolve
from loop_ls.index.workspace import Resolution, Workspace
from loop_ls.rules.engine.call_facts import Call, Callee, Callers, Circle, Summary
from loop_ls.rules.engine.callee_summary import summarise, taken_as


class Summaries:
    """Summaries by document; an entry is of use only for the very snapshot that it was made of."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Document, Summary]] = {}
        self._called: dict[str, _Called] = {}

    def of(self, document: Document) -> Summary:
        known = self._known.get(document.uri)
        if known is not None and known[0] is document:
            return known[1]
        summary = summarise(document)
        self._known[document.uri] = (document, summary)
        return summary

    def callers(self, workspace: Workspace, document: Document, find: Callable[[Document], Callers]) -> Callers:
        """Who calls a workflow; looked for again only when a file that names it changed, or the name of any file."""
        known = self._called.get(document.uri)
        if known is None or not known.holds(workspace):
            name = (workspace.key(document) or "").rpartition("/")[2]
            uris = tuple(workspace.referring.get(name, ()))
            naming = tuple(map(workspace.documents.__getitem__, uris))
            known = _Called(workspace.roots, workspace.keys, workspace.referring, uris, naming, find(document))
            self._called[document.uri] = known
        return known.callers

    def forget(self, uri: str) -> None:
        self._known.pop(uri, None)
        self._called.pop(uri, None)


class _Called(NamedTuple):
    """The callers of a workflow, and all that they were found in."""

    roots: Roots
    keys: Mapping[str, tuple[str, ...]]
    referring: Mapping[str, frozenset[str]]
    uris: tuple[str, ...]
    naming: tuple[Document, ...]
    callers: Callers

    def holds(self, workspace: Workspace) -> bool:
        return (
            workspace.roots is self.roots
            and workspace.keys is self.keys
            and workspace.referring is self.referring
            and all(map(is_, map(workspace.documents.get, self.uris), self.naming))
        )


class Neighbours:
    def __init__(self, workspace: Workspace, summaries: Summaries) -> None:
        self.workspace = workspace
        self._summaries = summaries
        self._documents: list[Document] = []  # numbered by their place
        self._numbers: dict[str, int] = {}
        self._folders: dict[str, str] = {}
        self._meant: dict[tuple[str, str], Match | None] = {}
        self._missed: dict[str, Resolution] = {}
        self._closure = Closure(self._edges_of)

    def path(self, document: Document) -> str:
        """The path of a file as people know it: counted from the workspace folder."""
        return document.path.removeprefix(f"{self.workspace.roots.workspace.rstrip('/')}/")

    def document(self, uri: str) -> Document | None:
        return self.workspace.documents.get(uri)

    def callee(self, document: Document, reference: str) -> Callee:
        match = self._match(document, reference)
        found = None if match is None else self.workspace.by_key(match.key)
        if match is None or found is None:
            missed = self._missing(document, reference)
            return Callee(None, suggestions=missed.suggestions, unsaved=missed.unsaved)
        return Callee(
            match.key,
            self._summaries.of(found),
            shadowed=match.other,
            by_folder=match.key != reference,
            is_caller=found.uri == document.uri,
        )

    def _match(self, document: Document, reference: str) -> Match | None:
        folder = self._folders.get(document.uri)
        if folder is None:
            folder = self._folders[document.uri] = self.workspace.folder(document)
        meant = (folder, reference)
        if meant not in self._meant:
            self._meant[meant] = resolve(folder, reference, self.workspace.keys) if reference else None
        return self._meant[meant]

    def _missing(self, document: Document, reference: str) -> Resolution:
        """Looked for once: many files may miss the same workflow."""
        if reference not in self._missed:
            self._missed[reference] = self.workspace.resolve(document, reference)
        return self._missed[reference]

    def _called(self, document: Document, element: Element) -> Document | None:
        match = self._match(document, element.reference.text) if element.reference is not None else None
        return None if match is None else self.workspace.by_key(match.key)

    def callers(self, document: Document) -> Callers:
        return self._summaries.callers(self.workspace, document, self._callers)

    def _callers(self, document: Document) -> Callers:
        return Callers(
            tuple(
                Call(
                    self.path(call.document),
                    self.workspace.key(call.document) or self.path(call.document),
                    call.element.name,
                    call.reference.kind,
                    call.element.loop_mode if call.reference.kind == "loop" else None,
                    frozenset(pair.name for pair in call.reference.arguments or ()),
                    taken_as(call.document, call.element),
                )
                for call in self.workspace.callers(document)
            )
        )

    def twin(self, document: Document) -> str | None:
        first, *_ = self.workspace.namesakes(document) or (document,)
        return None if first.uri == document.uri else self.path(first)

    def circle(self, document: Document, element: Element) -> Circle | None:
        """The shortest way on which a call leads back to its own file."""
        callee = self._called(document, element)
        if callee is None:
            return None
        home = self._number(document)
        if not self._closure.of(self._number(callee)) >> home & 1:
            return None
        found = circle_through(self.workspace, document, element)
        if found is None:
            return None
        keys = tuple(self.workspace.key(one) or self.path(one) for one, _ in found.calls)
        return Circle((*keys, keys[0]), found.guarded)

    def innermost_runs(self, document: Document, element: Element) -> int | None:
        if self._called(document, element) is None:
            return None
        return innermost_runs(self.workspace, document, element)

    def _number(self, document: Document) -> int:
        if document.uri not in self._numbers:
            self._numbers[document.uri] = len(self._documents)
            self._documents.append(document)
        return self._numbers[document.uri]

    def _edges_of(self, node: int) -> tuple[int, ...]:
        document = self._documents[node]
        found = [self._called(document, element) for element in document.calling]
        return tuple(dict.fromkeys(self._number(one) for one in found if one is not None))
