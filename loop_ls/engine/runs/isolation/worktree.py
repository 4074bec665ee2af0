"""One worktree: made beside the user's files, committed iteration by iteration, removed when nothing in it is unsaved.

Commits are made with an index of our own, so what an agent leaves half done in Git (a lock, a rebase, another branch)
keeps nothing from being saved, and nothing of the user's repository is touched but the branch.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from loop_ls.engine.capabilities.guard import permitted
from loop_ls.engine.capabilities.repository_filters import FILTERS
from loop_ls.engine.capabilities.values import FileFilter, literal
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runs.isolation.git import CODE, Git, Said
from loop_ls.engine.runs.isolation.put_in_place import FOLDER

#: Who commits where the user has said nothing to Git.
NAME, EMAIL = "loop-ls", "loop-ls@localhost"
#: Paths with uncommitted changes that are told.
MOST_TOLD = 10
#: The mode of an entry that is a repository of its own.
GITLINK = "160000"
_LOCKED = re.compile(r"Unable to create '(.+\.lock)': File exists")
_WITHOUT = "Remove `isolate`, or commit first."


class Made(TypedDict):
    """What is recorded of a worktree. `inside`: the workspace in it, relative to `folder`."""

    branch: str
    folder: str
    inside: str
    base: str
    left_out: list[str]
    left_out_total: int


def branch_of(name: str, run_id: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[:30].strip("-")
    return f"loop-ls/{plain or 'loop'}-{run_id}"


class Worktree:
    """`root` is the user's folder, `own` the folder of the run in the engine's data."""

    def __init__(self, root: str, own: Path, branch: str) -> None:
        self.root, self.own, self.branch = root, own, branch
        self._committer: dict[str, str] | None = None

    @staticmethod
    def of(root: str, data: Path, run_id: str, branch: str) -> Worktree:
        return Worktree(root, data / FOLDER / run_id, branch)

    @property
    def _git(self) -> Git:
        return Git.of(self.root, self.root)

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    # -- to begin ----------------------------------------------------------------------------------

    async def make(self, earlier: tuple[str, str] | None = None) -> Made:
        """At the last commit; or `earlier`: for the changes since that commit, at this one. What an attempt before left
        is thrown away: nobody has worked there. Raises `Failure` with why there can be none."""
        top, prefix = await self._place()
        if why := await unknown_filter(self._git):
            raise _no(why, "Write that into its `.git/config` directly, then start the run again.")
        base = await self._commit_of("HEAD")
        if base is None:
            raise _no("the repository has no commit yet", "Commit once, or remove `isolate`.")
        set_up = await self._git.run("config", "--type=bool", "--get", "core.sparseCheckout")
        if set_up.out.strip() == "true":
            raise _no("this is a sparse checkout, and the worktree would have different files", "Remove `isolate`.")
        folder = self.own / (Path(top).name or "worktree")
        await self._thrown_away(folder)
        left_out = await self._uncommitted()
        await asyncio.to_thread(self.own.mkdir, 0o700, parents=True, exist_ok=True)
        base, begin = earlier or (base, base)
        added = await self._git.run("worktree", "add", "-q", "-b", self.branch, str(folder), begin)
        if added.status:
            await self._thrown_away(folder)
            raise _no(f"`git worktree add` failed: {added.why}", "Fix that, or remove `isolate`.")
        if not (folder / prefix).is_dir():
            await self._thrown_away(folder)
            raise _no(f"the folder `{prefix.rstrip('/')}` is not part of the last commit", _WITHOUT)
        return {
            "branch": self.branch,
            "folder": str(folder),
            "inside": prefix,
            "base": base,
            "left_out": left_out[:MOST_TOLD],
            "left_out_total": len(left_out),
        }

    async def _place(self) -> tuple[str, str]:
        """The top of the user's worktree, and where the workspace is in it (with a `/` at its end)."""
        words = ("--is-bare-repository", "--is-inside-work-tree", "--show-prefix", "--show-toplevel")
        said = await self._git.run("rev-parse", *words)
        if said.status == 127:
            raise Failure(CODE, "`isolate: worktree` needs Git, which is not installed", "Install Git, or remove it.")
        if said.lines[:1] == ["true"]:
            raise _no("this is a bare repository, which has no files", "Remove `isolate`.")
        if said.lines[1:2] == ["false"]:
            raise _no("this folder is inside a repository's `.git` folder", "Remove `isolate`.")
        if said.status or len(said.lines) != 4:
            raise _no(_no_repository(said), "Run `git init` and commit, or remove `isolate`.")
        if not await asyncio.to_thread(os.path.exists, Path(said.lines[3], ".git")):
            raise _no("this repository is configured to have its files elsewhere", "Remove `isolate`.")
        return said.lines[3], said.lines[2]

    async def _commit_of(self, name: str) -> str | None:
        said = await self._git.run("rev-parse", "--verify", "-q", f"{name}^{{commit}}")
        return said.out.strip() or None if not said.status else None

    async def _uncommitted(self) -> list[str]:
        said = await self._git.run("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all")
        return [shown(part[3:]) for part in said.parts]

    async def _thrown_away(self, folder: Path) -> None:
        """What began to be made and was never worked in."""
        if self.own.exists():
            await self._git.run("worktree", "remove", "-f", "-f", str(folder))
            await asyncio.to_thread(shutil.rmtree, self.own, ignore_errors=True)
            await self._git.run("worktree", "prune")
        if await self._commit_of(self.ref) is not None:
            await self._unlocked(self._git, "update-ref", "-d", self.ref)

    async def there(self, folder: str) -> None:
        """A worktree that is gone (another machine, a tidy person) is made again from its branch. Raises `Failure`."""
        if (Path(folder) / ".git").exists():
            return
        if why := await unknown_filter(self._git):
            raise Failure(CODE, why)
        await self._git.run("worktree", "prune")
        await asyncio.to_thread(self.own.mkdir, 0o700, parents=True, exist_ok=True)
        with suppress(OSError):
            (self.own / "index").unlink()
        added = await self._git.run("worktree", "add", "-q", folder, self.branch)
        if added.status:
            raise Failure(CODE, f"this run's worktree {folder} no longer exists and cannot be recreated: {added.why}")

    # -- to save -----------------------------------------------------------------------------------

    async def commit(self, folder: str, title: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
        """All that is there now, as a commit on the branch: the one that is there where nothing is new. `titles`: of
        trees that have one of their own. Raises `Failure`."""
        if why := await unknown_filter(Git.of(self.root, folder)):
            raise Failure(CODE, why)
        tip, tree = (await self._git.asked("rev-parse", self.ref, f"{self.ref}^{{tree}}")).lines
        index = self.own / "index"
        await asyncio.to_thread(_prepare_index, index, Path(folder))
        git = Git.of(self.root, folder, GIT_INDEX_FILE=str(index), **await self.who())
        if not index.exists():
            await git.asked("read-tree", tip)
        added = await _added(git)
        now = (await git.asked("write-tree")).out.strip()
        if now != tree:
            made = await git.asked("commit-tree", now, "-p", tip, text=f"{titles.get(now, title)}\n")
            commit = made.out.strip()
            await self.move(git, commit, tip)
            await asyncio.to_thread(_share_index, index, Path(folder))
            tip = commit
        if added.status:
            raise Failure("git_partly", f"some files could not be committed: {added.why}", place=tip)
        return tip

    async def move(self, git: Git, commit: str, tip: str) -> None:
        """Let the branch be at another commit. Raises `Failure`."""
        said = await self._unlocked(git, "update-ref", "-m", "loop-ls", self.ref, commit, tip)
        said.require("update-ref")

    async def _unlocked(self, git: Git, *words: str) -> Said:
        """A command that changes the branch. Only we and the agents of the run do, and their turn is over: a lock on
        it, or of the worktree, is from one that was killed."""
        said = await git.run(*words)
        if (found := _LOCKED.search(said.err)) is None:
            return said
        ours = (await git.asked("rev-parse", "--git-path", f"{self.ref}.lock", "--absolute-git-dir")).lines
        of_ours = Path(ours[1]) if Path(git.folder).is_relative_to(self.own) else None
        await asyncio.to_thread(_unlock, Path(found[1]), Path(git.folder, ours[0]), of_ours)
        return await git.run(*words)

    async def who(self) -> dict[str, str]:
        """Who commits: the user, as far as Git knows them. Asked once."""
        if self._committer is None:
            self._committer = await self._asked_for_committer()
        return self._committer

    async def _asked_for_committer(self) -> dict[str, str]:
        said = await self._git.run("config", "-z", "--get-regexp", r"^user\.(name|email)$")
        known = dict(part.partition("\n")[::2] for part in said.parts)
        name, email = known.get("user.name") or NAME, known.get("user.email") or EMAIL
        return {
            f"GIT_{whose}_{what}": value
            for whose in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", email))
        }

    async def follow(self, folder: str, tip: str, commit: str) -> None:
        """Let the files become those of another commit. Raises `Failure` where something in them is unsaved."""
        index = self.own / "index"
        git = Git.of(self.root, folder, GIT_INDEX_FILE=str(index))
        await git.asked("read-tree", "-m", "-u", tip, commit)
        await asyncio.to_thread(_share_index, index, Path(folder))

    # -- to end ------------------------------------------------------------------------------------

    async def remove(self, folder: str) -> str:
        """Remove the folder, if all in it is on the branch; else why it stays, as a sentence."""
        if not await asyncio.to_thread(os.path.exists, folder):
            await self._git.run("worktree", "prune")
            return ""
        if why := await unknown_filter(Git.of(self.root, folder)):
            return f"The worktree was kept in {folder}: {why}."
        words = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignored", "--untracked-files=normal")
        index = self.own / "index"
        git = Git.of(self.root, folder, **({"GIT_INDEX_FILE": str(index)} if index.exists() else {}))
        left = await git.run(*words, "--ignore-submodules=all")
        if left.status:
            return f"The worktree was kept in {folder}: {left.why}."
        inner = await asyncio.to_thread(_filled, folder, await _repositories(git))
        named = sorted({shown(path) for path in (*(part[3:] for part in left.parts), *inner)})
        if named:
            listed = ", ".join(named[:MOST_TOLD]) + (", ..." if len(named) > MOST_TOLD else "")
            return f"The worktree was kept in {folder}: it has files that are not committed ({listed})."
        return await self.drop(folder)

    async def drop(self, folder: str) -> str:
        """Remove the folder, whatever is in it."""
        gone = await self._git.run("worktree", "remove", "-f", "-f", folder)
        if gone.status and await asyncio.to_thread(os.path.exists, folder):
            return f"The worktree was kept in {folder}: {gone.why}."
        await asyncio.to_thread(shutil.rmtree, self.own, ignore_errors=True)
        return ""

    async def forget(self) -> str:
        """Delete the branch; why it stays, as a sentence."""
        if await self.tip() is None:
            return ""
        gone = await self._unlocked(self._git, "branch", "-q", "-D", self.branch)
        return f"The branch {self.branch} was kept: {gone.why}." if gone.status else ""

    async def tip(self) -> str | None:
        return await self._commit_of(self.ref)


async def _repositories(git: Git) -> list[str]:
    """Folders of which the index knows that each is a repository of its own. Raises `Failure`."""
    entries = (entry.partition("\t") for entry in (await git.asked("ls-files", "-s", "-z")).parts)
    return [path for about, _, path in entries if about.startswith(f"{GITLINK} ")]


def _filled(folder: str, repositories: Iterable[str]) -> list[str]:
    """Those that are there, with all that is in them alone."""
    return [path for path in repositories if os.path.lexists(Path(folder, path, ".git"))]


async def _added(git: Git) -> Said:
    """All that is there, into the index. Of a repository inside, only the commit is looked at: to see whether its files
    were changed, Git would work by its settings, which may start any program."""
    inner = await _repositories(git)
    if inner:
        text = "".join(f"{path}\0" for path in inner)
        await git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", text=text)
    but = "".join(f":(exclude,literal){path}\0" for path in inner)
    words = ("add", "-A", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
    return await git.run(*words, text=f".\0{but}")


async def unknown_filter(git: Git) -> str | None:
    """What Git would start for the files of a folder by settings of its repository, without permission: why nothing is
    done there. An agent may have written settings, or let the folder belong to another repository. Raises `Failure`."""
    told = await git.run("config", "--show-scope", "-z", "--get-regexp", FILTERS)
    scopes, settings = told.parts[::2], told.parts[1::2]
    for scope, setting in zip(scopes, settings, strict=False):
        command = shown(setting.partition("\n")[2])
        if scope in ("local", "worktree") and command and not permitted().has(FileFilter(command, git.root)):
            return literal(f"the Git settings of the repository start `{command}` for its files, without permission")
    return None


def shown(text: str) -> str:
    """Text of Git for people and for the record: bytes that are no text are replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _no(why: str, hint: str) -> Failure:
    return Failure(CODE, f"`isolate: worktree` is not possible here: {why}", hint)


def _no_repository(said: Said) -> str:
    if "not a git repository" in said.err:
        return "the folder is in no Git repository"
    if "safe.bareRepository" in said.err:
        return "this is a bare repository or a `.git` folder, so it has no files"
    return said.why


def _git_folder(folder: Path) -> Path | None:
    """Where Git keeps what belongs to this worktree."""
    with suppress(OSError, UnicodeError):
        word, _, path = (folder / ".git").read_text("utf-8").strip().partition(": ")
        if word == "gitdir":
            return folder / path
    return None


def of_repository(folder: Path) -> list[str]:
    """What of the user's repository runs programs and can be changed from a worktree: its settings and hooks."""
    own = _git_folder(folder)
    if own is None:
        return []
    try:
        common = (own / (own / "commondir").read_text("utf-8").strip()).resolve()
    except (OSError, UnicodeError):
        return []
    return [str(common / name) for name in ("config", "config.worktree", "hooks", "info/attributes")]


def _unlock(lock: Path, of_branch: Path, own: Path | None) -> None:
    """Where it is the lock on the branch, or one in `own`, where Git keeps what belongs to the worktree."""
    if lock.resolve() == of_branch.resolve() or (own is not None and lock.parent.resolve() == own.resolve()):
        lock.unlink(missing_ok=True)


def _prepare_index(index: Path, folder: Path) -> None:
    """Ours begins as the worktree's, which knows what the files were; a lock on it is from one that was killed. Its
    time is part of what it knows: a file that was changed in the same second is compared by its content."""
    with suppress(OSError):
        index.with_name("index.lock").unlink()
    own = _git_folder(folder)
    if not index.exists() and own is not None:
        with suppress(OSError):
            shutil.copy2(own / "index", index)


def _share_index(index: Path, folder: Path) -> None:
    """So that whoever looks there finds nothing changed since the commit. Not where Git is at work there."""
    own = _git_folder(folder)
    if own is None or (own / "index.lock").exists():
        return
    with suppress(OSError):
        fresh = own / "index.loop-ls"
        shutil.copy2(index, fresh)
        fresh.replace(own / "index")
