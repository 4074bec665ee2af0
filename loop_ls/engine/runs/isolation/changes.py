"""What became of the work of a run in its worktree, for people: the diff, and what can be done with it.

Applied is a patch to the user's files, all of it or nothing, also where the engine is killed in the middle: a file that
the user has changed and not committed is never written. Nothing is merged, and nothing is put into the user's index.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path, PurePosixPath
from typing import Literal, TypedDict

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runs.isolation.git import Git
from loop_ls.engine.runs.isolation.put_in_place import Moved, PutBack, PutInPlace
from loop_ls.engine.runs.isolation.worktree import GITLINK, MOST_TOLD, Worktree, shown, unknown_filter

Status = Literal["added", "changed", "deleted"]
_STATUS: dict[str, Status] = {"A": "added", "D": "deleted"}
_SHOWN = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
    "--submodule=short",  # else Git works in them, by their settings
)
#: Characters of a diff that are shown.
MOST_SHOWN = 400_000


class ChangedFile(TypedDict):
    """`submodule`: it is a repository of its own, of which only the commit is named."""

    path: str
    status: Status
    submodule: bool


async def changed_files(root: str, base: str, tip: str) -> list[ChangedFile]:
    """Raises `Failure`."""
    said = await Git.of(root, root).asked("diff-tree", "-r", "-z", "--raw", "--no-renames", base, tip)
    found: list[ChangedFile] = []
    parts = said.parts
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        before, after, _, _, status = about.removeprefix(":").split(" ")
        found.append(
            {"path": path, "status": _STATUS.get(status[:1], "changed"), "submodule": GITLINK in (before, after)}
        )
    return found


async def diff(root: str, base: str, tip: str) -> tuple[str, bool]:
    """As people read it, and whether it goes on. Raises `Failure`."""
    said = await Git.of(root, root).asked("diff", *_SHOWN, base, tip, "--")
    return shown(said.out[:MOST_SHOWN]), len(said.out) > MOST_SHOWN


async def apply(root: str, own: Path, base: str, tip: str) -> list[ChangedFile]:
    """Put the changes into the user's files; nothing is changed where it raises `Failure`. Whoever calls says when it
    is over (see `PutInPlace`): if the engine dies before, all is put back."""
    changed = await changed_files(root, base, tip)
    if modules := [one["path"] for one in changed if one["submodule"]]:
        told = f"{_names(modules)} is a separate repository, whose changes cannot be part of a patch"
        raise Failure("not_applicable", f"The changes cannot be applied: {told}.", "Keep the branch instead.")
    if not changed:
        return []
    top = (await Git.of(root, root).asked("rev-parse", "--show-toplevel")).lines[0]
    git = Git.of(root, top)
    if why := await unknown_filter(git):
        raise _refused(why, "Remove that from the settings of the repository, or merge the branch yourself.")
    await _require_clean(git, Path(top), changed)
    placing = PutInPlace.of(own)
    await asyncio.to_thread(placing.prepare)
    try:
        paths = [one["path"] for one in changed]
        added = {one["path"] for one in changed if one["status"] == "added"}
        await asyncio.to_thread(placing.keep, Path(top), paths, added)
        await _prepare(root, top, placing, changed, base, tip)
        await asyncio.to_thread(placing.put, Path(top), paths)
    except BaseException as error:
        back = await asyncio.to_thread(placing.put_back)
        match error:
            case Moved() | OSError():
                raise _refused_in_the_middle(error, back) from error
            case _:
                raise
    return changed


async def _prepare(root: str, top: str, placing: PutInPlace, changed: list[ChangedFile], base: str, tip: str) -> None:
    """What the files become, in a folder of our own, by an index of our own. Raises `Failure`."""
    git = Git.of(root, top, GIT_INDEX_FILE=str(placing.folder / "index"))
    await git.asked("read-tree", "HEAD")
    # The user's index may say of a file that it is not to be looked at: what is in it counts.
    there = "".join(f"{one['path']}\0" for one in changed if one["status"] != "added")
    await git.asked("update-index", "--remove", "-z", "--stdin", text=there)
    said = await git.asked("diff-index", "--cached", "--name-only", "-z", "HEAD", "--")
    if said.parts:
        raise _uncommitted(said.parts)
    patch = placing.folder / "patch"
    await git.asked("diff", "--binary", "--full-index", f"--output={patch}", *_SHOWN, base, tip, "--")
    applied = await git.run("apply", "--cached", "--whitespace=nowarn", "-p1", str(patch))
    if applied.status:
        raise _refused(_why(applied.err))
    coming = "".join(f"{one['path']}\0" for one in changed if one["status"] != "deleted")
    await git.asked("checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={placing.new}/", text=coming)


async def _require_clean(git: Git, top: Path, changed: list[ChangedFile]) -> None:
    """No file is touched that holds what is in no commit. Raises `Failure`."""
    said = await git.asked("diff", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=all", "HEAD", "--")
    touched = {one["path"] for one in changed}
    if dirty := sorted(touched & set(said.parts)):
        raise _uncommitted(dirty)
    new = [one["path"] for one in changed if one["status"] == "added"]
    if blocking := await asyncio.to_thread(_blocking, top, new):
        raise _refused(f"{_names(blocking)} is in the place of a folder", "Move it away, then apply again.")
    tracked: set[str] = set()
    if there := await asyncio.to_thread(_existing, top, new):
        tracked = set((await git.asked("ls-files", "-z", "--", *(f":(top,literal){path}" for path in there))).parts)
    if taken := [path for path in there if path not in tracked]:
        hint = "Move them away, then apply again."
        raise _refused(f"{_names(taken)} would be overwritten and is not committed", hint)


def _uncommitted(paths: list[str]) -> Failure:
    return _refused(f"you have uncommitted changes in {_names(paths)}", "Commit or stash them, then apply again.")


def _refused_in_the_middle(error: Moved | OSError, back: PutBack) -> Failure:
    if isinstance(error, Moved):
        why = f"{_names([error.path])} was changed just now"
    else:
        why = f"`{shown(str(error.filename or 'a file'))}` cannot be written: {error.strerror or error}"
    if not back.failed:
        return _refused(why)
    return Failure("not_applicable", f"The changes do not apply: {why}. {told_of(back)}")


def told_of(back: PutBack) -> str:
    """What became of the user's files, as sentences."""
    if back.failed:
        listed = _names([*back.failed])
        why = next(iter(back.failed.values()))
        return f"Not restored: {listed} ({why}). The engine tries again when it is next started."
    but = f", except for {_names(back.changed)}, which were changed afterwards" if back.changed else ""
    return f"Your files are unchanged{but}."


