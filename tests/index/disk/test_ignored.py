"""Folders that ignore files name are passed over, and nothing that is called is missed for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loop_ls.index.disk import ignored as module
from loop_ls.index.disk.discovery import candidates, discover, ignored_in
from loop_ls.index.disk.ignored import Ignored
from loop_ls.index.disk.roots import Root, Roots
from loop_ls.text.decode import MAX_BYTES
from tests.index.disk.test_discovery import WORKFLOW, write


def listed(root: Path, *named: str) -> list[str]:
    ignored = ignored_in(str(root), Roots(str(root)), [f"{root}/{name}" for name in named])
    return [os.path.relpath(path, root) for path in candidates(str(root), ignored=ignored)[0]]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("build/\n", ["a/build.yaml", "a/x.yaml"]),
        ("/build\n", ["a/build.yaml", "a/build/x.yaml", "a/x.yaml"]),
        (
            "build/*\n!build/kept/\n",
            ["a/build.yaml", "a/build/x.yaml", "a/x.yaml", "build/kept/x.yaml", "build/x.yaml"],
        ),
        ("# build\n\n", ["a/build.yaml", "a/build/x.yaml", "a/x.yaml", "build/kept/x.yaml", "build/x.yaml"]),
        ("a/**\n", ["a/build.yaml", "a/x.yaml", "build/kept/x.yaml", "build/x.yaml"]),
    ],
)
def test_folders_are_passed_over_as_git_does_and_files_are_known(tmp_path: Path, lines: str, left: list[str]) -> None:
    write(tmp_path, ".gitignore", lines)
    for path in ("build/x.yaml", "build/kept/x.yaml", "a/x.yaml", "a/build/x.yaml", "a/build.yaml"):
        write(tmp_path, path)
    assert listed(tmp_path) == left


def test_an_inner_file_speaks_for_its_folder_and_against_an_outer_one(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "out/\n")
    write(tmp_path, "a/.gitignore", "!out/\nmore/\n")
    for path in ("out/x.yaml", "a/out/x.yaml", "a/more/x.yaml", "more/x.yaml"):
        write(tmp_path, path)
    assert listed(tmp_path) == ["a/out/x.yaml", "more/x.yaml"]


def test_the_files_of_the_repository_around_count_unless_they_ignore_the_project_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".gitignore", "out/\nvendor/\n")
    for project in (tmp_path / "project", tmp_path / "vendor" / "project"):
        write(project, "out/x.yaml")
        write(project, "x.yaml")
    assert listed(tmp_path / "project") == ["x.yaml"]
    assert listed(tmp_path / "vendor" / "project") == ["out/x.yaml", "x.yaml"]


def test_outside_of_a_repository_no_file_above_the_project_counts(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "out/\n")
    write(tmp_path, "project/out/x.yaml")
    assert listed(tmp_path / "project") == ["out/x.yaml"]


def test_where_workflows_and_definitions_are_kept_and_what_is_named_is_entered(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "*/\n")
    for path in ("workflows/deep/x.yaml", "loops/r.json", "a/b/x.yaml", "a/c/x.yaml", "d/x.yaml"):
        write(tmp_path, path)
    ignored = ignored_in(str(tmp_path), Roots(str(tmp_path), (Root(f"{tmp_path}/workflows"),)), [f"{tmp_path}/a/b"])
    found = [os.path.relpath(path, tmp_path) for path in candidates(str(tmp_path), ignored=ignored)[0]]
    assert found == ["a/b/x.yaml", "loops/r.json", "workflows/deep/x.yaml"]


def test_a_file_that_is_no_text_ignores_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe\x00\x01out/\n\x00")
    write(tmp_path, "out/x.yaml")
    assert listed(tmp_path) == ["out/x.yaml"]


def test_who_runs_something_finds_it_wherever_it_lies(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "out/\n")
    write(tmp_path, "out/x.yaml", WORKFLOW.format("x"))
    assert set(discover(str(tmp_path)).workspace.keys) == {"out/x"}
    found = discover(str(tmp_path), named=())
    assert (set(found.workspace.keys), found.ignored) == (set(), True)


@pytest.mark.parametrize("place", ["", "sub/"])
@pytest.mark.parametrize("leads", ["/dev/zero", "/dev/tty", "/proc/kmsg", "..", "nowhere", "pipe"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="devices and pipes are a matter of POSIX")
def test_an_ignore_file_that_is_none_is_not_read(tmp_path: Path, place: str, leads: str) -> None:
    """A repository can have a link to a device, which never ends: whoever opened it ran out of memory."""
    (tmp_path / "sub" / "out").mkdir(parents=True)
    os.mkfifo(tmp_path / place / "pipe")
    (tmp_path / place / ".gitignore").symlink_to(leads)
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn((tmp_path / place).as_posix())
    assert not ignored.passes_over(f"{tmp_path.as_posix()}/sub/out")


def test_an_ignore_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("out/\n" + "#" * MAX_BYTES)
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn(tmp_path.as_posix())
    assert not ignored.passes_over(f"{tmp_path.as_posix()}/out")


@pytest.mark.parametrize(
    "line",
    [
        "/".join(["**/a"] * 12) + "/b",
        "*a" * 12 + "b",
        "*a*a*a/" + "**/a/" * 5,
        "[ab]*" * 10,
        "a*/" * 12,
    ],
)
def test_no_ignore_file_keeps_whoever_opens_a_folder_busy(tmp_path: Path, line: str) -> None:
    """Each of these takes hours for such a path."""
    (tmp_path / ".gitignore").write_text(f"{line}\nout/\n")
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn(tmp_path.as_posix())
    assert not ignored.passes_over(f"{tmp_path.as_posix()}/" + "a/" * 60 + "a" * 200)
    assert ignored.passes_over(f"{tmp_path.as_posix()}/x/out")


@pytest.mark.parametrize("lines", ["out/\n!**/a/**/b*/c*\n", "out/\n" * 6000])
def test_an_ignore_file_that_cannot_be_followed_as_a_whole_ignores_nothing(tmp_path: Path, lines: str) -> None:
    (tmp_path / ".gitignore").write_text(lines)
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn(tmp_path.as_posix())
    assert not ignored.passes_over(f"{tmp_path.as_posix()}/out")


@pytest.mark.parametrize("line", ["**/Packages/*", "cmake-build-*/", "**/*.Client/Generated", "**/out/**", "*-*/"])
def test_what_people_write_is_followed(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{line}\n" * 90)
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn(tmp_path.as_posix())
    inside = ("Packages/x", "cmake-build-x", "a/b.Client/Generated", "out/x", "a-b")
    assert any(ignored.passes_over(f"{tmp_path.as_posix()}/{one}") for one in inside)


def test_answers_that_are_slow_are_not_waited_for_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitignore").write_text("out/\n")
    monkeypatch.setattr(module, "SLOW", -1.0)
    ignored = Ignored(tmp_path.as_posix())
    ignored.learn(tmp_path.as_posix())
    found = [ignored.passes_over(f"{tmp_path.as_posix()}/out") for _ in range(20)]
    assert found == [True] * 11 + [False] * 9
