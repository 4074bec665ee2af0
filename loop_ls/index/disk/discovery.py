"""What is on the disk: the files of a workspace, its settings, and where its workflows live.

It never follows a link in a circle, never enters folders that start with a dot or `node_modules` nor, for whoever
reads a workspace, those that an ignore file names, and stops at a number of files.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.registry import ROLE_FILE, SETTINGS, claimed
from loop_ls.formats.role_file.file_format import CLAUDE_FOLDER
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.formats.settings.model import Problem, Settings, file_values, narrower, settings_of
from loop_ls.index.disk.ignored import NAME as IGNORE_FILE
from loop_ls.index.disk.ignored import Ignored
from loop_ls.index.disk.projects import Project, is_below, project_folder, repository_of
from loop_ls.index.disk.reference_files import layer
from loop_ls.index.disk.role_files import role_layer
from loop_ls.index.disk.roots import Root, Roots, root_of_glob
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.decode import MAX_BYTES, decode, too_large, unread_link
from loop_ls.text.json_value import Json
from loop_ls.text.lines import Text
from loop_ls.text.record import equal_record

#: More files than this are not looked at, nor more entries of folders: somebody opened a whole disk.
MAX_FILES = 50_000
MAX_ENTRIES = 200_000
CONFIG_NAME = "config.yaml"

_SUFFIXES = (".yaml", ".yml")


@equal_record
class Found:
    """A workspace as it is on the disk. `capped`: there were more files than are looked at; `ignored`: there were
    folders that an ignore file names."""

    workspace: Workspace
    problems: tuple[Problem, ...] = ()
    capped: bool = False
    ignored: bool = False


def discover(
    folder: str,
    editor: Mapping[str, Json] | None = None,
    most: int = MAX_FILES,
    named: Iterable[str] | None = None,
) -> Found:
    """Everything in a workspace folder, read. `editor` are the settings that come from an editor. With `named`,
    folders that a person means, what ignore files name besides is not read."""
    settings, problems = load_settings(folder, editor)
    roots = find_roots(folder, settings)
    ignored = None if named is None else ignored_in(folder, roots, named)
    paths, capped = candidates(folder, most, ignored)
    documents = (load(path) for path in paths)
    ours = [document for document in documents if document is not None and document.format is not None]
    nested = nested_projects(folder, ours, editor)
    return Found(Workspace.of(roots, ours, settings, nested), problems, capped, ignored is not None and ignored.any)


def ignored_in(folder: str, roots: Roots, named: Iterable[str] = ()) -> Ignored:
    """What the ignore files of a workspace say. Where workflows and definitions of loops are kept is looked into,
    though their owner may keep them from the repository."""
    return Ignored(folder, (*(root.folder for root in roots.roots), f"{folder.rstrip('/')}/loops", *named))


def load_settings(folder: str, editor: Mapping[str, Json] | None = None) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings that count for the files of a folder: the file of their project (`index.disk.projects`), over what a
    `config.yaml` of the tool that the language comes from says, over those of the editor. Of a limit that the project
    and the editor both name the narrower counts."""
    values: dict[str, Any] = {}
    problems: tuple[Problem, ...] = ()
    home = project_folder(folder) or folder
    text = read_text(f"{home}/{SETTINGS_NAME}")
    if text is not None:
        values, problems = file_values(text)
    project = (layer(home, CONFIG_NAME, read_text), role_layer(home, read_text), values)
    settings, more = settings_of(editor or {}, *project, _limits_of_both(editor or {}, project))
    return settings, problems or more


def _limits_of_both(editor: Mapping[str, Json], project: Iterable[Mapping[str, Json]]) -> dict[str, Json]:
    """A project does not loosen a limit that a person set in the editor, nor the other way round."""
    if "limits" not in editor:
        return {}
    found = narrower(*(settings_of(*each)[0].raw.get("limits") for each in ((editor,), project)))
    return {"limits": found} if found else {}


def nested_projects(
    folder: str, documents: Iterable[Document], editor: Mapping[str, Json] | None = None
) -> dict[str, Project]:
    """The projects below a folder, by their settings files among the documents."""
    homes = {one.path.rpartition("/")[0] for one in documents if one.format == SETTINGS}
    return {home: project_at(home, editor) for home in sorted(homes) if is_below(folder, home)}


def project_at(home: str, editor: Mapping[str, Json] | None = None) -> Project:
    """The project of a folder that has settings."""
    settings, _ = load_settings(home, editor)
    return Project(find_roots(home, settings), settings)


def find_roots(folder: str, settings: Settings) -> Roots:
    """Where workflows are looked up, the first that there is: the setting `workflowRoots`, the glob in
    a `config.yaml`, `config/workflows`, `workflows`, the folder itself."""
    if settings.workflow_roots:
        listed = tuple(Root(path) for pattern in settings.workflow_roots for path in folders(folder, pattern))
        if listed:
            return Roots(folder, listed)
    configured = _configured_root(folder)
    if configured is not None:
        return Roots(folder, (configured,))
    for name in ("config/workflows", "workflows"):
        if Path(folder, name).is_dir():
            return Roots(folder, (Root(f"{folder}/{name}"),))
    return Roots(folder)