def _blocking(top: Path, paths: list[str]) -> list[str]:
    """What stands where a folder is needed: a file, or a link, through which nothing is written."""
    found: dict[str, None] = {}
    for path in paths:
        for parent in reversed(PurePosixPath(path).parents[:-1]):
            if os.path.lexists(top / parent) and ((top / parent).is_symlink() or not (top / parent).is_dir()):
                found[str(parent)] = None
                break
    return [*found]


def _existing(top: Path, paths: list[str]) -> list[str]:
    return [path for path in paths if os.path.lexists(top / path)]


def _refused(why: str, hint: str = "Keep the branch and merge it yourself.") -> Failure:
    return Failure("not_applicable", f"The changes do not apply: {why}. Nothing was changed.", hint)


def _why(complaint: str) -> str:
    """What `git apply` says: it names each file twice."""
    lines = [line.removeprefix("error: ") for line in complaint.splitlines() if line.startswith("error: ")]
    told = [line for line in lines if not line.endswith("patch does not apply")] or lines
    return "; ".join(told[:MOST_TOLD]) or "Git refuses the patch"


def _names(paths: list[str]) -> str:
    more = f" and {len(paths) - MOST_TOLD} more" if len(paths) > MOST_TOLD else ""
    return ", ".join(f"`{shown(path)}`" for path in paths[:MOST_TOLD]) + more


async def restore(worktree: Worktree, folder: str, commit: str, title: str) -> str:
    """Let the branch be what it was at that commit, by a new commit: nothing is lost. The new one, or the last where
    it is that already. Raises `Failure`."""
    git = Git.of(worktree.root, worktree.root, **await worktree.who())
    wanted = (await git.asked("rev-parse", f"{commit}^{{tree}}")).out.strip()
    if there := await asyncio.to_thread(os.path.exists, folder):  # perhaps as an engine left it that died meanwhile
        await worktree.commit(folder, f"Before {title}", {wanted: title})
    tip = await worktree.tip()
    if tip is None:
        raise Failure("not_found", f"The branch `{worktree.branch}` no longer exists.")
    if wanted == (await git.asked("rev-parse", f"{tip}^{{tree}}")).out.strip():
        return tip
    made = (await git.asked("commit-tree", wanted, "-p", tip, text=f"{title}\n")).out.strip()
    if there:
        await worktree.follow(folder, tip, made)
    await worktree.move(git, made, tip)
    return made
