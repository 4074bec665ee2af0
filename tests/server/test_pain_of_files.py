"""Files that come, move and go behind the editor's back, asked of a real server (UP-25, UP-28, UP-36)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.disk import CHANGED, DELETED, MADE, Disk, codes
from tests.server.support.flows import DRAFT, HEAD, LOOP
from tests.server.support.raw import LIMIT, RawClient, insert

Json = dict[str, Any]

CALLER = LOOP.replace("workflow: draft", "workflow: review").replace("name: flow", "name: caller")
REVIEW = DRAFT.replace("name: draft", "name: review")
#: The wish is a second, the rest is for busy machines.
SOON = 60.0


@pytest.mark.parametrize(
    ("place", "setting"), [("flows", "flows"), ("My Flows", "My Flows"), ("a/My Flows", "a\\My Flows")]
)
def test_UP_25_a_callee_is_found_and_missed_as_it_comes_moves_and_goes(
    server: RawClient, tmp_path: Path, place: str, setting: str
) -> None:
    root = tmp_path / "project"
    flows = root / place
    (flows / "sub").mkdir(parents=True)
    caller, callee, moved = flows / "caller.yaml", flows / "other-name.yml", flows / "sub" / "other-name.yml"
    caller.write_text(CALLER)
    disk = Disk(server, root, {"settings": {"workflowRoots": [setting]}})
    uri = caller.as_uri()
    server.open(uri, CALLER)
    disk.with_code(uri, "WF601")
    # Made on disk under another file name, never opened.
    callee.write_text(REVIEW)
    disk.without(uri, "WF601", disk.tell((callee, MADE)), SOON)
    # Moved one folder down: the bare name means nothing there, and the message says what would.
    callee.rename(moved)
    found = disk.with_code(uri, "WF601", disk.tell((callee, DELETED), (moved, MADE)))
    assert "sub/review" in found["message"]
    moved.rename(callee)
    disk.without(uri, "WF601", disk.tell((moved, DELETED), (callee, MADE)), SOON)
    callee.unlink()
    found = disk.with_code(uri, "WF601", disk.tell((callee, DELETED)))
    assert "sub/review" not in found["message"]


def test_a_file_that_belongs_to_no_folder_has_neighbours_and_nothing_below(server: RawClient, folder: Path) -> None:
    """Events of the disk tell of a folder's files too that were not read in the first place."""
    server.begin({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
    flow, deep = folder / "flow.yaml", folder / "deep" / "drafts.yaml"
    server.open(flow.as_uri(), flow.read_text())

    def symbols_with(name: str) -> set[str]:
        until = time.monotonic() + LIMIT
        while True:
            names = {one["name"] for one in server.ask("workspace/symbol", {"query": ""})["result"]}
            if name in names or time.monotonic() > until:
                return names

    assert {"flow", "draft"} <= symbols_with("draft")
    deep.parent.mkdir()
    for path, name in ((deep, "deeper"), (folder / "beside.yaml", "beside")):
        path.write_text(HEAD.format(name=name) + "steps:\n  - {name: one, run: x}\n")
        server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": MADE}]})
        if name == "deeper":
            server.ask("textDocument/foldingRange", {"textDocument": {"uri": flow.as_uri()}})
    names = symbols_with("beside")
    assert "beside" in names
    assert "deeper" not in names


def calling(name: str, comment_lines: int) -> str:
    """A workflow with one step that another one needs, below so many lines of comment."""
    return HEAD.format(name=name) + "# turned\n" * comment_lines + (
        'steps:\n  - name: first\n    run: "Say {{input}}"\n'
        '  - name: second\n    needs: [first]\n    run: "Again: {{first}}"\n'
    )  # fmt: skip


def test_UP_28_after_a_branch_switch_closed_files_are_as_on_disk_and_open_ones_as_in_the_buffer(
    server: RawClient, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    paths = [root / f"flow{n}.yaml" for n in range(60)]
    for n, path in enumerate(paths):
        path.write_text(calling(f"flow{n}", 40))
    disk = Disk(server, root)
    opened, closed = paths[:3], paths[3:]
    for n, path in enumerate(opened):
        server.open(path.as_uri(), calling(f"flow{n}", 40))
    # The open caller of a closed file tells when the new texts have arrived.
    probe = root / "probe.yaml"
    probe_text = LOOP.replace("name: flow", "name: probe").replace("workflow: draft", "workflow: arrived")
    server.open(probe.as_uri(), probe_text)
    disk.with_code(probe.as_uri(), "WF601")

    for n, path in enumerate(paths):
        path.write_text(calling("arrived" if n == 59 else f"flow{n}", 0))
    disk.without(probe.as_uri(), "WF601", disk.tell(*((path, CHANGED) for path in paths)))

    symbols = server.ask("workspace/symbol", {"query": "first"})["result"]
    places = {one["location"]["uri"]: one["location"]["range"] for one in symbols if one["name"] == "first"}
    assert places.keys() == {path.as_uri() for path in paths}
    assert {places[path.as_uri()]["start"]["line"] for path in opened} == {46}
    assert {places[path.as_uri()]["start"]["line"] for path in closed} == {6}
    lines = calling("flow", 0).count("\n")
    assert all(places[path.as_uri()]["end"]["line"] < lines for path in closed)
    # References in an open file are those of its buffer, every one inside of it.
    asked = {"textDocument": {"uri": opened[0].as_uri()}, "position": {"line": 46, "character": 11}}
    found = server.ask("textDocument/references", {**asked, "context": {"includeDeclaration": True}})["result"]
    assert {one["uri"] for one in found} == {opened[0].as_uri()}
    assert sorted(one["range"]["start"]["line"] for one in found) == [46, 49, 50]
    # A closed one that is opened has the new places.
    server.open(closed[0].as_uri(), closed[0].read_text())
    asked = {"textDocument": {"uri": closed[0].as_uri()}, "position": {"line": 6, "character": 11}}
    found = server.ask("textDocument/references", {**asked, "context": {"includeDeclaration": True}})["result"]
    assert sorted(one["range"]["start"]["line"] for one in found) == [6, 9, 10]


def test_UP_36_a_folder_that_moves_away_and_back_takes_its_closed_files_along(
    server: RawClient, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    loops, old = root / "loops", root / "old"
    loops.mkdir(parents=True)
    uri, other = (loops / "flow.yaml").as_uri(), (root / "other.yaml").as_uri()
    (loops / "flow.yaml").write_text(LOOP.replace("workflow: draft", "workflow: loops/draft"))
    (loops / "draft.yaml").write_text(DRAFT)
    disk = Disk(server, root)
    server.open(uri, (loops / "flow.yaml").read_text())
    server.open(other, LOOP.replace("name: flow", "name: other").replace("workflow: draft", "workflow: loops/draft"))
    assert server.ask("workspace/symbol", {"query": "draft"})["result"]  # answered from the complete index
    disk.without(other, "WF601")

    # As a watcher tells it: the folder as one, nothing of the files in it.
    loops.rename(old)
    at = disk.tell((loops, DELETED), (old, MADE))
    disk.with_code(other, "WF601", at)
    disk.with_code(uri, "WF601", at)
    # The buffer that lived there goes on: it is edited, saved, checked and outlined.
    server.change(uri, 2, insert(9, 0, "    colour: red\n"))
    server.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert "WF601" in codes(server.diagnostics(uri, 2))
    assert server.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]

    old.rename(loops)
    at = disk.tell((old, DELETED), (loops, MADE))
    disk.without(other, "WF601", at)
    left = disk.without(uri, "WF601", at)
    assert left  # the wrong key that was typed is still found: the buffer counts, not the file
    assert b"Traceback" not in server.log
    assert server.process.poll() is None