def folders(folder: str, pattern: str) -> tuple[str, ...]:
    """The folders inside `folder` that a pattern of `workflowRoots` means; none outside of it (LS007)."""
    parts = [part for part in pattern.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or Path(pattern).is_absolute():
        return ()
    found = [folder]
    for part in parts:
        found = [path for base in found for path in _matching(base, part)]
    return tuple(sorted(found))


def candidates(folder: str, most: int = MAX_FILES, ignored: Ignored | None = None) -> tuple[tuple[str, ...], bool]:
    """The files that may be ours, in path order, and whether there were too many to list them all. Without
    `ignored`, what an ignore file names is listed, too: somebody may run it."""
    found: list[str] = []
    capped = False
    for path in _walk(folder, ignored):
        if path is None or len(found) >= most:
            capped = True
            break
        found.append(path)
    return tuple(sorted(found)), capped


def is_candidate(folder: str, path: str) -> bool:
    """Whether a file is one to look at, by its path alone."""
    return _takes(folder, path.rpartition("/")[0])(path)


def _takes(folder: str, inner: str) -> Callable[[str], bool]:
    """Which files of the folder `inner` are looked at."""
    if is_agents_folder(folder, inner):
        return lambda path: claimed(path) == ROLE_FILE
    if not is_inside(folder, inner):
        return lambda path: False
    return lambda path: path.endswith(_SUFFIXES) or claimed(path) is not None


def is_inside(folder: str, inner: str) -> bool:
    """Whether a folder is `folder` itself or one below it that is looked into."""
    base = folder.rstrip("/")
    if inner != base and not inner.startswith(f"{base}/"):
        return False
    return all(is_entered(name) for name in inner.removeprefix(base).split("/")[1:])


def is_agents_folder(folder: str, inner: str) -> bool:
    """Whether a folder leads to the agents of Claude Code, the only files below a dot that are looked at."""
    below = inner.removeprefix(f"{folder.rstrip('/')}/")
    return below in (CLAUDE_FOLDER, CLAUDE_FOLDER.partition("/")[0])


def is_entered(name: str) -> bool:
    """Whether a folder of this name is looked into (UP-41)."""
    return not name.startswith(".") and name != "node_modules"


def load(path: str, uri: str | None = None) -> Document | None:
    """The document of a file; None where it is gone. One that cannot be read as text is ours if it
    says so or is called so; then its `fault` tells why."""
    found = read_file(path)
    if found is None:
        return None
    if leads_out(path):
        return Document.open(uri or uri_of(path), "", path=path, fault=unread_link())
    size, data = found
    text, fault = decode(data) if size <= MAX_BYTES else (None, too_large(size))
    if text is not None:
        return Document.open(uri or uri_of(path), text, path=path)
    return Document.open(uri or uri_of(path), _declared(data), path=path, fault=fault)


def _declared(data: bytes) -> str:
    """The `$schema` line near the beginning of what is no text: enough to tell whose file it is."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    seen = data[:65_536].decode(encoding, "replace")
    return "\n".join(line for line in seen.splitlines() if line.startswith("$schema"))


def read_text(path: str) -> Text | None:
    """The text of a file; None where it is gone or is no text."""
    found = None if leads_out(path) else read_file(path)
    if found is None or found[0] > MAX_BYTES:
        return None
    return decode(found[1])[0]


def leads_out(path: str) -> bool:
    """Whether settings are a link out of their project, and out of its repository: whoever wrote the project would
    have any file of the user read and quoted."""
    folder, _, name = path.rpartition("/")
    if name not in (SETTINGS_NAME, CONFIG_NAME) or not Path(path).is_symlink():
        return False
    inside = os.path.realpath(repository_of(folder) or folder)
    return not is_below(inside, os.path.realpath(path))


def read_file(path: str) -> tuple[int, bytes] | None:
    """The size of a file and what is in it, of a large one only the beginning; None where there is none.
    A pipe or a device is no file: reading it need not end. What the kernel shows as a file has no size, and need not
    end either."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        if not status.st_size:
            return 0, b""
        with open(path, "rb") as file:
            return status.st_size, file.read(MAX_BYTES if status.st_size <= MAX_BYTES else 65_536)
    except (OSError, ValueError):
        return None


def _walk(folder: str, ignored: Ignored | None) -> Iterator[str | None]:
    """The files that may be ours, those of outer folders first; None where the rest is not looked at."""
    seen: set[tuple[int, int]] = set()
    waiting = deque([folder])
    looked_at = 0
    while waiting:
        if looked_at > MAX_ENTRIES:
            yield None
            return
        base = waiting.popleft()
        entered = _identity(base)
        if entered is None or entered in seen:
            continue
        seen.add(entered)
        entries, takes = _entries(base), _takes(folder, base.rstrip("/") or base)
        if ignored is not None and any(entry.name == IGNORE_FILE for entry in entries):
            ignored.learn(base)
        for entry in entries:
            looked_at += 1
            path = f"{base.rstrip('/')}/{entry.name}"
            if _is_folder(entry):
                enters = is_entered(entry.name) or is_agents_folder(folder, path)
                if enters and not (ignored is not None and ignored.passes_over(path)):
                    waiting.append(path)
            elif takes(path):
                yield path


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = Path(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _entries(folder: str) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return ()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _matching(base: str, part: str) -> Iterator[str]:
    if not any(sign in part for sign in "*?["):
        with suppress(OSError, ValueError):  # no name of a folder
            if Path(base, part).is_dir():
                yield f"{base}/{part}"
        return
    for entry in _entries(base):
        if _is_folder(entry) and not entry.name.startswith(".") and fnmatch.fnmatchcase(entry.name, part):
            yield f"{base}/{entry.name}"
    if part == "**":
        yield base


def _configured_root(folder: str) -> Root | None:
    """`includes.workflows` of the `config.yaml` in the folder itself."""
    text = read_text(f"{folder}/{CONFIG_NAME}")
    if text is None:
        return None
    tree = read_yaml(text)
    includes = next((plain(p.node) for p in tree.pieces if p.key is not None and p.key.text == "includes"), None)
    glob = includes.get("workflows") if isinstance(includes, dict) else None
    return root_of_glob(folder, glob) if isinstance(glob, str) and glob else None
