"""The files of the workspace that nobody has open: read in the background, kept up to date by events.

Reading happens in a thread, parsing here in slices of a few milliseconds, so that a keystroke never
waits for it. An open document always counts as it is in the editor.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types as lsp

from loop_ls.formats.registry import ROLE_FILE, claimed
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.formats.workflow.detect_format import could_be_ours
from loop_ls.index.disk.discovery import (
    CONFIG_NAME,
    candidates,
    find_roots,
    ignored_in,
    is_candidate,
    is_inside,
    load,
    read_file,
)
from loop_ls.index.disk.ignored import NAME as IGNORE_FILE
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.nearby_lookup import with_called
from loop_ls.index.workspace import Workspace
from loop_ls.server.client import Refused
from loop_ls.server.documents import uris
from loop_ls.server.documents.disk_sweep import DiskSweep
from loop_ls.server.documents.session import from_disk
from loop_ls.server.tasks import SLICE
from loop_ls.text.decode import MAX_BYTES
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.client import Client
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument, Session
    from loop_ls.server.refresh import Refresh
    from loop_ls.server.tasks import Tasks

logger = logging.getLogger(__name__)

#: Files that are read from disk at a time.
_BATCH = 64
#: A document that lies in no folder may lie in a home directory.
_MOST_LOOSE = 2_000
#: With fewer files nobody would see the progress.
_SHOWN_FROM = 200
#: Files of more bytes are read in a thread, so that a keystroke does not wait for one of them.
_LONG = 64 * 1024
#: Bytes in which the first line that says something is looked for.
_HEAD = 16_384
#: Files of more lines, and so many of them, are checked before anybody opens them.
_LARGE, _MOST_LARGE = 2_000, 3
#: Events of the disk are gathered this long: a branch switch makes hundreds.
_GATHER = 0.05
TOKEN = "loop-ls/index"


@contextmanager
def _all_of_it_lives() -> Iterator[None]:
    """No collection walks what is made here, now or later: that would take as long as making it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class WorkspaceWatcher(Protocol):
    """Who is told when files are known, or known anew, that nobody has open."""

    def publish_all(self) -> None: ...

    def publish_affected_soon(self) -> None: ...


