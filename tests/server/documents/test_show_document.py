"""Texts of runs that are written for people: only for their owner, under a name that stays, gone with the run."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from loop_ls.engine.retention import run_documents as engine_side
from loop_ls.server.client import Client
from loop_ls.server.documents.show_document import SHOWN, show_text


class Told:
    """The connection to an editor that shows no documents."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.client = Client(self)

    def notify(self, method: str, params: Any = None) -> None:
        self.said.append(params["message"])

    async def ask(self, method: str, params: Any = None, limit: float = 60.0) -> Any:
        raise AssertionError(f"{method} is more than this editor can")


async def test_a_transcript_lies_with_the_run_for_its_owner_alone(tmp_path: Path) -> None:
    editor, data = Told(), tmp_path / "data"
    path = Path(await show_text(editor.client, data, "r1", "transcript", "one"))
    assert editor.said == [f"See {path}."]
    assert path == tmp_path / "data" / SHOWN / "r1-transcript.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    again = Told()  # another editor, later
    assert await show_text(again.client, data, "r1", "transcript", "two \ud800") == str(path)
    assert path.read_text() == "two ?"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


async def test_where_the_data_folder_cannot_be_written_there_is_a_place_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    for data in (tmp_path / "data", None):
        path = Path(await show_text(Told().client, data, "r1", "timeline", "text"))
        assert path.read_text() == "text"
        assert path.name == "r1-timeline.md"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.unlink()
        path.parent.rmdir()


def test_the_engine_looks_where_the_server_writes_and_takes_only_what_is_of_the_run(tmp_path: Path) -> None:
    assert engine_side.NAME == SHOWN
    remove = engine_side.remover(tmp_path)
    remove("r1")  # nobody ever wrote one
    folder = tmp_path / SHOWN
    folder.mkdir()
    for name in ("r1-transcript.md", "r1-iteration-2.md", "r12-transcript.md", "other.md"):
        (folder / name).write_text("x")
    remove("r1")
    assert sorted(path.name for path in folder.iterdir()) == ["other.md", "r12-transcript.md"]
