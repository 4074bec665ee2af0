"""Settings that are deleted while they are read: what the files are held to is said anew all the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loop_ls.index.document import Document
from loop_ls.server.documents import indexing
from loop_ls.server.documents.folders import Folder
from loop_ls.server.documents.indexing import Indexing
from loop_ls.server.documents.uris import from_path


class Watcher:
    """Counts how often all findings are published."""

    def __init__(self) -> None:
        self.times = 0

    def publish_all(self) -> None:
        self.times += 1

    def publish_affected_soon(self) -> None:
        raise AssertionError("nobody waits for others")


@pytest.mark.parametrize("where", ["", "svc/"])
def test_settings_that_go_between_two_looks_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    settings = tmp_path / f"{where}.loop-ls.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("rules: {WF701: error}\n")
    watcher: Any = Watcher()
    nobody: Any = SimpleNamespace(find=lambda uri: None)
    reader = Indexing(nobody, nobody, nobody, nobody, watcher)
    folder = Folder(from_path(tmp_path), tmp_path, None)
    take = reader._take_one
    take(folder, from_path(settings), str(settings))
    known = watcher.times

    def goes(uri: str, path: str) -> Document | None:
        settings.unlink(missing_ok=True)
        return read(uri, path)

    read = indexing.from_disk
    monkeypatch.setattr(indexing, "from_disk", goes)
    take(folder, from_path(settings), str(settings))
    assert watcher.times == known + 1
    project = folder.workspace.nested.get(str(settings.parent))
    assert (project.settings if project is not None else folder.settings).rules == {}
