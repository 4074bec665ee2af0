"""All documents of one workspace folder as an immutable snapshot: keys, references, callers.

Replacing one document copies a dictionary of pointers; keys and references are indexed again only
if they changed. Nothing here reads the disk (see `index.disk.discovery`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from loop_ls.formats.checks.file_format import loop_stem, subject_stem
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import ROLE_LOOP, can_run
from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.projects import Project, is_below
from loop_ls.index.disk.roots import Roots
from loop_ls.index.disk.uris import folder_of, stem_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Reference
from loop_ls.index.resolve import Listing, listing, resolve, suggestions
from loop_ls.text.invariant import invariant
from loop_ls.text.record import record


class Call(NamedTuple):
    """One element that calls a workflow."""

    document: Document
    element: Element
    reference: Reference


class Resolution(NamedTuple):
    """What a reference means. `hidden` is a root workflow that the one in the caller's folder hides
    (WF606); `suggestions` are keys that may have been meant where there is no such workflow, `unsaved` tells that one
    of this name is open which is no file."""

    key: str | None
    document: Document | None
    hidden: str | None = None
    suggestions: tuple[str, ...] = ()
    unsaved: bool = False


class Parameter(NamedTuple):
    """A name that a workflow uses and does not define. `supplied` and `missing` are its callers."""

    name: str
    supplied: tuple[Call, ...]
    missing: tuple[Call, ...]

    @property
    def settled(self) -> bool:
        """Whether there are callers and all of them supply it (WF502 is silent then)."""
        return bool(self.supplied) and not self.missing


class UnreadName(NamedTuple):
    """A workflow of which nothing was read but its name: no finding depends on more."""

    path: str
    name: str


@record
class Workspace:
    """`documents` by URI. `keys` leads from a key to the URIs of its files, in path order; `referring`
    from the last part of a reference to the URIs of the documents that hold one. `nested` are the projects below this
    one, by folder: their files are here, too, since they may be called, and have a workspace of their own.
    `unread` are workflows that may be suggested, where only those were read that are called."""

    roots: Roots
    settings: Settings = field(default_factory=Settings)
    documents: dict[str, Document] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    referring: dict[str, frozenset[str]] = field(default_factory=dict)
    nested: Mapping[str, Project] = field(default_factory=dict)
    unread: tuple[UnreadName, ...] = ()

    @classmethod
    def of(
        cls,
        roots: Roots,
        documents: Iterable[Document] = (),
        settings: Settings | None = None,
        nested: Mapping[str, Project] | None = None,
        unread: tuple[UnreadName, ...] = (),
    ) -> Workspace:
        known = {document.uri: document for document in documents}
        keys: dict[str, list[str]] = {}
        referring: dict[str, set[str]] = {}
        for document in sorted(known.values(), key=lambda d: d.path):
            key = _key(roots, document)
            if key is not None:
                keys.setdefault(key, []).append(document.uri)
            for name in _bare_references(document):
                referring.setdefault(name, set()).add(document.uri)
        return cls(
            roots,
            settings or Settings(),
            known,
            {key: tuple(uris) for key, uris in keys.items()},
            {name: frozenset(uris) for name, uris in referring.items()},
            nested or {},
            unread,
        )

    # -- projects ---------------------------------------------------------------------------------

    def project(self, path: str) -> Workspace:
        """The workspace of the project that a file lies in: this one, unless a folder between has settings."""
        homes = [folder for folder in self.nested if is_below(folder, path)]
        return self if not homes else self._nested_at(max(homes, key=len))

    def _nested_at(self, folder: str) -> Workspace:
        found = self._projects.get(folder)
        if found is None:
            project = self.nested[folder]
            inside = (one for one in self.documents.values() if is_below(folder, one.path))
            below = {name: one for name, one in self.nested.items() if is_below(folder, name)}
            unread = tuple(one for one in self.unread if is_below(folder, one.path))
            found = self._projects[folder] = Workspace.of(project.roots, inside, project.settings, below, unread)
        return found

    @cached_property
    def _projects(self) -> dict[str, Workspace]:
        """Made when they are asked for."""
        return {}

    def with_projects(self, nested: Mapping[str, Project]) -> Workspace:
        if nested == self.nested:
            return self
        return Workspace.of(self.roots, self.documents.values(), self.settings, nested, self.unread)

    def subject(self, document: Document) -> Document | None:
        """The loop file that checks or test cases are about: the one of their name beside them."""
        stem = subject_stem(document.path)
        if stem is None:
            return None
        return next((one for one in self._runnable if loop_stem(one.path) == stem), None)

    def beside(self, document: Document, format_: Format) -> Document | None:
        """The file of another format that is about the same loop file."""
        stem = subject_stem(document.path)
        fitting = (one for one in self.documents.values() if one.format == format_ and one.path != document.path)
        return next((one for one in fitting if subject_stem(one.path) == stem), None)

    @cached_property
    def _runnable(self) -> tuple[Document, ...]:
        return tuple(one for one in self.documents.values() if can_run(one.format))

    # -- the next version -------------------------------------------------------------------------

    def with_document(self, document: Document) -> Workspace:
        """The workspace with this version of a document, new or known."""
        return self._replaced(document.uri, document)

    def without(self, uri: str) -> Workspace:
        return self._replaced(uri, None) if uri in self.documents else self

    def with_settings(self, settings: Settings, roots: Roots | None = None) -> Workspace:
        return Workspace.of(roots or self.roots, self.documents.values(), settings, self.nested, self.unread)

    def _replaced(self, uri: str, new: Document | None) -> Workspace:
        old = self.documents.get(uri)
        documents = self.documents.copy()
        if new is None:
            documents.pop(uri, None)
        else:
            documents[uri] = new
        keys, referring = self.keys, self.referring
        if _label(old) != _label(new):
            keys = self._rekeyed(uri, _key(self.roots, old), _key(self.roots, new), documents)
        if _references(old) != _references(new):
            referring = self._rereferred(uri, old, new)
        after = Workspace(self.roots, self.settings, documents, keys, referring, self.nested, self.unread)
        changed = new or old
        path = changed.path if changed is not None else ""
        for folder, project in self._projects.items():
            after._projects[folder] = project._replaced(uri, new) if is_below(folder, path) else project
        if keys is self.keys:
            after._listings.extend(self._listings)
        invariant(after._fits_its_documents, "keys and references are those of the documents")
        return after

    def _fits_its_documents(self) -> bool:
        fresh = Workspace.of(self.roots, self.documents.values(), self.settings, unread=self.unread)
        listing_fits = all(one == fresh._listing for one in self._listings)
        return (self.keys, self.referring) == (fresh.keys, fresh.referring) and listing_fits

    def _rekeyed(
        self, uri: str, before: str | None, after: str | None, documents: dict[str, Document]
    ) -> dict[str, tuple[str, ...]]:
        keys = self.keys.copy()
        if before is not None:
            left = tuple(other for other in keys[before] if other != uri)
            if left:
                keys[before] = left
            else:
                del keys[before]
        if after is not None:
            keys[after] = tuple(sorted({*keys.get(after, ()), uri}, key=lambda known: documents[known].path))
        return keys

    def _rereferred(self, uri: str, old: Document | None, new: Document | None) -> dict[str, frozenset[str]]:
        referring = self.referring.copy()
        before, after = set(_bare_references(old)), set(_bare_references(new))
        for name in before - after:
            left = referring[name] - {uri}
            if left:
                referring[name] = left
            else:
                del referring[name]
        for name in after - before:
            referring[name] = referring.get(name, frozenset()) | {uri}
        return referring

    # -- keys and references ----------------------------------------------------------------------

    def key(self, document: Document) -> str | None:
        """The key of a workflow; None for one without name, for what is no file, and for files of other formats."""
        return _key(self.roots, document)

    def folder(self, document: Document) -> str:
        """The folder of a document, counted from the workflow root."""
        return self.roots.folder_of(document.path)

    def by_key(self, key: str) -> Document | None:
        """The workflow with this key; of several the first in path order."""
        uris = self.keys.get(key)
        return self.documents[uris[0]] if uris else None

    def namesakes(self, document: Document) -> tuple[Document, ...]:
        """Every file with the key of this one, itself included, in path order (WF605)."""
        key = self.key(document)
        return tuple(self.documents[uri] for uri in self.keys.get(key, ())) if key is not None else ()

    def resolve(self, document: Document, reference: Reference | str) -> Resolution:
        """What a reference in `document` means."""
        text = reference if isinstance(reference, str) else reference.text
        if not text:
            return Resolution(None, None)
        match = resolve(self.folder(document), text, self.keys)
        if match is None:
            return Resolution(None, None, None, self._suggestions(text), self._is_unsaved(text))
        return Resolution(match.key, self.by_key(match.key), match.other)

    def callee(self, document: Document, reference: Reference | str | None) -> Document | None:
        """The workflow that a reference in `document` calls."""
        text = reference.text if isinstance(reference, Reference) else reference
        match = resolve(self.folder(document), text, self.keys) if text else None
        return None if match is None else self.by_key(match.key)

    def _suggestions(self, reference: str) -> tuple[str, ...]:
        return suggestions(reference, self._listing)

    def _is_unsaved(self, name: str) -> bool:
        return any(one.name == name and one.is_workflow and not _is_file(one) for one in self.documents.values())

    @property
    def _listing(self) -> Listing:
        if not self._listings:
            stems = [(stem_of(self.documents[uri].path), key) for key, uris in self.keys.items() for uri in uris]
            stems += [(stem_of(path), self.roots.key(path, name)) for path, name in self.unread]
            self._listings.append(listing({key for _, key in stems}, sorted(stems)))
        return self._listings[0]

    @cached_property
    def _listings(self) -> list[Listing]:
        """One at most: made when it is asked for, and shared with the next snapshot while the keys are the same."""
        return []

    # -- who calls whom ---------------------------------------------------------------------------

    def calls(self, document: Document) -> Iterator[tuple[Element, Reference, Resolution]]:
        """Every call that a document makes."""
        for element in document.calling:
            if element.reference is not None:
                yield element, element.reference, self.resolve(document, element.reference)

    def callers(self, document: Document) -> tuple[Call, ...]:
        """Every element in the workspace that calls this workflow, in path and document order."""
        key = self.key(document)
        if key is None or self.keys[key][0] != document.uri:
            return ()
        found: list[Call] = []
        for caller in self._referring(key):
            for element in caller.calling:
                reference = element.reference
                if reference is not None and self._means(caller, reference.text, key):
                    found.append(Call(caller, element, reference))
        return tuple(found)

    def parameters(self, document: Document) -> tuple[Parameter, ...]:
        """The parameters of a workflow with the callers that supply them."""
        if not document.parameters:
            return ()
        calls = self.callers(document)
        return tuple(
            Parameter(
                name,
                tuple(call for call in calls if call.reference.supplies(name)),
                tuple(call for call in calls if not call.reference.supplies(name)),
            )
            for name in document.parameters
        )

    def neighbours(self, document: Document) -> frozenset[str]:
        """The URIs of all documents whose findings may change when this one changes: its callers, the
        workflows it calls, and files with its key."""
        if document.format == ROLE_LOOP:
            return frozenset(other.uri for other in self.definitions_beside(document))
        found = {other.uri for other in self.namesakes(document)}
        key = self.key(document) or document.name  # one that is no file is missed under its name
        if key is not None:
            found |= {caller.uri for caller in self._referring(key)}
        for reference in document.references:
            callee = self.callee(document, reference)
            if callee is not None:
                found.add(callee.uri)
        return frozenset(found - {document.uri})

    def definitions_beside(self, document: Document) -> tuple[Document, ...]:
        """The other role-loop definitions in the folder of one."""
        folder = folder_of(document.path)
        return tuple(
            other
            for other in self.documents.values()
            if other.format == ROLE_LOOP and other.uri != document.uri and folder_of(other.path) == folder
        )

    def _referring(self, key: str) -> list[Document]:
        uris = self.referring.get(key.rpartition("/")[2], frozenset())
        return sorted((self.documents[uri] for uri in uris), key=lambda d: d.path)

    def _means(self, caller: Document, reference: str, key: str) -> bool:
        match = resolve(self.folder(caller), reference, self.keys)
        return match is not None and match.key == key


def _key(roots: Roots, document: Document | None) -> str | None:
    if document is None or not _can_be_called(document):
        return None
    name = document.name
    return roots.key(document.path, name) if name else None


def _can_be_called(document: Document) -> bool:
    """A document that is no file (not saved yet, a state of another time) may call others; none can call it."""
    return document.is_workflow and _is_file(document)


def _is_file(document: Document) -> bool:
    return document.uri.startswith("file:")


def _label(document: Document | None) -> tuple[str, str | None] | None:
    """What the key of a document is made of; None where it has none."""
    return None if document is None or not _can_be_called(document) else (document.path, document.name)


def _references(document: Document | None) -> frozenset[str]:
    return frozenset() if document is None or not document.is_workflow else document.references


def _bare_references(document: Document | None) -> Iterator[str]:
    return (reference.rpartition("/")[2] for reference in _references(document))
