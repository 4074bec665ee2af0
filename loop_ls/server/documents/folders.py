"""One workspace folder: the snapshot of its files, their findings, its settings.

A document that lies in no folder gets one of its own (`loose`): the folder that it lies in, so that
a single file works, and references to its neighbours too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.formats.registry import SETTINGS
from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.discovery import find_roots, load_settings, nested_projects, project_at
from loop_ls.index.disk.ignored import Ignored
from loop_ls.index.disk.projects import engine_home, is_below, project_folder
from loop_ls.index.disk.roots import Roots
from loop_ls.index.disk.uris import folder_of, uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import NEEDS_ALL_FILES, Checker
from loop_ls.server.documents import uris
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.rules.engine.finding import Finding

logger = logging.getLogger(__name__)

#: Settings of the client itself, which this server does not read.
_CLIENT_ONLY = frozenset({"panel", "server", "trace"})


class Folder:
    """`path` is None for a document that is no file. `indexed` tells that the files on disk are known,
    `stale` that they have to be read, for the first time or again, `capped` that there are too many; `ignored`
    knows the folders that were passed over because an ignore file names them."""

    def __init__(self, uri: str, path: Path | None, editor_settings: object, loose: bool = False) -> None:
        self.uri, self.path, self.loose = uri, path, loose
        self.text = uris.path_text(uri).rstrip("/") or "/"
        self.indexed, self.stale = path is None, path is not None
        self.capped = False
        #: of a document of an archive or of another machine: what lies beside it is not known
        self.virtual = path is None and not uris.is_unsaved(uri)
        self.ignored: Ignored | None = None
        self._editor_settings = editor_settings
        self.workspace = Workspace.of(Roots(self.text))
        self.read_settings()
        self._checker = Checker()
        self._moved: dict[str, Workspace] = {}
        self._known: tuple[tuple[Workspace, Document, bool], tuple[Finding, ...]] | None = None

    @classmethod
    def loose_for(cls, uri: str, path: Path | None, editor_settings: object) -> Folder:
        """The folder of a document that lies in none of the client's."""
        if path is None:
            return cls(uri, None, editor_settings, loose=True)
        return cls(uris.from_path(path.parent), path.parent, editor_settings, loose=True)

    def holds(self, path: Path | None) -> bool:
        """A loose folder has its own files only: nobody said that all below it belongs together."""
        if path is None or self.path is None:
            return False
        return self.path in (path, path.parent) if self.loose else path.is_relative_to(self.path)

    # -- documents ----------------------------------------------------------------------------

    def put(self, document: Document) -> None:
        """This version counts from now on."""
        self._moved.setdefault(document.uri, self.workspace)
        new = document.uri not in self.workspace.documents
        self.workspace = self.workspace.with_document(document)
        if new:
            self._find_project(document)

    def remove(self, uri: str) -> None:
        if uri in self.workspace.documents:
            self._moved.setdefault(uri, self.workspace)
            is_settings = self.workspace.documents[uri].format == SETTINGS
            self.workspace = self.workspace.without(uri)
            if is_settings:
                self._read_projects()
            self._checker.forget(uri)

    def passes_over(self, path: str) -> bool:
        """Whether a file lies in a folder that an ignore file names; with a slash at its end, a folder in or is one."""
        return self.ignored is not None and self.ignored.holds(path)

    @property
    def partial(self) -> bool:
        """Whether a workflow that is called may be on the disk and not among the documents."""
        return self.capped or (self.ignored is not None and self.ignored.any)

    def replace_all(self, documents: Iterable[Document], capped: bool = False) -> None:
        """The files on disk are known; `documents` are all there are (or all that are read), open ones included."""
        listed = tuple(documents)
        nested = nested_projects(self.text, listed, self.editor_settings) if self.path is not None else {}
        self.workspace = Workspace.of(self._roots(self.settings), listed, self.settings, nested)
        self.indexed, self.stale, self.capped = True, False, capped

    @property
    def all_known(self) -> bool:
        """Whether what is not among the documents is not there at all."""
        return self.indexed and not self.capped and not self.virtual

    def document(self, uri: str) -> Document | None:
        return self.workspace.documents.get(uri)

    def documents(self) -> Iterator[Document]:
        yield from self.workspace.documents.values()

    @property
    def changed(self) -> Set[str]:
        """The URIs of the documents that changed since `take_changes`."""
        return self._moved.keys()

    def drop_changes(self) -> None:
        """Nobody looks at the documents that depend on what changed."""
        self._moved = {}

    def take_changes(self) -> tuple[set[str], set[str]]:
        """The URIs of the documents that changed since the last call, and of those that depend on them."""
        moved, self._moved = self._moved, {}
        affected: set[str] = set()
        for uri, before in moved.items():
            for workspace in (before, self.workspace):
                document = workspace.documents.get(uri)
                if document is not None:
                    affected |= workspace.neighbours(document)
        return set(moved), affected - moved.keys()

    # -- findings -----------------------------------------------------------------------------

    def findings(self, document: Document) -> tuple[Finding, ...]:
        """Asked several times for one version: by the publisher, by code actions, by a start."""
        all_known = self.all_known
        asked = (self.workspace, document, all_known)
        known = self._known
        if known is None or any(one is not other for one, other in zip(known[0], asked, strict=True)):
            found = self._checker.findings(self.workspace, document)
            if not all_known:
                found = tuple(finding for finding in found if finding.rule not in NEEDS_ALL_FILES)
            known = self._known = (asked, found)
        return known[1]

    def beside(self) -> Checker:
        """A checker for another thread. What it finds is taken over with `take_over`."""
        return self._checker.beside(self.workspace)

    def take_over(self, other: Checker, document: Document) -> None:
        if self.document(document.uri) is document:
            self._checker.take_over(other, document.uri)

    # -- settings -----------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self.workspace.settings

    @property
    def engine_home(self) -> Path:
        """The folder whose engine runs its files."""
        return Path.cwd() if self.path is None else self._engine_home

    @property
    def data_dir(self) -> str | None:
        return self.settings.engine.data_dir

    @property
    def editor_settings(self) -> JsonObject:
        """What the editor says, which is the person's and lies below the project's file."""
        editor = self._editor_settings if isinstance(self._editor_settings, dict) else {}
        return {name: value for name, value in editor.items() if name not in _CLIENT_ONLY}

    def set_editor_settings(self, section: object) -> bool:
        """Whether that changes anything."""
        self._editor_settings = section
        return self.read_settings()

    def read_settings(self) -> bool:
        """Read the settings again; whether they, or the places of workflows, differ. What cannot be used
        is logged and left out (UP-30, UP-35)."""
        self._engine_home = engine_home(self.text)
        try:
            settings, problems = load_settings(self.text, self.editor_settings)
            roots = self._roots(settings)
        except Exception:
            logger.exception("The settings of %s cannot be read, defaults are used", self.text)
            settings, problems, roots = Settings(), (), Roots(self.text)
        for problem in problems:
            logger.info("Settings of %s: %s", self.text, problem.message)
        below = self._read_projects()
        if settings == self.settings and roots == self.workspace.roots:
            return below
        self.workspace = self.workspace.with_settings(settings, roots)
        return True

    def _read_projects(self) -> bool:
        """Read the settings of the projects below again; whether they differ."""
        before = self.workspace
        known = [home for home in before.nested if project_folder(home) == home]  # found beside opened files
        nested = {} if self.path is None else nested_projects(self.text, self.documents(), self.editor_settings)
        nested |= {home: project_at(home, self.editor_settings) for home in known if home not in nested}
        self.workspace = before.with_projects(nested)
        return self.workspace is not before

    def _find_project(self, document: Document) -> None:
        """A file may be opened before the folder is indexed: the settings beside it count all the same."""
        if self.path is None or self.workspace.project(document.path) is not self.workspace:
            return
        home = project_folder(folder_of(document.path))
        if home is not None and is_below(self.text, home):
            project = project_at(home, self.editor_settings)
            self.workspace = self.workspace.with_projects({**self.workspace.nested, home: project})

    def _roots(self, settings: Settings) -> Roots:
        return Roots(self.text) if self.path is None else find_roots(self.text, settings)


def canonical(uri: str) -> str:
    """The URI under which the index knows a document, however the client spells it."""
    path = uris.path_text(uri)
    return uris.plainly(uri) if path == uri else uri_of(path)
