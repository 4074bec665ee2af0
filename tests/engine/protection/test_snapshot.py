"""What is compared of a workspace, within which bounds, and how it is put back: links, pipes, folders in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from loop_ls.engine.protection import snapshot as module
from loop_ls.engine.protection.kept import Kept
from loop_ls.engine.protection.patterns import Protected, named_by
from loop_ls.engine.protection.snapshot import Scanner


class Folder:
    """A workspace with a store beside it."""

    def __init__(self, folder: Path, protected: Protected | None = None) -> None:
        self.root, self.data = folder / "w", folder / "data"
        self.root.mkdir()
        self.kept = Kept(self.data, "run")
        self.scanner = Scanner(self.root, protected or Protected(), self.kept.keep, (self.data,))

    def write(self, path: str, text: str = "x") -> Path:
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)
        return there

    def put_back(self, was: module.Snapshot) -> dict[str, str]:
        return dict(self.kept.put_back(self.root, was, was.changes(self.scanner.take())))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("package.json", True),
        ("packages/a/Package.JSON", True),
        ("poetry.lock", True),
        ("requirements-dev.txt", True),
        (".github/workflows/ci.yml", True),
        ("sub/.claude/settings.json", True),
        ("a.checks.yaml", True),
        (".git/hooks/pre-commit", True),
        (".git/config", True),
        (".git/objects/ab/cd", False),
        (".pytest_cache/README.md", False),
        (".yarn/cache/a.zip", False),
        (".yarn/releases/yarn.cjs", True),
        (".venv/pyproject.toml", True),  # by its name; nobody looks into that folder
        ("src/a.py", False),
        ("README.md", False),
        (".gitignore", False),
        (".opencode/.gitignore", False),  # opencode writes it when it starts
        (".opencode/plugin/own.js", True),
        (".git", True),  # of a work tree: a file that says where its hooks are
        ("vendor/.git", False),
        (".git/commondir", True),
        (".git/config.worktree", True),
        (".gitconfig", True),
        ("pytest.toml", True),
        ("web/jest.config.mjs", True),
        (".rspec", True),
        ("Rakefile", True),
        ("roles/reviewer.md", True),
        ("sub/Roles/Reviewer.MD", True),
        ("roles/web/tasks.md", False),
        ("src/config.py", False),
    ],
)
def test_names_say_what_is_protected(path: str, expected: bool) -> None:
    assert Protected().covers(path) is expected


@pytest.mark.parametrize(
    ("words", "there", "expected"),
    [
        (("python", "-m", "pytest", "-q"), "", ["pytest.py", "pytest"]),
        (("/usr/bin/python3.12", "-B", "-m", "unittest.main"), "", ["unittest.py", "unittest"]),
        (("python", "-m", "own"), "own/__main__.py", ["own"]),
        (("python", "-m", "own.tests"), "own.py", []),
        (("tool", "-m", "pytest"), "", []),
        (("python", "-m"), "", []),
        (("python", "-c", "1", "-m", "../x"), "", []),
    ],
)
def test_a_module_that_would_come_before_the_one_of_a_check_is_looked_at(
    tmp_path: Path, words: tuple[str, ...], there: str, expected: list[str]
) -> None:
    if there:
        (tmp_path / there).parent.mkdir(exist_ok=True)
        (tmp_path / there).touch()
    assert list(named_by(words, str(tmp_path), str(tmp_path))) == expected


def test_only_protected_files_are_looked_at(folder: Folder) -> None:
    for path in ("package.json", "src/a.py", ".venv/pyproject.toml", "node_modules/b/package.json", "sub/AGENTS.md"):
        folder.write(path)
    folder.write("py/pyvenv.cfg")
    folder.write("py/lib/setup.py")
    assert list(folder.scanner.take().entries) == ["package.json", "sub/AGENTS.md"]


def test_links_and_pipes_are_what_they_are_and_nobody_follows_or_reads_them(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "package.json").write_text("secret")
    (folder.root / "package.json").symlink_to(outside / "package.json")
    (folder.root / "linked").symlink_to(outside)
    os.mkfifo(folder.root / "CLAUDE.md")
    entries = folder.scanner.take().entries
    assert set(entries) == {"package.json", "CLAUDE.md"}
    assert entries["package.json"] == f"l:{outside / 'package.json'}"
    assert not (folder.data / "protected").exists()


def test_a_file_that_did_not_change_is_not_read_again(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    there = folder.write("package.json")
    monkeypatch.setattr(module, "_COARSE", -time.time_ns())
    first = folder.scanner.take()
    reads: list[Path] = []
    real = module._content
    monkeypatch.setattr(module, "_content", lambda path: reads.append(path) or real(path))
    assert folder.scanner.take() == first and reads == []
    there.write_text("y")
    assert folder.scanner.take() != first and reads == [there]


def test_there_are_bounds_and_they_are_told(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        folder.write(f"d{number}/package.json")
    assert folder.scanner.take().partial is False
    monkeypatch.setattr(module, "MOST_FILES", 3)
    assert folder.scanner.take().partial is True
    monkeypatch.setattr(module, "MOST_FILES", 9)
    monkeypatch.setattr(module, "MOST_ENTRIES", 4)
    assert folder.scanner.take().partial is True


def test_a_large_file_is_compared_by_its_size_and_times_and_is_not_put_back(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 3)
    there = folder.write("package.json", "long")
    was = folder.scanner.take()
    assert was.entries["package.json"].startswith("s:4:")
    there.write_text("longer")
    assert "too large" in folder.put_back(was)["package.json"]
    assert there.read_text() == "longer"


def test_what_a_run_names_exactly_is_looked_at_wherever_it_lies(tmp_path: Path) -> None:
    folder = Folder(tmp_path, Protected(exact=("tests", "build/check.sh")))
    folder.write("tests/deep/test_a.py")
    folder.write("build/check.sh")
    assert list(folder.scanner.take().entries) == ["build/check.sh", "tests/deep/test_a.py"]


def test_words_of_a_command_name_files_of_the_workspace(folder: Folder) -> None:
    folder.write("tests/test_a.py")
    folder.write("my.toml")
    words = ("pytest", "tests/test_a.py::test_b", "--config=my.toml", "-q", ".", "../out", "/etc/hosts", "not-there")
    root = str(folder.root)
    assert list(named_by(words, root, root)) == ["tests/test_a.py", "my.toml"]
    assert list(named_by(("test_a.py",), f"{root}/tests", root)) == ["tests/test_a.py"]


def test_everything_is_put_back_as_it_was_and_what_was_there_is_kept(folder: Folder, tmp_path: Path) -> None:
    script = folder.write("justfile", "old")
    script.chmod(0o755)
    (folder.root / "AGENTS.md").symlink_to("README.md")
    folder.write(".github/ci.yml", "ci")
    was = folder.scanner.take()
    script.unlink()
    script.mkdir()
    (script / "inner").write_text("mine")
    (folder.root / "AGENTS.md").unlink()
    (folder.root / ".github/ci.yml").unlink()
    (folder.root / ".github").rmdir()
    folder.write("CLAUDE.md", "new")
    assert folder.put_back(was) == {}
    assert folder.scanner.take() == was
    assert script.read_text() == "old"
    taken = folder.data / "protected/run/taken"
    assert (taken / "justfile/inner").read_text() == "mine"
    assert (taken / "CLAUDE.md").read_text() == "new"


def test_nothing_is_written_through_a_folder_that_became_a_link(folder: Folder, tmp_path: Path) -> None:
    folder.write(".github/ci.yml", "ci")
    was = folder.scanner.take()
    outside = tmp_path / "outside"
    (folder.root / ".github").rename(outside)
    (outside / "ci.yml").write_text("theirs")
    (folder.root / ".github").symlink_to(outside)
    assert folder.put_back(was) == {".github/ci.yml": "`.github` is no longer a folder"}
    assert (outside / "ci.yml").read_text() == "theirs"


def test_what_is_kept_and_was_spoiled_is_not_put_back(folder: Folder) -> None:
    folder.write("package.json", "old")
    was = folder.scanner.take()
    name = folder.kept.keep_snapshot(was)
    folder.write("package.json", "new")
    [copy] = [one for one in (folder.data / "protected/run/copies").iterdir() if one.suffix != ".json"]
    copy.write_text("spoiled")
    assert "damaged" in folder.put_back(was)["package.json"]
    assert (folder.root / "package.json").read_text() == "new"
    assert folder.kept.snapshot(name) == was
    (folder.data / f"protected/run/copies/{name}.json").write_text("{}")
    assert folder.kept.snapshot(name) is None
