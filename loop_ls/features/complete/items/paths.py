"""Files that `items: file://...` and `input_file` may name, folder by folder.

What lies in a folder is handed in: nothing here looks at the disk.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import replace

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.quoting import as_text
from loop_ls.features.complete.request import Request
from loop_ls.formats.common.key_table import Key
from loop_ls.index.disk.uris import folder_of

#: Keys whose value names a file, and what stands in front of the path.
_PREFIX = {"items": "file://", "input_file": ""}


def names_a_file(key: Key) -> bool:
    return key.name in _PREFIX


def paths(request: Request, key: Key) -> Iterator[Item]:
    """What lies in the folder that is typed so far, folders first; `file://` itself where it is not typed yet."""
    prefix, spot = _PREFIX[key.name], request.spot
    if request.listing is None:
        return
    typed = request.line[spot.word.start.column : request.at.column].strip().lstrip("'\"")
    if not typed.startswith(prefix):
        if prefix.startswith(typed):
            yield _item(request, prefix, "a file with the list", again=True)
        return
    inside = typed[len(prefix) :].rpartition("/")[0]
    for place, (name, is_folder) in enumerate(sorted(_found(request, inside), key=lambda one: (not one[1], one[0]))):
        text = prefix + (f"{inside}/" if inside else "") + name + ("/" if is_folder else "")
        yield replace(_item(request, text, "folder" if is_folder else "", again=is_folder), sort=f"5{place:04}")


def _item(request: Request, text: str, detail: str, again: bool) -> Item:
    written = request.spot.lead + as_text(text, request.spot)
    return Item(text, ItemKind.FILE, written, None, detail, "50000", again=again)


def _found(request: Request, inside: str) -> Iterable[tuple[str, bool]]:
    """From the folder of the workflow, else from that of the workspace, as at run time (WF415). Hidden files
    are left out, and so is the workflow itself."""
    assert request.listing is not None
    document = request.document
    own = posixpath.basename(document.path)
    for base in dict.fromkeys((folder_of(document.path), request.workspace.roots.workspace)):
        folder = inside if inside.startswith("/") else posixpath.normpath(posixpath.join(base, inside))
        listed = [one for one in request.listing(folder) if not one[0].startswith(".") and one[0] != own]
        if listed:
            return listed
    return ()
