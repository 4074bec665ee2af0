"""A run that came in by a file says that it has a worktree: nothing is done with Git because of what it says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.isolation.kinds import git
from tests.engine.isolation.project import Isolated

Json = dict[str, Any]
Change = Callable[[Json, Path], None]


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Isolated]:
    made = Isolated(tmp_path)
    made.prepare()
    await made.open()
    yield made
    await made.close()


def as_it_was(body: Json, victim: Path) -> None:
    """A worktree of this machine, of a run that is here."""


def base_is_an_option(body: Json, victim: Path) -> None:
    body["base"] = f"--output={victim}"


def commit_is_an_option(body: Json, victim: Path) -> None:
    body["commit"] = f"--output={victim}"


def branch_of_the_user(body: Json, victim: Path) -> None:
    body["branch"] = "main"


def folder_of_the_user(body: Json, victim: Path) -> None:
    body["folder"] = str(victim.parent)


CHANGES = (as_it_was, base_is_an_option, commit_is_an_option, branch_of_the_user, folder_of_the_user)


async def brought_in(project: Isolated, change: Change, victim: Path) -> str:
    """A stranger's record, of a run that was isolated where it was made."""
    assert project.engine is not None
    run_id = (await project.run()).end["runId"]
    document = json.loads(json.dumps((await project.engine.export(run_id))["run"]))
    document["runId"] = "stranger1"
    for fact in document["facts"]:
        if fact["kind"] in ("worktree_made", "worktree_committed"):
            change(fact["body"], victim)
    taken = await project.engine.take_in(document)
    assert taken["ok"], taken
    return str(taken["runId"])


@pytest.mark.parametrize("change", CHANGES)
async def test_nothing_is_looked_up_or_decided_for_a_run_that_came_in(
    project: Isolated, tmp_path: Path, change: Change
) -> None:
    """Its commits would be options of Git, its branch one of the user's: a look would overwrite a file."""
    victim = tmp_path / "mine" / "notes.txt"
    victim.parent.mkdir()
    victim.write_text("the work of a week")
    run_id = await brought_in(project, change, victim)
    assert project.engine is not None
    users, branches = project.users(), project.branches()
    answers = [await project.engine.changes(run_id), await project.engine.restore(run_id, 1)]
    answers += [await project.decide(run_id, decision) for decision in ("apply", "keep", "discard")]
    for answer in answers:
        assert (answer["ok"], answer["code"]) == (False, "not_found"), answer
        assert "was imported" in answer["message"]
    assert victim.read_text() == "the work of a week"
    assert (project.users(), project.branches()) == (users, branches)


@pytest.mark.parametrize("change", CHANGES)
async def test_its_fork_begins_at_the_users_last_commit(project: Isolated, tmp_path: Path, change: Change) -> None:
    victim = tmp_path / "mine" / "notes.txt"
    victim.parent.mkdir()
    victim.write_text("the work of a week")
    run_id = await brought_in(project, change, victim)
    assert project.engine is not None
    forked = await project.engine.fork(run_id, 2, origin="cli")
    assert forked["ok"], forked
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(after=0, run_id=forked["runId"]):
            if event["kind"] in ("completed", "failed", "cancelled"):
                break
    [made] = (await project.facts(forked["runId"])).of("worktree_made")
    assert made["base"] == git(project.root, "rev-parse", "HEAD").strip()
    assert victim.read_text() == "the work of a week"
