"""Files are put into the user's folder, all of them or none, whenever the process is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.engine.journal import JournalRefused
from loop_ls.engine.runs.isolation.put_in_place import ENDING, Moved, PutInPlace, interrupted
from tests.engine.isolation.kinds import picture
from tests.engine.isolation.project import Isolated

#: Changed, deleted with its folder, made in new folders, turned to a link, and made executable.
PATHS = ["changed.txt", "gone/only.txt", "new/deep/made.txt", "link", "run.sh"]
#: Kills itself before the `n`th time that a file is replaced or goes.
PUT = """
import os, signal, sys
from pathlib import Path
from loop_ls.engine.runs.isolation.put_in_place import PutInPlace
number = int(sys.argv[3])
def hear(event, arguments):
    global number
    top = sys.argv[1] + os.sep
    if event in ("os.rename", "os.remove") and str(arguments[0]).startswith(top):
        number -= 1
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
placing = PutInPlace(Path(sys.argv[2]))
placing.keep(Path(sys.argv[1]), sys.argv[4:])
sys.addaudithook(hear)
placing.put(Path(sys.argv[1]), sys.argv[4:])
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "user"
    (top / "gone").mkdir(parents=True)
    for name in ("changed.txt", "gone/only.txt", "link", "run.sh", "mine.txt"):
        (top / name).write_text(f"{name}\n")
    (top / "changed.txt").chmod(0o600)
    return top


@pytest.fixture
def placing(tmp_path: Path) -> PutInPlace:
    placing = PutInPlace(tmp_path / "data" / "worktrees" / f"ab12{ENDING}")
    placing.prepare()
    (placing.new / "new" / "deep").mkdir(parents=True)
    for name in ("changed.txt", "new/deep/made.txt", "run.sh"):
        (placing.new / name).write_text(f"{name} is new\n")
    (placing.new / "run.sh").chmod(0o755)
    (placing.new / "link").symlink_to("mine.txt")
    return placing


def killed_at(number: int, top: Path, placing: PutInPlace) -> int:
    words = [sys.executable, "-c", PUT, str(top), str(placing.folder), str(number), *PATHS]
    return subprocess.run(words, timeout=60, check=False).returncode


def test_it_is_put_back_whenever_it_is_killed_and_put_in_place_if_not(top: Path, placing: PutInPlace) -> None:
    before, number = picture(top), 1
    while (status := killed_at(number, top, placing)) != 0:
        assert status == -signal.SIGKILL
        number += 1
        saved = placing.folder.parents[2] / "saved"
        shutil.copytree(placing.folder, saved, symlinks=True)
        [(run_id, left)] = interrupted(placing.folder.parents[1])
        assert run_id == "ab12"
        assert left.put_back() == (True, [], {})
        assert picture(top) == before
        assert not placing.folder.exists()
        (saved / "begun.json").unlink()
        saved.rename(placing.folder)
    assert number > len(PATHS)
    assert (top / "changed.txt").read_text() == "changed.txt is new\n"
    assert (top / "changed.txt").stat().st_mode & 0o777 == 0o600
    assert os.access(top / "run.sh", os.X_OK)
    assert (top / "link").readlink() == Path("mine.txt")
    assert not (top / "gone").exists()
    placing.forget()
    assert placing.put_back() == (False, [], {})
    assert (top / "new" / "deep" / "made.txt").exists()


@pytest.mark.parametrize(
    "begun",
    [
        *("{", "null", "[]", "{}", "1", '"x"', '{"top": 1, "paths": [], "made": []}'),
        *('{"top": "/", "paths": [1], "made": []}', '{"top": "/tmp", "paths": ["a", "b/../../x"], "made": []}'),
        *('{"top": "/tmp", "paths": ["/etc/passwd"], "made": []}', '{"top": "/", "paths": [], "made": ["../x"]}'),
        '{"top": "/tmp", "paths": [".git/hooks/post-checkout"], "made": []}',
    ],
)
def test_what_was_there_is_kept_where_nobody_can_read_what_had_begun(
    top: Path, placing: PutInPlace, begun: str
) -> None:
    placing.keep(top, PATHS)
    placing.put(top, PATHS)
    (placing.folder / "begun.json").write_text(begun)
    back = placing.put_back()
    assert (back.begun, [*back.failed]) == (True, [str(placing.folder / "begun.json")])
    assert (placing.folder / "old" / "0").read_text() == "changed.txt\n"


def test_what_somebody_has_changed_since_stays_and_is_named(top: Path, placing: PutInPlace) -> None:
    before = picture(top)
    placing.keep(top, PATHS)
    placing.put(top, PATHS)
    (top / "run.sh").write_text("by hand\n")
    assert placing.put_back() == (True, ["run.sh"], {})
    assert (top / "run.sh").read_text() == "by hand\n"
    after = picture(top)
    assert {name: what for name, what in after.items() if name != "run.sh"} == {
        name: what for name, what in before.items() if name != "run.sh"
    }