class Indexing:
    """One task at a time reads; events that come meanwhile are looked at afterwards."""

    def __init__(
        self, session: Session, client: Client, tasks: Tasks, refresh: Refresh, watcher: WorkspaceWatcher
    ) -> None:
        self._session, self._client, self._tasks = session, client, tasks
        self._refresh, self._watcher = refresh, watcher
        self._ready = asyncio.Event()
        self._task: asyncio.Task[object] | None = None
        self._changed: set[str] = set()
        self._due: asyncio.TimerHandle | None = None
        #: By document: what it calls that was looked for in folders that were passed over, and is not there.
        self._missed: dict[str, frozenset[str]] = {}
        #: The folder that is being read for the first time or again, and what was read of it.
        self._reading: tuple[Folder, list[Document]] | None = None
        self._disk = DiskSweep(lambda folder: _listed(folder)[0])
        self._sweep_due: asyncio.TimerHandle | None = None

    # -- start --------------------------------------------------------------------------------

    def start(self) -> None:
        """Index the folders that are not indexed yet, unless that is under way."""
        if self._busy:
            return
        waiting = [folder for folder in self._session.all_folders() if folder.stale]
        if waiting:
            self._task = self._tasks.start(self._index(waiting), "index")
        else:
            self._ready.set()

    async def ready(self) -> None:
        """Wait until all folders are indexed."""
        self.start()
        await self._ready.wait()

    def so_far(self, folder: Folder) -> Workspace:
        """The documents of a folder, also while it is being read: then those that were read, and the open ones."""
        if folder.indexed or self._reading is None or self._reading[0] is not folder:
            return folder.workspace
        known = folder.workspace
        documents = {one.uri: one for one in self._reading[1]} | known.documents
        return Workspace.of(known.roots, documents.values(), known.settings, known.nested)

    def folders_changed(self) -> None:
        self._watcher.publish_all()
        self._ready.clear()
        self.start()

    async def _index(self, folders: list[Folder]) -> None:
        for folder in folders:
            try:
                await self._index_folder(folder)
            except Exception:
                logger.exception("The files of %s cannot be indexed", folder.text)
                folder.indexed, folder.stale = True, False
        self._watcher.publish_all()
        self._refresh.diagnostics()
        self._refresh.lenses()
        self._refresh.inlays()
        for folder in folders:
            self._tasks.start(self._prepare(folder), "large files")
        self._task = None
        self._sweep_later()
        self.start()

    async def _prepare(self, folder: Folder) -> None:
        """Check the largest files beside everything else: whoever opens one sees its findings at once."""
        opened = {one.document.uri for one in self._session.open.values()}
        large = [one for one in folder.documents() if len(one.text.lines) > _LARGE and one.uri not in opened]
        for document in sorted(large, key=lambda one: -len(one.text.lines))[:_MOST_LARGE]:
            checker = folder.beside()
            await asyncio.to_thread(checker.findings, folder.workspace, document)
            folder.take_over(checker, document)

    async def _index_folder(self, folder: Folder) -> None:
        started = time.perf_counter()
        paths, capped = await asyncio.to_thread(_listed, folder)
        if capped:
            logger.warning("%s has more files than are indexed; others are indexed when opened", folder.text)
        progress = _Progress(self._client, self._tasks, len(paths))
        documents: list[Document] = []
        self._reading = (folder, documents)
        for at in range(0, len(paths), _BATCH):
            batch = paths[at : at + _BATCH]
            await asyncio.to_thread(self._disk.learn, batch)
            await self._parse(*await asyncio.to_thread(_of_ours, batch), documents)
            progress.report(at + len(batch))
        progress.end()
        self._finish(folder, documents, capped)
        if capped:
            for opened in tuple(self._session.open.values()):
                await self.look_beside(opened)
        elif folder.partial:
            await self._add_called(folder, tuple(folder.documents()))
        logger.info("%s: %d files indexed in %.2f s", folder.text, len(documents), time.perf_counter() - started)

    async def _parse(self, short: list[str], long: list[str], documents: list[Document]) -> None:
        waiting = iter(short)
        done = False
        while not done:
            with _all_of_it_lives():
                done = _parsed_for_a_moment(waiting, documents)
            await asyncio.sleep(0)
        for path in long:
            with _all_of_it_lives():
                _keep(await asyncio.to_thread(load, path), documents)

    def may_lie_beside(self, opened: OpenDocument) -> bool:
        """Whether a document calls what is not known and was not looked for yet, and which may be in a folder that
        was passed over: whoever looks reads every file there that is not ours."""
        folder, uri = opened.folder, opened.document.uri
        if not folder.partial or folder.capped:
            return False
        calls = folder.workspace.calls(opened.document)
        missing = frozenset(reference.text for _, reference, found in calls if found.key is None)
        new = missing - self._missed.get(uri, frozenset())
        self._missed[uri] = missing
        return bool(new)

    async def look_beside(self, opened: OpenDocument) -> None:
        """What a document calls, in a folder of which not all files are read."""
        if opened.folder.partial:
            await self._add_called(opened.folder, (opened.document,))

    async def _add_called(self, folder: Folder, documents: tuple[Document, ...]) -> None:
        known = folder.workspace.documents
        found = await asyncio.to_thread(with_called, folder.workspace, documents)
        for uri, one in found.workspace.documents.items():
            if uri not in known and folder.document(uri) is None:
                folder.put(one)
        self._watcher.publish_affected_soon()

    def _finish(self, folder: Folder, documents: list[Document], capped: bool) -> None:
        """What is open counts as it is now, and so does what was changed while we read."""
        known = {document.uri: document for document in documents}
        known |= {one.document.uri: one.document for one in self._session.open.values() if one.folder is folder}
        folder.replace_all(known.values(), capped)
        self._reading = None
        self._gather(set())

    # -- events of the disk -------------------------------------------------------------------

    def changed_on_disk(self, changed: list[str]) -> None:
        """Files or folders were made, changed or deleted."""
        self._gather(set(changed))

    def saved(self, uri: str) -> None:
        """A client that watches nothing saved a file: others may have changed too."""
        if not self._client.watches_files:
            for folder in self._session.all_folders():
                folder.stale = True
            self.start()

    # -- looking at the disk ------------------------------------------------------------------

    def _sweep_later(self) -> None:
        """A client that tells of no file is not asked: files are looked at every second, as far as they are few."""
        if self._sweep_due is None and not self._client.watches_files:
            self._sweep_due = asyncio.get_running_loop().call_later(self._disk.pause, self._sweep_now)

    def _sweep_now(self) -> None:
        self._sweep_due = None
        self._tasks.start(self._sweep(), "check the files on disk")

    async def _sweep(self) -> None:
        try:
            if self._session.open and not self._busy:
                await self._take_from_disk(walk=None)
        finally:
            self._sweep_later()

    async def catch_up(self) -> None:
        """Take what changed on the disk and was not told of: files that nobody has open are about to be edited."""
        while self._task is not None and self._busy:
            await asyncio.wait({self._task})
        await self._take_from_disk(walk=not self._client.watches_files)

    async def _take_from_disk(self, walk: bool | None) -> None:
        task = self._task = self._tasks.start(self._take_changed(walk), "changed files")
        await asyncio.wait({task})

    async def _take_changed(self, walk: bool | None) -> None:
        folders = tuple(self._session.all_folders())
        changed = await asyncio.to_thread(self._disk.changed, folders, walk)
        if changed:
            await self._take({uri_of(path) for path in changed})
        else:
            self._next()

    @property
    def _busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def _next(self) -> None:
        """The task that ran is at its end: what came meanwhile."""
        self._task = None
        self.start()
        self._gather(set())

    def close(self) -> None:
        for due in (self._sweep_due, self._due):
            if due is not None:
                due.cancel()

    def _gather(self, changed: set[str]) -> None:
        self._changed |= changed
        if self._changed and self._due is None:
            self._due = asyncio.get_running_loop().call_later(_GATHER, self._look)

    def _look(self) -> None:
        self._due = None
        if self._busy:
            return  # `_finish` gathers again
        changed, self._changed = self._changed, set()
        self._task = self._tasks.start(self._take(changed), "changed files")

    async def _take(self, changed: set[str]) -> None:
        folders = [folder for folder in self._session.all_folders() if not folder.loose]
        inside = await asyncio.to_thread(_inside, folders, changed)
        self._missed.clear()  # it may be there now
        until = time.perf_counter() + SLICE
        for uri in (*changed, *inside):  # a folder first: what lay in it before is forgotten
            path = uris.path_text(uri)
            for folder in self._session.all_folders():
                if folder.holds(uris.to_path(uri)):
                    self._take_one(folder, uri, path)
            if time.perf_counter() > until:
                await asyncio.sleep(0)
                until = time.perf_counter() + SLICE
        self._watcher.publish_affected_soon()
        self._refresh.diagnostics()
        self._next()

    def _take_one(self, folder: Folder, uri: str, path: str) -> None:
        name = PurePath(path).name
        is_settings = name in (SETTINGS_NAME, CONFIG_NAME) or claimed(path) == ROLE_FILE
        if is_settings and folder.read_settings():
            self._watcher.publish_all()
        if name == IGNORE_FILE:
            folder.stale = True
        if self._session.find(uri) is not None:
            return
        ours = is_candidate(folder.text, path) and (folder.document(uri) is not None or not folder.passes_over(path))
        document = from_disk(uri_of(path), path) if ours else None
        before = folder.workspace.nested
        if document is not None:
            folder.put(document)
        else:
            self._forget(folder, path)
        # The first settings of a project below: `put` may have found the project already. And what was there when the
        # settings were read may be gone by now.
        if is_settings and (folder.read_settings() or folder.workspace.nested != before):
            self._watcher.publish_all()

    def _forget(self, folder: Folder, path: str) -> None:
        """A file, or all files of a folder, that nobody has open."""
        below = path + "/"
        for known in [one for one in folder.documents() if one.path == path or one.path.startswith(below)]:
            if self._session.find(known.uri) is None:
                folder.remove(known.uri)


