"""What the client has open: folders, documents, trust, settings. The only place that holds state.

Everything is looked up by the key of a URI (`uris.key`). Documents and workspaces are immutable
snapshots; this module swaps them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from loop_ls.index.disk.discovery import load, read_text
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding
from loop_ls.server.capabilities import ClientFacts
from loop_ls.server.documents import uris
from loop_ls.server.documents.folders import Folder, canonical
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.decode import MAX_BYTES, too_large
from loop_ls.text.encoding import Encoding
from loop_ls.text.fault import Fault
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

logger = logging.getLogger(__name__)

#: Where the schema of a text is looked for that is too large to be read.
_HEAD_LINES = 200


@dataclass(slots=True, eq=False)
class OpenDocument:
    """A document as the editor shows it. `uri` is spelled as the client spells it. `too_large` holds the
    text of one that is not read; `lost`: a change of it could not be applied. Its `document` says so."""

    uri: str
    key: str
    folder: Folder
    document: Document
    too_large: Text | None = None
    lost: bool = False

    @property
    def workspace(self) -> Workspace:
        """Of the project that the document lies in: its settings count for it."""
        return self.folder.workspace.project(self.document.path)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.folder.findings(self.document)


class Session:
    """One client's view. Folders come and go while it lasts."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self.trusted = True
        self.settles_answers = False
        self.lists_runs = False
        self.asks_people = False
        self.shows_runs = False
        self.folders: dict[str, Folder] = {}
        self.open: dict[str, OpenDocument] = {}
        self._editor_settings: object = None

    def begin(self, params: JsonObject, client: ClientFacts) -> None:
        """`initialize`. `settlesAnswers` says that the client itself asks for what a command's answer
        misses, and shows refusals; `listsRuns` that it wants the states of all runs of its folders;
        `asksPeople` that it asks for decisions about waiting runs in its own way; `showsRuns` that it shows
        runs in its own way."""
        self.encoding = cast(Encoding, client.encoding)
        options = params.get("initializationOptions")
        options = options if isinstance(options, dict) else {}
        self.trusted = options.get("trusted") is not False
        self.settles_answers = options.get("settlesAnswers") is True
        self.lists_runs = options.get("listsRuns") is True
        self.asks_people = options.get("asksPeople") is True
        self.shows_runs = options.get("showsRuns") is True
        self._editor_settings = options.get("settings")
        for uri in _folders(params):
            self.add_folder(uri)

    # -- folders ------------------------------------------------------------------------------

    def add_folder(self, uri: str) -> None:
        key = uris.key(uri)
        if key not in self.folders:
            self.folders[key] = Folder(uri, uris.to_path(uri), self._editor_settings)
            self._place_again()

    def remove_folder(self, uri: str) -> None:
        if self.folders.pop(uris.key(uri), None) is not None:
            self._place_again()

    def set_editor_settings(self, section: object) -> bool:
        """What the editor says for the section `loopLs`; whether it changes anything."""
        self._editor_settings = section
        differ = [folder.set_editor_settings(section) for folder in self.all_folders()]
        return any(differ)

    def all_folders(self) -> Iterator[Folder]:
        yield from self.folders.values()
        yield from {id(one.folder): one.folder for one in self.open.values() if one.folder.loose}.values()

    def folder_of(self, uri: str) -> Folder:
        """The innermost folder that holds a document; one of its own where none does."""
        path = uris.to_path(uri)
        homes = [folder for folder in self.folders.values() if folder.holds(path)]
        if homes:
            return max(homes, key=lambda folder: len(folder.text))
        if uris.is_unsaved(uri) and self.folders:  # it will be saved here
            return next(iter(self.folders.values()))
        for opened in self.open.values():
            if opened.folder.loose and path is not None and opened.folder.path == path.parent:
                return opened.folder
        return Folder.loose_for(uri, path, self._editor_settings)

    def _place_again(self) -> None:
        """Folders changed: every open document belongs to the innermost one."""
        for opened in self.open.values():
            home = self.folder_of(opened.uri)
            if home is not opened.folder:
                opened.folder.remove(opened.document.uri)
                opened.folder = home
                home.put(opened.document)

    # -- documents ----------------------------------------------------------------------------

    def find(self, uri: str) -> OpenDocument | None:
        return self.open.get(uris.key(uri))

    def held(self, uri: str) -> OpenDocument | None:
        """A file as the editor has it open, else as it lies on the disk."""
        return self.find(uri) or self.loaded(uri)

    def opened(self, uri: str, text: str, version: int) -> OpenDocument:
        folder = self.folder_of(uri)
        document, too_large = _as_indexed(folder, uri, text, version) or read(uri, text, version)
        opened = OpenDocument(uri, uris.key(uri), folder, document, too_large)
        self.open[opened.key] = opened
        folder.put(document)
        return opened

    def changed(self, opened: OpenDocument, document: Document) -> None:
        opened.document = document
        opened.folder.put(document)

    def closed(self, uri: str) -> OpenDocument | None:
        """The buffer is gone: from now on the file on disk counts, if there is one."""
        opened = self.open.pop(uris.key(uri), None)
        if opened is not None:
            found = from_disk(opened.document.uri, opened.document.path)
            if found is not None:
                opened.folder.put(found)
            else:
                opened.folder.remove(opened.document.uri)
        return opened

    def indexed(self, uri: str) -> OpenDocument | None:
        """A file that is not open, as the index has it."""
        for folder in self.all_folders():
            document = folder.document(canonical(uri))
            if document is not None:
                return OpenDocument(uri, uris.key(uri), folder, document)
        return None

    def loaded(self, uri: str) -> OpenDocument | None:
        """A file that is not open, as it is on disk."""
        document = from_disk(canonical(uri), uris.path_text(uri))
        if document is None:
            return None
        folder = self.folder_of(uri)
        folder.put(document)
        return OpenDocument(uri, uris.key(uri), folder, document)

    def reread(self, uri: str) -> bool:
        """Whether a file that is not open was changed on the disk since it was read; it is read again then."""
        if self.find(uri) is not None:
            return False
        differs = False
        for folder in self.all_folders():
            known = folder.document(canonical(uri))
            if known is None or known.path == known.uri:
                continue
            text = read_text(known.path)
            if text is not None and known.fault is None and str(text) == str(known.text):
                continue
            differs = True
            found = from_disk(known.uri, known.path)
            if found is None:
                folder.remove(known.uri)
            else:
                folder.put(found)
        return differs

    def places(self, document: Document) -> PositionMapping:
        sent = document.text.bom and self.find(document.uri) is not None
        return PositionMapping(document.text, self.encoding, sent)

    def places_of(self, uri: str) -> PositionMapping | None:
        """Places of a document that is open or indexed."""
        opened = self.find(uri)
        if opened is not None:
            return self.places(opened.document)
        for folder in self.all_folders():
            document = folder.document(canonical(uri))
            if document is not None:
                return self.places(document)
        return None

    def spelled(self, uri: str) -> str:
        """A URI as the client spells it, where it has the document open."""
        opened = self.find(uri)
        return uri if opened is None else opened.uri


