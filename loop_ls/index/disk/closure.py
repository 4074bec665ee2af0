"""What the findings of a few files depend on in a tree: found by a look at bytes, so that nothing else is parsed.

They depend on what these files call, directly or through others; on who calls them or what they call; on files with
their keys; and on the mere names of all others, which may be suggested for a name that is missing. Whoever calls a
workflow, or is called like it, writes its name, and a file in which the words of a name do not stand cannot have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from loop_ls.formats.registry import claimed, depends_on_any_file
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.formats.workflow.keys import SCHEMA
from loop_ls.index.disk.discovery import (
    MAX_FILES,
    Found,
    candidates,
    discover,
    find_roots,
    ignored_in,
    load,
    load_settings,
    nested_projects,
    read_file,
)
from loop_ls.index.disk.uris import folder_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import UnreadName, Workspace
from loop_ls.text.decode import MAX_BYTES
from loop_ls.text.invariant import invariant
from loop_ls.text.json_value import Json

#: So many bytes of files are kept for the next look.
_KEPT = 64 * 1024 * 1024
#: A word may be written by escapes, or go on behind an escaped line break.
_ESCAPE = re.compile(rb"\\(?:[xuU]|[ \t]*[\r\n])")
_WORD = re.compile(r"\w+")
#: A file that begins so is the workflow of this name, whatever comes below.
_BEGINNING = re.compile(
    rb"\$schema: %b\r?\nname: ([A-Za-z_][A-Za-z0-9_-]+)[ ]*\r?\n(?=[a-z])" % re.escape(SCHEMA.encode())
)
_NO_NAMES = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_MOST_GLANCED = 200_000


def discover_around(folder: str, files: Iterable[str], editor: Mapping[str, Json] | None = None) -> Found:
    """The part of a workspace folder on which the findings of `files` depend. These are read wherever they lie."""
    named = {path: one for path in files if (one := load(path)) is not None and one.format is not None}
    if any(depends_on_any_file(one.format) for one in named.values()):
        return discover(folder, editor, named=tuple(named))
    settings, problems = load_settings(folder, editor)
    roots = find_roots(folder, settings)
    ignored = ignored_in(folder, roots, named)
    paths, capped = candidates(folder, MAX_FILES, ignored)
    beside = {folder_of(path) for path, one in named.items() if one.is_object}
    known = dict(named)
    for path in paths:
        if path not in known and ((beside and folder_of(path) in beside) or path.endswith(SETTINGS_NAME)):
            _take(path, known)
    inside = frozenset(paths)
    nested = nested_projects(folder, [one for path, one in known.items() if path in inside], editor)
    tree = _Bytes(paths)
    for path in tree.unclear():
        _take(path, known)

    def workspace(unread: tuple[UnreadName, ...] = ()) -> Workspace:
        return Workspace.of(roots, known.values(), settings, nested, unread)

    _take_related(named, known, tree, workspace)
    found = workspace()
    if any(_misses(found.project(one.path), one) for one in named.values()):
        found = workspace(tuple(tree.names(known)))
    return Found(found, problems, capped, ignored.any)


class _Bytes:
    """The files of a tree as bytes. What cannot be read is left out: it has neither a name nor a call."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._kept: dict[str, bytes] = {}
        self._left = _KEPT

    def unclear(self) -> list[str]:
        """Those in which any name may stand without being seen."""
        return [path for path, data in self._all() if b"\\" in data and _ESCAPE.search(data)]

    def holding(self, names: Iterable[str], known: Mapping[str, Document]) -> list[str]:
        """Those that are not known and hold all words of one of these names."""
        wanted = [_WORD.findall(name) for name in names]
        needles = [[word.encode("utf-8", "surrogatepass") for word in words] for words in wanted]
        whole = [re.compile(b"|".join(map(_as_word, words))) for words in needles]
        return [
            path
            for path, data in self._all(known)
            if any(
                all(map(data.__contains__, words)) and end.search(data)
                for words, end in zip(needles, whole, strict=True)
            )
        ]

    def names(self, known: Mapping[str, Document]) -> Iterator[UnreadName]:
        """The workflows among those that are not known."""
        for path, data in self._all(known):
            glanced = _glanced(data) if claimed(path) is None else None
            name = glanced or _name_of(load(path))
            invariant(partial(_is_its_name, path, name), "the name at the beginning of a file is its name")
            if name:
                yield UnreadName(path, name)

    def _all(self, known: Mapping[str, Document] | None = None) -> Iterator[tuple[str, bytes]]:
        for path in self._paths:
            if known is not None and path in known:
                continue
            data = self._kept.get(path)
            if data is None:
                data = _bytes_of(path)
                if data is None:
                    continue
                if len(data) <= self._left:
                    self._left -= len(data)
                    self._kept[path] = data
            yield path, data


def _as_word(word: bytes) -> bytes:
    """A pattern for the word alone, that begins with letters: these are looked for much faster."""
    letters = re.escape(word)
    return rb"%b(?<!\w%b)(?!\w)" % (letters, letters)


def _take_related(
    named: Mapping[str, Document], known: dict[str, Document], tree: _Bytes, workspace: Callable[[], Workspace]
) -> None:
    """Everything that is called, in rings around the named files, and who calls those of the first two rings: the
    errors of a called workflow count, and depend on its own callers."""
    looked: set[str] = set()
    seen = {one.uri for one in named.values()}
    ring, depth = tuple(named.values()), 0
    while ring:
        names = {_bare(name) for one in ring if one.is_workflow for name in _words(one, with_name=depth < 2)} - looked
        looked |= names
        if names:
            for path in tree.holding(names, known):
                _take(path, known)
        now = workspace()
        called = {found.uri: found for one in ring for found in _called(now.project(one.path), one)}
        ring = tuple(one for uri, one in called.items() if uri not in seen)
        seen |= called.keys()
        depth += 1


def _words(document: Document, with_name: bool) -> Iterator[str]:
    yield from document.references
    if with_name and document.name:
        yield document.name


def _called(workspace: Workspace, document: Document) -> Iterator[Document]:
    for reference in document.references:
        found = workspace.callee(document, reference)
        if found is not None:
            yield found


def _misses(workspace: Workspace, document: Document) -> bool:
    return document.is_workflow and any(workspace.callee(document, one) is None for one in document.references)


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


def _take(path: str, known: dict[str, Document]) -> None:
    document = load(path) if path not in known else None
    if document is not None and document.format is not None:
        known[path] = document


def _name_of(document: Document | None) -> str | None:
    return document.name if document is not None and document.is_workflow else None


def _is_its_name(path: str, name: str | None) -> bool:
    return _name_of(load(path)) == name


def _glanced(data: bytes) -> str | None:
    """The name of a workflow that begins as nearly all of them do; None where only reading it would tell."""
    found = _BEGINNING.match(data)
    if found is None or len(data) > _MOST_GLANCED or 0 in data or b"<<" in data or not _is_text(data):
        return None
    name = found[1].decode()
    return None if name.lower() in _NO_NAMES else name


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _bytes_of(path: str) -> bytes | None:
    found = read_file(path)
    return found[1] if found is not None and 0 < found[0] <= MAX_BYTES else None