def _parsed_for_a_moment(waiting: Iterator[str], documents: list[Document]) -> bool:
    """Whether all are parsed now."""
    until = time.perf_counter() + SLICE
    for path in waiting:
        _keep(load(path), documents)
        if time.perf_counter() > until:
            return False
    return True


def _keep(document: Document | None, documents: list[Document]) -> None:
    if document is not None and document.format is not None:
        documents.append(document)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _listed(folder: Folder) -> tuple[tuple[str, ...], bool]:
    """The files to look at. Of a loose folder only its own: nobody said that all below it belongs together."""
    if not folder.loose:
        ignored = ignored_in(folder.text, find_roots(folder.text, folder.settings))
        found = candidates(folder.text, ignored=ignored)
        folder.ignored = ignored
        return found
    try:
        inside = sorted(f"{folder.text}/{entry.name}" for entry in Path(folder.text).iterdir() if entry.is_file())
    except OSError:  # not there yet, or not ours to look into
        return (), False
    ours = tuple(path for path in inside if is_candidate(folder.text, path))
    return ours[:_MOST_LOOSE], len(ours) > _MOST_LOOSE


def _inside(folders: list[Folder], changed: set[str]) -> set[str]:
    """In a thread: the files of folders that came as a whole, which nobody tells of one by one (UP-36)."""

    def entered(path: str) -> bool:
        return any(is_inside(one.text, path) and not one.passes_over(f"{path}/") for one in folders)

    came = [path for path in map(uris.path_text, changed) if entered(path) and Path(path).is_dir()]
    return {uri_of(path) for folder in came for path in candidates(folder)[0]}


