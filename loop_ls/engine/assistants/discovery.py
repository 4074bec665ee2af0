"""The assistants of a workspace by their ids, as its files say them now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loop_ls.engine.runs.approvals import revises
from loop_ls.formats.assistant.parts import AssistantParts, assistants_of
from loop_ls.formats.assistant.read import parts_of
from loop_ls.formats.registry import ASSISTANT, claimed
from loop_ls.index.disk.discovery import candidates, load_settings, read_text
from loop_ls.index.disk.projects import home_of
from loop_ls.syntax.tree import read_json, read_yaml
from loop_ls.text.record import equal_record


@equal_record
class Found:
    """`path` is the whole one."""

    id: str
    name: str
    enabled: bool
    root: str
    path: str


class Assistants:
    """Looks at the disk when it is asked; files that did not change are not read again."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve().as_posix()
        self._known: dict[str, tuple[tuple[int, int], tuple[Found, ...]]] = {}

    def find(self, agent_id: str) -> Found | None:
        """Not for the loop's own thread."""
        return next((found for found in self.all() if found.id == agent_id), None)

    def all(self) -> Iterator[Found]:
        paths, _ = candidates(self.root)
        for path in sorted(paths):
            if claimed(path) == ASSISTANT:
                yield from self._in(path)

    def revise(self, path: str) -> bool:
        """Whether the project of a file below the root switched the third answer of an approval on."""
        settings, _ = load_settings(home_of(self.root, path))
        return revises(settings.raw)

    def _in(self, path: str) -> tuple[Found, ...]:
        try:
            status = Path(path).stat()
        except OSError:
            return ()
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = (stamp, tuple(self._read(path)))
        return known[1]

    def _read(self, path: str) -> Iterator[Found]:
        text = read_text(path)
        if text is None:
            return
        tree = read_json(text) if path.endswith(".json") else read_yaml(text)
        for one in assistants_of(parts_of(tree)):
            if _is_meant(one):
                yield Found(one.key, one.name, one.enabled, self.root, path)


def _is_meant(one: AssistantParts) -> bool:
    return bool(one.key)