def _as_indexed(folder: Folder, uri: str, text: str, version: int) -> tuple[Document, None] | None:
    """The document that the index has read already, where the editor shows the file as it is on disk."""
    known = folder.document(canonical(uri))
    if known is None or known.fault is not None or str(known.text) != text:
        return None
    return known.at_version(version), None


def read(uri: str, text: str, version: int) -> tuple[Document, Text | None]:
    """The document of a text; of one that is too large only a note, and the text for later edits."""
    path = uris.path_text(uri)
    if len(text) <= MAX_BYTES:
        return Document.open(canonical(uri), text, version, path), None
    whole = Text.of(text)
    return Document.open(canonical(uri), _declared(whole), version, path, fault=too_large(len(text))), whole


def without_text(document: Document, version: int) -> Document:
    """A document of which only is known whose it is, and that its text is not."""
    sentence = (
        "The server lost track of this file's text, because a change from the editor could not be applied; "
        "save the file, or close and reopen it."
    )
    fault = Fault(Span(Position(0, 0), Position(0, 0)), sentence, "lost")
    return Document.open(document.uri, _declared(document.text), version, document.path, fault)


def _declared(text: Text) -> str:
    return "\n".join(line for line in text.lines[:_HEAD_LINES] if line.startswith("$schema"))


def from_disk(uri: str, path: str) -> Document | None:
    """A file as the index keeps it; None for one that is gone or none of ours."""
    document = None if path == uri else load(path, uri)
    return document if document is not None and document.format is not None else None


def _folders(params: JsonObject) -> list[str]:
    """Workspace folders, else the older ways to name one."""
    folders = params.get("workspaceFolders")
    if isinstance(folders, list):
        named = [folder["uri"] for folder in folders if isinstance(folder, dict) and isinstance(folder.get("uri"), str)]
        if named:
            return named
    if isinstance(uri := params.get("rootUri"), str):
        return [uri]
    if isinstance(path := params.get("rootPath"), str) and path:
        return [uris.from_path(Path(path))]
    return []