def _of_ours(paths: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """In a thread: the files that may be ours, so that nothing else is parsed; short ones and long ones."""
    short: list[str] = []
    long: list[str] = []
    for path in paths:
        if claimed(path) is not None or _speaks_of_workflows(path):
            (long if _size(path) > _LONG else short).append(path)
    return short, long


def _speaks_of_workflows(path: str) -> bool:
    found = read_file(path)
    if found is None:
        return False
    size, data = found
    if size > MAX_BYTES:
        return True
    data = b"\n" + data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
    head = data[:_HEAD].decode("utf-8", "replace").split("\n")
    return could_be_ours(head, lambda word: word.encode() in data)


class _Progress:
    """Tells a client that shows progress how far the index is, if it takes long."""

    def __init__(self, client: Client, tasks: Tasks, total: int) -> None:
        self._client, self._total = client, total
        self._open = False
        if total >= _SHOWN_FROM and client.facts.progress:
            tasks.start(self._begin(), "index progress")

    async def _begin(self) -> None:
        try:
            await self._client.ask(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": TOKEN})
        except (Refused, TimeoutError):
            return
        if self._total:
            self._open = True
            self._send({"kind": "begin", "title": "Reading workflows", "cancellable": False, "percentage": 0})

    def report(self, done: int) -> None:
        if self._open:
            self._send({"kind": "report", "message": f"{done}/{self._total}", "percentage": 100 * done // self._total})

    def end(self) -> None:
        self._total = 0
        if self._open:
            self._open = False
            self._send({"kind": "end"})

    def _send(self, value: JsonObject) -> None:
        self._client.notify(lsp.PROGRESS, {"token": TOKEN, "value": value})
