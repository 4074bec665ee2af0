"""The workflows of one workspace root as the engine needs them: keys, texts, and what a file means.

Only heads are read to learn the keys, and only those of files that changed: a start in a folder of
thousands of files must not read them all. Unsaved texts of an editor lie over the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loop_ls.engine.journal.serialization import plain_text
from loop_ls.formats.settings.model import Settings
from loop_ls.formats.workflow.keys import SCHEMA
from loop_ls.index.disk.discovery import candidates, find_roots, load_settings, read_text
from loop_ls.index.disk.projects import home_of, is_below
from loop_ls.index.disk.roots import Roots
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.resolve import resolve_key
from loop_ls.index.workspace import Workspace
from loop_ls.text.json_value import Json

HEAD_KEYS = ("$schema:", "name:", '"$schema":', '"name":', "'$schema':", "'name':")


@dataclass(frozen=True)
class Snapshot:
    """A root at the moment of a start. Paths are relative to it. `keys` leads from a workflow key to
    its files, in path order."""

    root: str
    roots: Roots
    settings: Settings
    keys: Mapping[str, tuple[str, ...]]
    overlay: Mapping[str, str]
    _texts: dict[str, str] = field(default_factory=dict)
    _documents: dict[str, Document] = field(default_factory=dict)

    def first(self, paths: Iterable[str]) -> str:
        """The first of these files that there is; empty where there is none."""
        return next((path for path in paths if self.text(path) is not None), "")

    def text(self, path: str) -> str | None:
        """The text of a file as it will be run; None where there is none."""
        if path not in self._texts:
            found = self.overlay.get(path)
            if found is None:
                read = read_text(f"{self.root}/{path}")
                if read is None:
                    return None
                found = str(read)
            self._texts[path] = plain_text(found)
        return self._texts[path]

    def document(self, path: str) -> Document | None:
        if path not in self._documents:
            text = self.text(path)
            if text is None:
                return None
            whole = f"{self.root}/{path}"
            self._documents[path] = Document.open(uri_of(whole), text, path=whole)
        return self._documents[path]

    def workspace(self, path: str) -> Workspace:
        """A file, all that it can call, and every other file with one of their keys: what its rules
        look at, and no more of the folder."""
        found: dict[str, Document] = {}
        waiting = [path]
        while waiting:
            each = waiting.pop()
            document = None if each in found else self.document(each)
            if document is not None:
                found[each] = document
                waiting += self._twins(each) + self._called(document)
        return Workspace.of(self.roots, found.values(), self.settings)

    def _called(self, document: Document) -> list[str]:
        folder = self.roots.folder_of(document.path)
        keys = (resolve_key(folder, reference, self.keys) for reference in document.references)
        return [path for key in keys if key is not None for path in self.keys[key]]

    def _twins(self, path: str) -> list[str]:
        key = self.key(path)
        return [] if key is None else [each for each in self.keys[key] if each != path]

    def key(self, path: str) -> str | None:
        return next((key for key, files in self.keys.items() if path in files), None)


class Texts(Mapping[str, str]):
    """Texts of a snapshot by path, read when they are asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __getitem__(self, path: str) -> str:
        text = self._snapshot.text(path)
        if text is None:
            raise KeyError(path)
        return text

    def __iter__(self) -> Iterator[str]:
        return (path for files in self._snapshot.keys.values() for path in files)

    def __len__(self) -> int:
        return sum(map(len, self._snapshot.keys.values()))


class Folder:
    """One root, with the names that its files had when they were last looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root.as_posix()
        self._names: dict[str, tuple[tuple[int, int], str | None]] = {}

    def snapshot(self, overlay: Mapping[str, str], path: str, editor: Mapping[str, Json] | None = None) -> Snapshot:
        """What is there now, as the project of the file at `path` sees it. Reads the disk: not for the loop's own
        thread."""
        home = home_of(self.root, path)
        settings, _ = load_settings(home, editor)
        roots = find_roots(home, settings)
        keys: dict[str, list[str]] = {}
        for each, name in sorted(self._named(overlay).items()):
            if name and is_below(home, f"{self.root}/{each}"):
                keys.setdefault(roots.key(f"{self.root}/{each}", name), []).append(each)
        return Snapshot(self.root, roots, settings, {key: tuple(files) for key, files in keys.items()}, overlay)

    def _named(self, overlay: Mapping[str, str]) -> dict[str, str | None]:
        paths, _ = candidates(self.root)
        names = {path.removeprefix(f"{self.root.rstrip('/')}/"): None for path in paths if not path.endswith(".json")}
        found = {path: self._name(path) for path in names if path not in overlay}
        return found | {path: name_in(text) for path, text in overlay.items()}

    def _name(self, path: str) -> str | None:
        try:
            status = Path(self.root, path).stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._names.get(path)
        if known is None or known[0] != stamp:
            text = read_text(f"{self.root}/{path}")
            known = (stamp, None if text is None else name_in(str(text)))
            self._names[path] = known
        return known[1]


def name_in(text: str) -> str | None:
    """The name of the workflow that a text is; None for anything else."""
    if SCHEMA not in text:
        return None
    head = "\n".join(line for line in text.splitlines() if line.startswith(HEAD_KEYS))
    document = Document.open("file:///head.yaml", head)
    return document.name if document.is_workflow else None
