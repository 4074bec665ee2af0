"""Repositories whose own files and settings would have Git start a program: it is shown first, or never started."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.repository_filters import FILTERS, filters_of
from loop_ls.engine.capabilities.values import Capabilities, FileFilter, OwnWorktree
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runs.isolation.worktree import Worktree
from tests.engine.isolation import kinds
from tests.engine.isolation.kinds import committed, git
from tests.engine.isolation.project import Isolated


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in kinds.ENVIRON.items():
        monkeypatch.setenv(name, value)


Hostile = Callable[[Path, str], Path]


def with_attributes(root: Path) -> Path:
    committed(root)
    (root / ".gitattributes").write_text("* filter=x\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "attributes")
    return root


def settings_in_an_included_file(root: Path, touch: str) -> Path:
    """Of which nobody knows who writes into it."""
    with_attributes(root)
    (root / "more.config").write_text(f'[filter "x"]\n\tsmudge = {touch}; cat\n')
    git(root, "config", "include.path", "../more.config")
    return root


def settings_included_for_the_folder(root: Path, touch: str) -> Path:
    with_attributes(root)
    (root / "more.config").write_text(f'[filter "x"]\n\tclean = {touch}; cat\n')
    git(root, "config", "includeIf.gitdir:/.path", "../more.config")
    return root


def settings_of_the_worktree(root: Path, touch: str) -> Path:
    with_attributes(root)
    git(root, "config", "extensions.worktreeConfig", "true")
    git(root, "config", "--worktree", "filter.x.smudge", f"{touch}; cat")
    return root


def filter_that_nobody_agreed_to(root: Path, touch: str) -> Path:
    with_attributes(root)
    git(root, "config", "filter.x.process", touch)
    return root


def embedded(root: Path, touch: str) -> Path:
    """A clone brings it along: the files of a repository, committed as any others."""
    inner = committed(root.with_name("inner"))
    deep = committed(root) / "deep"
    shutil.copytree(inner / ".git", deep)
    shutil.copytree(inner, deep, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    (deep / ".gitattributes").write_text("* filter=x\n")
    settings = f"[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = {touch}\n"
    settings += f'[filter "x"]\n\tclean = {touch}; cat\n'
    (deep / "config").write_text(settings)
    return deep


def files_elsewhere(root: Path, touch: str) -> Path:
    """What is applied would be written around the repository."""
    committed(root)
    git(root, "config", "core.worktree", "../..")
    return root


def _partial(root: Path) -> Path:
    other = committed(root.with_name("other"))
    git(other, "config", "uploadpack.allowFilter", "true")
    git(root.parent, "clone", "-q", "--no-local", "--filter=blob:none", f"file://{other}", root.name)
    (other / "a.txt").write_text("newer\n")
    git(other, "commit", "-q", "-am", "newer")
    git(root, "fetch", "-q")
    git(root, "update-ref", "refs/heads/main", "origin/main")
    return root


def fetches_by_a_program(root: Path, touch: str) -> Path:
    """What is missing is fetched when it is wanted, by what the settings say."""
    _partial(root)
    git(root, "config", "remote.origin.uploadpack", f"{touch}; git-upload-pack")
    return root


def fetches_by_another_shell(root: Path, touch: str) -> Path:
    _partial(root)
    git(root, "config", "remote.origin.url", "ssh://127.0.0.1/x")
    git(root, "config", "core.sshCommand", f"{touch};")
    return root


def fetches_by_a_protocol(root: Path, touch: str) -> Path:
    _partial(root)
    git(root, "config", "protocol.ext.allow", "always")
    git(root, "config", "remote.origin.url", f"ext::sh -c {touch.replace(' ', '% ')}")
    return root


REFUSED: tuple[tuple[Hostile, str], ...] = (
    (settings_in_an_included_file, "for its files, without permission"),
    (settings_included_for_the_folder, "for its files, without permission"),
    (settings_of_the_worktree, "for its files, without permission"),
    (filter_that_nobody_agreed_to, "for its files, without permission"),
    (embedded, "bare repository"),
    (files_elsewhere, "its files elsewhere"),
    (fetches_by_a_program, "could not fetch"),
    (fetches_by_another_shell, "could not fetch"),
    (fetches_by_a_protocol, "could not fetch"),
)


@pytest.mark.parametrize(("kind", "why"), REFUSED, ids=lambda each: getattr(each, "__name__", ""))
async def test_git_starts_nothing_that_nobody_agreed_to(kind: Hostile, why: str, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    root = kind(tmp_path / "clone", f"touch {mark}")
    mark.unlink(missing_ok=True)
    with permitting(lambda: Capabilities.of([OwnWorktree(str(root))])), pytest.raises(Failure, match=why):
        await Worktree.of(str(root), tmp_path / "data", "1", "loop-ls/fixer-1").make()
    assert not mark.exists()


async def test_a_filter_that_was_agreed_to_is_started(tmp_path: Path) -> None:
    """The other half: that nothing was started before means something."""
    root, mark = with_attributes(tmp_path / "clone"), tmp_path / "started"
    git(root, "config", "filter.x.smudge", f"touch {mark}; cat")
    found = [OwnWorktree(str(root)), *(FileFilter(command, str(root)) for command in filters_of(root))]
    with permitting(lambda: Capabilities.of(found)):
        await Worktree.of(str(root), tmp_path / "data", "1", "loop-ls/fixer-1").make()
    assert mark.exists()


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Isolated]:
    made = Isolated(tmp_path)
    made.prepare()
    await made.open()
    yield made
    await made.close()


async def test_a_start_shows_what_the_settings_of_the_repository_would_start(project: Isolated) -> None:
    git(project.root, "config", "filter.x.clean", "turn --in\n% f")
    asked = await project.start(consent=False)
    told = f"starts `turn --in\\n% f` for files of its worktree, as set in the Git settings of {project.root}"
    assert told in json.dumps(asked).replace("\\\\", "\\")
    first = await project.run()
    assert first.end["kind"] == "completed"
    git(project.root, "config", "filter.x.smudge", "another")
    again = await project.start(consent=False)
    assert again["code"] == "consent_required", again
    assert "starts `another` for files" in again["message"]
    forked = await project.engine.fork(first.end["runId"], 1, origin="cli") if project.engine else {}
    assert forked["code"] == "consent_required", forked
    forked = await project.engine.fork(  # type: ignore[union-attr]
        first.end["runId"], 1, origin="cli", consent=agreed(project.data, forked)
    )
    assert forked["ok"], forked


SETTINGS = (
    '[filter "x"]\n\tclean = a b\n\tsmudge = "c; d"\n\tprocess = e \\\n  f\n',
    '[FILTER "x y"] clean = on the same line\n',
    "[filter.x]\nCLEAN=no blanks\n[core]\nclean = not a filter\n",
    '[filter "x\\"]"]\n\tclean = odd name\n[filter "y"]\n\tclean\n\tsmudge =\n\trequired = true\n',
    '; a comment [filter "no"]\n# clean = no\n[filter "x"] # more\n  clean = "a # b" ; c\n',
    '[filter "x"]\n  smudge = a\\tb \\"q\\" \\\\\n',
    '[filter "x"]\n\tclean = one\n\tclean = two\n[filter "x"]\n\tsmudge = "  kept  "  end   \n',
    '[filter "x"]\r\n\tclean = a\r\n\tsmudge = "b" \r\n',
    '[filter "x"]\n\tclean = "a \\\nb" c\n',
    '[alias]\n\tx = "!f() { \\\n[filter \\"no\\"] }; f"\n[filter "x"]\n\tclean = yes\n',
)


@pytest.mark.parametrize("written", SETTINGS)
async def test_what_is_shown_is_what_git_reads(written: str, tmp_path: Path) -> None:
    root = committed(tmp_path / "clone")
    file = root / ".git" / "config"
    file.write_bytes(file.read_bytes() + written.encode())
    said = git(root, "config", "--local", "-z", "--get-regexp", FILTERS, check=False)
    wanted = {setting.partition("\n")[2] for setting in said.split("\0") if setting}
    assert set(filters_of(root / "sub")) == wanted - {""}
    assert wanted


async def test_what_is_agreed_to_of_a_linked_worktree_is_what_its_repository_says(tmp_path: Path) -> None:
    root = kinds.worktree_in_worktree(tmp_path / "side")
    git(root, "config", "filter.x.clean", "shared")
    assert filters_of(root) == filters_of(tmp_path / "main") == ("shared",)
    assert filters_of(tmp_path) == ()