def test_what_cannot_be_put_back_is_named_and_kept(top: Path, placing: PutInPlace) -> None:
    before = picture(top)
    placing.keep(top, PATHS)
    placing.put(top, PATHS)
    (top / "gone").write_text("a file where the folder was\n")
    assert [*placing.put_back().failed] == ["gone/only.txt"]
    (top / "gone").unlink()
    assert placing.put_back() == (True, [], {})
    assert picture(top) == before


def test_nothing_is_written_where_a_folder_has_become_a_link(top: Path, placing: PutInPlace, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    placing.keep(top, PATHS)
    (top / "new").symlink_to(elsewhere)
    with pytest.raises(Moved) as moved:
        placing.put(top, PATHS)
    assert moved.value.path == "new/deep/made.txt"
    assert placing.put_back() == (True, ["new/deep/made.txt"], {})
    assert [*elsewhere.rglob("*")] == [elsewhere / "deep"]


def test_nothing_is_taken_away_where_a_folder_has_become_a_link(top: Path, placing: PutInPlace, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    placing.keep(top, PATHS)
    (top / "gone").rename(tmp_path / "away")
    (top / "gone").symlink_to(elsewhere)
    (elsewhere / "only.txt").write_text("gone/only.txt\n")
    with pytest.raises(Moved):
        placing.put(top, PATHS)
    placing.put_back()
    assert (elsewhere / "only.txt").read_text() == "gone/only.txt\n"


def test_what_was_put_is_not_put_back_through_a_link(top: Path, placing: PutInPlace, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    placing.keep(top, PATHS)
    placing.put(top, PATHS)
    (top / "new").rename(elsewhere)
    (top / "new").symlink_to(elsewhere)
    assert placing.put_back() == (True, ["new/deep/made.txt"], {})
    assert (elsewhere / "deep" / "made.txt").exists()


def test_a_file_that_the_user_makes_in_the_last_moment_stays(top: Path, placing: PutInPlace) -> None:
    (top / "new" / "deep").mkdir(parents=True)
    (top / "new" / "deep" / "made.txt").write_text("by hand\n")
    placing.keep(top, PATHS, {"new/deep/made.txt"})
    with pytest.raises(Moved) as moved:
        placing.put(top, PATHS)
    assert moved.value.path == "new/deep/made.txt"
    placing.put_back()
    assert (top / "new" / "deep" / "made.txt").read_text() == "by hand\n"


# -- in the engine ----------------------------------------------------------------------------------


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Isolated]:
    project = Isolated(tmp_path)
    project.prepare()
    yield project
    await project.close()


def half_applied(project: Isolated, run_id: str) -> PutInPlace:
    placing = PutInPlace(project.data / "worktrees" / f"{run_id}{ENDING}")
    placing.prepare()
    (placing.new / "a.py").write_text("new\n")
    placing.keep(project.root, ["a.py", "done"])
    placing.put(project.root, ["a.py", "done"])
    return placing


async def test_the_next_engine_puts_it_back_and_says_so(project: Isolated) -> None:
    run_id = (await project.run()).end["runId"]
    before = project.users()
    await project.close()
    half_applied(project, run_id)
    assert (project.root / "a.py").read_text() == "new\n"
    await project.open()
    assert project.users() == before
    warned = (await project.facts(run_id)).of("warning")[-1]
    assert (warned["code"], warned["message"]) == (
        "apply_interrupted",
        "The engine was stopped while it applied the changes. Your files are unchanged.",
    )
    assert (await project.decide(run_id, "apply"))["ok"]
    assert (project.root / "done").exists()


async def test_what_was_applied_and_recorded_stays(project: Isolated) -> None:
    run_id = (await project.run()).end["runId"]
    await project.decide(run_id, "apply")
    await project.close()
    (project.root / "a.py").write_text("old\n")
    placing = half_applied(project, run_id)
    await project.open()
    assert (project.root / "a.py").read_text() == "new\n"
    assert not placing.folder.exists()


async def test_it_is_put_back_for_a_run_that_nobody_knows_any_more(project: Isolated) -> None:
    await project.open()
    before = project.users()
    await project.close()
    half_applied(project, "abc123")
    await project.open()
    assert project.users() == before


async def test_what_cannot_be_recorded_is_not_applied(project: Isolated, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = (await project.run()).end["runId"]
    before = project.users()
    assert project.engine is not None

    async def full(*_: object) -> None:
        raise JournalRefused("full", "The disk is full.")

    monkeypatch.setattr(project.engine, "_add_to_ended", full)
    assert "The disk is full." in (await project.decide(run_id, "apply"))["message"]
    assert project.users() == before
