"""Role files that come, change and go beside an open role loop, asked of a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server.support.disk import CHANGED, DELETED, MADE, Disk
from tests.server.support.raw import RawClient

LOOP = json.dumps(
    {
        "name": "look",
        "description": "d",
        "roles": [{"name": "work", "role": "tester", "prompt": "Go."}],
        "termination_condition": {"type": "iteration_bound", "value": 1},
    }
)
FILE = "---\nname: {name}\naccess: readonly\n---\nYou test.\n"


@pytest.mark.parametrize("place", ["roles", ".claude/agents"])
def test_a_role_is_known_as_soon_as_its_file_is_there(server: RawClient, tmp_path: Path, place: str) -> None:
    root = tmp_path / "project"
    loop, role = root / "loops/look.json", root / place / "tester.md"
    for each in (loop, role):
        each.parent.mkdir(parents=True)
    loop.write_text(LOOP)
    disk, uri = Disk(server, root), loop.as_uri()
    server.open(uri, LOOP, language="json")
    disk.with_code(uri, "RL007")
    role.write_text(FILE.format(name="tester"))
    disk.without(uri, "RL007", disk.tell((role, MADE)))
    at = {"line": 0, "character": LOOP.index("tester") + 1}
    [found] = server.ask("textDocument/definition", {"textDocument": {"uri": uri}, "position": at})["result"]
    assert (found.get("targetUri") or found["uri"]) == role.as_uri()
    edits = server.ask("textDocument/rename", {"textDocument": {"uri": uri}, "position": at, "newName": "prober"})
    result = edits["result"]
    changed = result.get("changes") or {one["textDocument"]["uri"] for one in result["documentChanges"]}
    assert set(changed) == {uri, role.as_uri()}
    role.write_text(FILE.format(name="other"))
    disk.with_code(uri, "RL007", disk.tell((role, CHANGED)))
    role.write_text(FILE.format(name="tester"))
    disk.without(uri, "RL007", disk.tell((role, CHANGED)))
    role.unlink()
    disk.with_code(uri, "RL007", disk.tell((role, DELETED)))


def test_a_role_file_that_is_open_is_checked(server: RawClient, tmp_path: Path) -> None:
    root = tmp_path / "project"
    role = root / "roles/tester.md"
    role.parent.mkdir(parents=True)
    text = FILE.format(name="tester").replace("access", "acces")
    role.write_text(text)
    disk = Disk(server, root)
    server.open(role.as_uri(), text, language="markdown")
    disk.with_code(role.as_uri(), "RO002")
