"""Reading and writing files of the workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from loop_ls.engine.capabilities.guard import require_write
from loop_ls.engine.context.workspace_files import is_engine_data, is_hidden
from loop_ls.engine.roles.tools.tool import Arguments, Refusal, RoleTool, number, shortened, spec, text
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.text.json_value import Json

LINES, HITS, ENTRIES = 2_000, 200, 1_000
MOST_BYTES = 4 * 1024 * 1024
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})


def reading_tools(workspace: Workspace) -> list[RoleTool]:
    return [
        RoleTool(
            spec(
                "file_read",
                "Read a text file of the workspace, with line numbers.",
                path="Path from the workspace root.",
                first_="First line, from 1.",
                lines_=f"How many lines; {LINES} at most.",
            ),
            lambda given: asyncio.to_thread(_read, workspace, given),
        ),
        RoleTool(
            spec("file_list", "List a folder of the workspace.", path_="The folder (default: the root)."),
            lambda given: asyncio.to_thread(_list, workspace, given),
        ),
        RoleTool(
            spec(
                "file_search",
                "Find lines that contain a text in the files of the workspace.",
                query="The text, letter case as written.",
                path_="Only below this folder.",
            ),
            lambda given: asyncio.to_thread(_search, workspace, given),
        ),
    ]


def writing_tools(workspace: Workspace) -> list[RoleTool]:
    return [
        RoleTool(
            spec(
                "file_write",
                "Write a whole text file; an existing one is replaced.",
                path="Path from the workspace root.",
                content="All of its text.",
            ),
            lambda given: asyncio.to_thread(_write, workspace, given),
        ),
        RoleTool(
            spec(
                "file_edit",
                "Replace one passage of a text file.",
                path="Path from the workspace root.",
                old="The exact passage; it must occur once.",
                new="The new text.",
            ),
            lambda given: asyncio.to_thread(_edit, workspace, given),
        ),
    ]


def _read(workspace: Workspace, given: Mapping[str, Json]) -> str:
    lines = _text_of(workspace.inside(text(given, "path"))).splitlines()
    first, most = max(1, number(given, "first", 1)), min(number(given, "lines", LINES), LINES)
    shown = lines[first - 1 : first - 1 + most]
    told = "\n".join(f"{n}\t{line}" for n, line in enumerate(shown, first))
    left = len(lines) - (first - 1) - len(shown)
    return shortened(told) + (f"\n[{left} more lines]" if left > 0 else "")


def _list(workspace: Workspace, given: Arguments) -> str:
    folder = workspace.inside(text(given, "path", "."))
    if not folder.is_dir():
        raise Refusal(f"`{workspace.named(folder)}` is not a folder.")
    names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in folder.iterdir())
    more = f"\n[{len(names) - ENTRIES} more]" if len(names) > ENTRIES else ""
    return ("\n".join(names[:ENTRIES]) or "(empty)") + more


def _search(workspace: Workspace, given: Mapping[str, Json]) -> str:
    query, below = text(given, "query"), workspace.inside(text(given, "path", "."))
    hits: list[str] = []
    for path in _files(workspace, below):
        try:
            lines = _text_of(path).splitlines()
        except Refusal:
            continue
        hits += [f"{workspace.named(path)}:{n}: {line[:300]}" for n, line in enumerate(lines, 1) if query in line]
        if len(hits) >= HITS:
            return "\n".join([*hits[:HITS], "[more results; search in a subfolder]"])
    return "\n".join(hits) or "nothing found"


def _files(workspace: Workspace, below: Path) -> Iterator[Path]:
    """Regular files, links left out: they may lead anywhere."""
    if below.is_file():
        yield below
    for folder, folders, names in os.walk(below):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not is_engine_data(Path(folder, name)))
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _text_of(path: Path) -> str:
    try:
        if not path.is_file():
            raise Refusal(f"File not found: `{path.name}`.")
        if path.stat().st_size > MOST_BYTES:
            raise Refusal(f"`{path.name}` is larger than {MOST_BYTES // 1024 // 1024} MiB.")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(f"`{path.name}` is not a text file.") from None
    except OSError as error:
        raise Refusal(f"`{path.name}` cannot be read: {error.strerror or error}.") from None


def _write(workspace: Workspace, given: Mapping[str, Json]) -> str:
    path, content = _writable(workspace, text(given, "path")), text(given, "content")
    return _written(workspace, path, content)


def _edit(workspace: Workspace, given: Mapping[str, Json]) -> str:
    path, old, new = _writable(workspace, text(given, "path")), text(given, "old"), text(given, "new")
    before = _text_of(path)
    times = before.count(old) if old else 0
    if times != 1:
        raise Refusal(f"The passage occurs {times} times in `{workspace.named(path)}`; give one that occurs once.")
    return _written(workspace, path, before.replace(old, new))


def _writable(workspace: Workspace, given: str) -> Path:
    path = workspace.inside(given)
    if path.is_dir() or path == workspace.root:
        raise Refusal(f"`{given}` is a folder.")
    if is_hidden(path.relative_to(workspace.root)):
        raise Refusal(f"`{given}` is hidden or in a hidden folder; hidden files cannot be written.")
    return path


def _written(workspace: Workspace, path: Path, content: str) -> str:
    try:
        require_write(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8", newline="")
    except (OSError, UnicodeEncodeError) as error:
        raise Refusal(f"`{path.name}` cannot be written: {error}.") from None
    return f"{workspace.named(path)}: {len(content)} characters written"
