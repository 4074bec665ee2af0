"""A project below the opened folder: its settings count for its files, as they do for `check` and `run`."""

from __future__ import annotations

from pathlib import Path

from tests.server.support.disk import CHANGED, DELETED, MADE, Disk
from tests.server.support.flows import DRAFT, LOOP
from tests.server.support.raw import RawClient

VAGUE = LOOP.replace("The draft names three risks", "It is done")
ERROR, WARNING = 1, 2


def test_the_settings_of_a_project_below_the_folder_count_in_the_editor(server: RawClient, tmp_path: Path) -> None:
    flow, settings = tmp_path / "svc" / "flow.yaml", tmp_path / "svc" / ".loop-ls.yaml"
    flow.parent.mkdir()
    flow.write_text(VAGUE)
    (flow.parent / "draft.yaml").write_text(DRAFT)
    settings.write_text("rules: {WF701: error}\n")
    disk = Disk(server, tmp_path)
    uri = flow.as_uri()
    server.open(uri, VAGUE)
    assert disk.with_code(uri, "WF701")["severity"] == ERROR
    settings.write_text("rules: {WF701: 'off'}\n")
    disk.without(uri, "WF701", disk.tell((settings, CHANGED)))
    settings.unlink()
    assert disk.with_code(uri, "WF701", disk.tell((settings, DELETED)))["severity"] == WARNING
    settings.write_text("rules: {WF701: error}\n")

    def is_error(found: list[dict[str, object]]) -> bool:
        return any(one["code"] == "WF701" and one["severity"] == ERROR for one in found)

    disk.until(uri, is_error, disk.tell((settings, MADE)))


def test_the_settings_above_the_opened_folder_count_too(server: RawClient, tmp_path: Path) -> None:
    flow = tmp_path / "svc" / "flow.yaml"
    flow.parent.mkdir()
    flow.write_text(VAGUE)
    (flow.parent / "draft.yaml").write_text(DRAFT)
    (tmp_path / ".loop-ls.yaml").write_text("rules: {WF701: error}\n")
    disk = Disk(server, flow.parent)
    server.open(flow.as_uri(), VAGUE)
    assert disk.with_code(flow.as_uri(), "WF701")["severity"] == ERROR
