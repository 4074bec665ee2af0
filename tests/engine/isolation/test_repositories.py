"""A worktree in each kind of repository: what is the user's stays as it is, and what is applied is what was made."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.repository_filters import filters_of
from loop_ls.engine.capabilities.values import Capabilities, FileFilter, OwnWorktree
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runs.isolation.changes import apply, changed_files, diff
from loop_ls.engine.runs.isolation.git import for_people
from loop_ls.engine.runs.isolation.worktree import Made, Worktree
from tests.engine.isolation import kinds
from tests.engine.isolation.kinds import git, picture

BRANCH = "loop-ls/fixer-1"


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in kinds.ENVIRON.items():
        monkeypatch.setenv(name, value)


def of(root: Path, tmp_path: Path) -> Worktree:
    return Worktree.of(str(root), tmp_path / "data", "1", BRANCH)


def as_agreed(root: Path) -> AbstractContextManager[None]:
    """As in a run to which its owner agreed."""
    filters = [FileFilter(command, str(root)) for command in filters_of(root)]
    return permitting(lambda: Capabilities.of([OwnWorktree(str(root)), *filters]))


def work(folder: Path) -> None:
    """What an agent does: change, make, delete, link, and turn a mode."""
    lines = (folder / "a.txt").read_bytes()
    (folder / "a.txt").write_bytes(lines + (b"four\r\n" if b"\r\n" in lines else b"four\n"))
    (folder / "made").mkdir()
    (folder / "made" / "ne w ü.txt").write_text("made\n")
    (folder / "made" / "bytes").write_bytes(bytes(range(256)))
    (folder / "made" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "made" / "run.sh").chmod(0o755)
    (folder / "made" / "link").symlink_to("run.sh")


@pytest.mark.parametrize("kind", kinds.WORKING, ids=lambda kind: kind.__name__)
async def test_what_is_the_users_stays_and_what_was_made_is_applied(
    kind: Callable[[Path], Path], tmp_path: Path
) -> None:
    root = kind(tmp_path / "user")
    before = picture(root)
    worktree = of(root, tmp_path)
    with as_agreed(root):
        made = await worktree.make()
        folder = Path(made["folder"])
        work(folder)
        first = await worktree.commit(made["folder"], "Fixer 1: no")
        assert await worktree.commit(made["folder"], "Fixer 1: no") == first
        (folder / "a.txt").write_bytes((folder / "a.txt").read_bytes() + b"five\n")
        tip = await worktree.commit(made["folder"], "Fixer 2: yes")
        assert picture(root) == before
        assert git(root, "log", "--format=%s", f"{made['base']}..{BRANCH}").splitlines() == [
            "Fixer 2: yes",
            "Fixer 1: no",
        ]
        assert git(root, "rev-parse", BRANCH).strip() == tip
        name = git(root, "log", "-1", "--format=%an", BRANCH).strip()
        assert name == ("Zoë Ünal" if kind is kinds.own_identity else "loop-ls")
        assert "+four" in (await diff(str(root), made["base"], tip))[0].replace("FOUR", "four")
        expected = {one["path"] for one in await changed_files(str(root), made["base"], tip)}
        assert expected == {"a.txt", "made/ne w ü.txt", "made/bytes", "made/run.sh", "made/link"}
        if kind is kinds.staged:  # `a.txt` is not in its index, so it is nobody's
            with pytest.raises(Failure, match=r"uncommitted changes in `a\.txt`"):
                await apply(str(root), worktree.own, made["base"], tip)
            assert picture(root) == before
        else:
            await apply(str(root), worktree.own, made["base"], tip)
            for path in expected:
                same(root / path, folder / path)
            for path in ("a.txt", "made/ne w ü.txt"):
                assert (b"\r" in (root / path).read_bytes()) == (kind is kinds.crlf)
            after = picture(root)
            assert {name: what for name, what in after.items() if name in before and name != "a.txt"} == {
                name: what for name, what in before.items() if name != "a.txt"
            }
        assert await worktree.remove(made["folder"]) == ""
    assert not folder.exists()
    assert len(git(root, "worktree", "list").splitlines()) == (2 if kind is kinds.worktree_in_worktree else 1)
    assert not (root / "hook-ran").exists()


def same(one: Path, other: Path) -> None:
    assert one.is_symlink() == other.is_symlink()
    assert one.lstat().st_mode & 0o111 == other.lstat().st_mode & 0o111
    if one.is_symlink():
        assert one.readlink() == other.readlink()
    else:
        assert one.read_bytes().replace(b"\r\n", b"\n") == other.read_bytes().replace(b"\r\n", b"\n")


@pytest.mark.parametrize(("kind", "why"), kinds.REFUSED, ids=lambda each: getattr(each, "__name__", ""))
async def test_where_there_can_be_none_a_sentence_says_why(
    kind: Callable[[Path], Path], why: str, tmp_path: Path
) -> None:
    root = kind(tmp_path / "user")
    before = picture(tmp_path / "user")
    with for_people(str(root)), pytest.raises(Failure) as refused:
        await of(root, tmp_path).make()
    assert why in refused.value.message and refused.value.hint
    assert picture(tmp_path / "user") == before
    assert BRANCH not in git(tmp_path / "user", "branch", "--all", check=False)
    assert not (tmp_path / "data" / "worktrees" / "1").exists()


async def made_in(root: Path, tmp_path: Path) -> tuple[Worktree, Made, Path]:
    worktree = of(root, tmp_path)
    made = await worktree.make()
    return worktree, made, Path(made["folder"])


async def test_git_that_is_not_installed_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = kinds.clean(tmp_path / "user")
    monkeypatch.setenv("PATH", str(tmp_path))
    with for_people(str(root)), pytest.raises(Failure, match="Git, which is not installed"):
        await of(root, tmp_path).make()


async def test_a_folder_of_the_repository_is_worked_in_as_that_folder(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root / "sub")):
        worktree, made, folder = await made_in(root / "sub", tmp_path)
        assert made["inside"] == "sub/"
        (folder / "sub" / "b.txt").write_text("new\n")
        (folder / "a.txt").write_text("beside it, too\n")
        tip = await worktree.commit(made["folder"], "one")
        await apply(str(root / "sub"), worktree.own, made["base"], tip)
    assert ((root / "sub" / "b.txt").read_text(), (root / "a.txt").read_text()) == ("new\n", "beside it, too\n")


async def test_what_an_agent_does_in_git_keeps_nothing_from_being_saved(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "a.txt").write_text("by the agent\n")
        git(folder, "commit", "-q", "-am", "its own commit")
        first = await worktree.commit(made["folder"], "Fixer 1: no")
        assert git(root, "log", "-1", "--format=%s", first).strip() == "its own commit"
        git(folder, "checkout", "-q", "-b", "elsewhere")
        own = Path(git(folder, "rev-parse", "--absolute-git-dir").strip())
        for lock in (own / "index.lock", own / "HEAD.lock", worktree.own / "index.lock"):
            lock.touch()
        Path(root, ".git", "refs", "heads", f"{BRANCH}.lock").touch()
        (folder / "b.txt").write_text("on another branch\n")
        second = await worktree.commit(made["folder"], "Fixer 2: no")
        assert git(root, "show", f"{second}:b.txt") == "on another branch\n"
        assert git(root, "rev-parse", BRANCH).strip() == second


async def test_a_lock_that_somebody_else_may_hold_stays_and_is_told(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "b.txt").write_text("new\n")
        git(root, "pack-refs", "--all")
        lock = root / ".git" / "packed-refs.lock"
        lock.touch()
        await worktree.commit(made["folder"], "Fixer 1: no")
        await worktree.drop(made["folder"])
        assert "packed-refs.lock" in await worktree.forget()
        assert lock.exists()


async def test_what_the_index_of_the_user_does_not_look_at_is_not_written_over(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "a.txt").write_text("one\ntwo\nthree\nfour\n")
        tip = await worktree.commit(made["folder"], "Fixer 1: yes")
        git(root, "update-index", "--assume-unchanged", "a.txt")
        (root / "a.txt").write_text("mine\ntwo\nthree\n")
        before = picture(root)
        with pytest.raises(Failure, match=r"uncommitted changes in `a\.txt`"):
            await apply(str(root), worktree.own, made["base"], tip)
        assert picture(root) == before


async def test_a_repository_that_an_agent_makes_is_told_and_stays(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "c.txt").write_text("c\n")
        kinds.committed(folder / "inner")
        tip = await worktree.commit(made["folder"], "one")
        with pytest.raises(Failure, match="`inner` is a separate repository"):
            await apply(str(root), worktree.own, made["base"], tip)
        (folder / "empty").mkdir()
        git(folder / "empty", "init", "-q")
        (folder / "d.txt").write_text("d\n")
        with pytest.raises(Failure, match="some files could not be committed") as partly:
            await worktree.commit(made["folder"], "two")
        assert git(root, "show", f"{partly.value.place}:d.txt") == "d\n"
        assert "empty/" in await worktree.remove(made["folder"])
    assert (folder / "inner" / "a.txt").exists()


@pytest.mark.parametrize(
    ("mine", "why"),
    [
        (lambda root: (root / "a.txt").write_text("mine\n"), "uncommitted changes in `a.txt`"),
        (lambda root: (root / "a.txt").unlink(), "uncommitted changes in `a.txt`"),
        (lambda root: (root / "c.txt").write_text("mine\n"), "`c.txt` would be overwritten"),
        (lambda root: (root / "c.txt").mkdir(), "`c.txt` would be overwritten"),
        (lambda root: (root / "c.txt").symlink_to("a.txt"), "`c.txt` would be overwritten"),
        (lambda root: (root / "new").write_text("mine\n"), "new"),
        (lambda root: (root / "new").symlink_to("/tmp"), "new"),
    ],
    ids=("changed", "deleted", "untracked", "folder", "link", "file where a folder is", "link where a folder is"),
)
async def test_what_does_not_apply_is_refused_and_nothing_is_changed(
    mine: Callable[[Path], object], why: str, tmp_path: Path
) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "a.txt").write_text("theirs\n")
        (folder / "c.txt").write_text("theirs\n")
        (folder / "new").mkdir()
        (folder / "new" / "d.txt").write_text("theirs\n")
        tip = await worktree.commit(made["folder"], "one")
        mine(root)
        before = picture(root)
        with pytest.raises(Failure, match="do not apply") as refused:
            await apply(str(root), worktree.own, made["base"], tip)
        assert why in refused.value.message and refused.value.hint
    assert picture(root) == before


async def test_what_was_committed_meanwhile_and_conflicts_is_refused(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "a.txt").write_text("one\nTWO\nthree\n")
        (folder / "c.txt").write_text("new\n")
        tip = await worktree.commit(made["folder"], "one")
        (root / "a.txt").write_text("one\n2\nthree\n")
        git(root, "commit", "-q", "-am", "meanwhile")
        before = picture(root)
        with pytest.raises(Failure, match=r"patch failed: a\.txt:1"):
            await apply(str(root), worktree.own, made["base"], tip)
        assert picture(root) == before
        (root / "a.txt").write_text("one\ntwo\nthree\n\n\n\n\nfar away\n")
        git(root, "commit", "-q", "-am", "elsewhere in it")
        await apply(str(root), worktree.own, made["base"], tip)
    assert (root / "a.txt").read_text() == "one\nTWO\nthree\n\n\n\n\nfar away\n"


async def test_ignored_files_of_the_worktree_are_not_deleted_unasked(tmp_path: Path) -> None:
    root = kinds.ignored(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "long.log").write_text("an hour of work\n")
        await worktree.commit(made["folder"], "one")
        assert "long.log" in await worktree.remove(made["folder"])
        assert (folder / "long.log").exists()
        assert await worktree.drop(made["folder"]) == ""
    assert not folder.exists()


async def test_a_worktree_that_is_gone_is_made_again_from_its_branch(tmp_path: Path) -> None:
    root = kinds.clean(tmp_path / "user")
    with for_people(str(root)):
        worktree, made, folder = await made_in(root, tmp_path)
        (folder / "c.txt").write_text("new\n")
        await worktree.commit(made["folder"], "one")
        await asyncio.to_thread(shutil.rmtree, worktree.own)
        await worktree.there(made["folder"])
        assert (folder / "c.txt").read_text() == "new\n"
        (folder / "c.txt").write_text("newer\n")
        tip = await worktree.commit(made["folder"], "two")
    assert git(root, "show", f"{tip}:c.txt") == "newer\n"


async def test_what_was_half_made_is_made_anew(tmp_path: Path) -> None:
    root = kinds.dirty(tmp_path / "user")
    before = picture(root)
    with for_people(str(root)):
        _, first, folder = await made_in(root, tmp_path)
        (folder / "a.txt").unlink()
        _, second, _ = await made_in(root, tmp_path)
        assert second == first
        assert (folder / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert picture(root) == before
