"""Turns whose end nobody saw: a time limit, an engine that went away, a folder that lost what was kept."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import EndsRun
from loop_ls.engine.protection.guard import Guard, guarded, guarding
from loop_ls.testing.recorder import MemoryRecorder

PLACE = Place("polish").turn("polish", 1)


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "w", folder / "data"
        self.root.mkdir()
        self.manifest = self.root / "package.json"
        self.manifest.write_text("old")
        self.recorder = MemoryRecorder()

    def guard(self) -> Guard:
        """As an engine makes it when it takes up the run."""
        return Guard(self.root, self.data, self.recorder.run_id, {}, answered=list(self.recorder.entries))

    async def given_up(self, guard: Guard) -> None:
        """A turn that a time limit ends after its edit."""
        with guarding(guard), pytest.raises(asyncio.CancelledError):
            async with guarded(self.recorder, PLACE, PLACE.part("ask")):
                self.manifest.write_text("new")
                raise asyncio.CancelledError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.mark.parametrize("restarted", [False, True])
async def test_UP_91_an_edit_of_a_turn_that_was_given_up_is_asked_about_before_the_next_call(
    workspace: Workspace, restarted: bool
) -> None:
    guard = workspace.guard()
    await workspace.given_up(guard)
    if restarted:
        guard = workspace.guard()
    workspace.recorder.decide(False, decision="restore")
    await guard.settle(workspace.recorder)
    asked = [body for kind, body in workspace.recorder.facts if kind == "manual_approval_required"]
    assert [body["protected"] for body in asked] == [[{"path": "package.json", "change": "changed"}]]
    assert asked[0]["iteration"] == 1
    assert workspace.manifest.read_text() == "old"
    await guard.settle(workspace.recorder)
    await workspace.guard().settle(workspace.recorder)
    assert len([kind for kind, _ in workspace.recorder.facts if kind == "manual_approval_required"]) == 1


async def test_UP_91_what_two_turns_at_once_saw_is_asked_once_where_it_is_allowed(workspace: Workspace) -> None:
    other = Place("other").turn("other", 1)
    workspace.recorder.decide(True)
    first = guarded(workspace.recorder, PLACE, PLACE.part("ask"))
    with guarding(workspace.guard()):
        async with first, guarded(workspace.recorder, other, other.part("ask")):
            workspace.manifest.write_text("new")
    assert [kind for kind, _ in workspace.recorder.facts] == ["manual_approval_required", "approval_resolved"]


async def test_a_turn_of_which_nothing_is_known_any_more_is_asked_about_and_not_passed(workspace: Workspace) -> None:
    await workspace.given_up(workspace.guard())
    shutil.rmtree(workspace.data)
    workspace.recorder.decide(False)
    with pytest.raises(EndsRun):
        await workspace.guard().settle(workspace.recorder)
    [asked] = [body for kind, body in workspace.recorder.facts if kind == "manual_approval_required"]
    assert "no longer known" in str(asked["output"]) and asked.get("protected") is None


async def test_what_cannot_be_put_back_is_asked_about_again(workspace: Workspace) -> None:
    guard = workspace.guard()
    await workspace.given_up(guard)
    for copy in (workspace.data / "protected").rglob("copies/*"):
        if copy.suffix != ".json":
            copy.unlink()
    workspace.recorder.decide(False, decision="restore")
    workspace.recorder.decide(True)
    await guard.settle(workspace.recorder)
    told = [(kind, body.get("code")) for kind, body in workspace.recorder.facts if kind != "approval_resolved"]
    asks = ("manual_approval_required", None)
    assert told == [asks, ("warning", "protected_not_restored"), asks]
    assert workspace.manifest.read_text() == "new"


async def test_outside_of_a_run_nothing_is_looked_at(workspace: Workspace) -> None:
    async with guarded(workspace.recorder, PLACE, PLACE.part("ask")):
        workspace.manifest.write_text("new")
    assert workspace.recorder.entries == {}
