"""A folder is one concern: where it holds more than a reader takes in at once, it holds two."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.test_imports import ROOT

MOST = 20
MOST_IN_ENGINE = 30
CLIENT = ROOT.parent / "vscode-client" / "src"
#: Folders of tests that hold more: the figures may only fall.
TESTS = {"tests/cli/commands": 25, "tests/engine/roles": 22, "tests/engine/workflow": 27}


def sizes(top: Path, *suffixes: str) -> dict[str, int]:
    """Folder -> its modules, for each folder at or below `top`; the module of the package itself is not counted."""
    counted: dict[str, int] = {}
    for path in top.rglob("*"):
        if path.suffix in suffixes and path.stem != "__init__":
            folder = path.parent.relative_to(ROOT.parent).as_posix()
            counted[folder] = counted.get(folder, 0) + 1
    return counted


def test_no_folder_of_the_product_holds_more_than_twenty_modules() -> None:
    found = sizes(ROOT, ".py") | sizes(CLIENT, ".ts", ".tsx")
    assert len(found) > 50
    assert {folder: number for folder, number in found.items() if number > MOST} == {}


def test_folders_of_tests_that_hold_more_get_smaller() -> None:
    found = sizes(ROOT.parent / "tests", ".py") | sizes(CLIENT.parent / "test", ".ts", ".tsx")
    assert {folder: number for folder, number in found.items() if number > TESTS.get(folder, MOST)} == {}
    assert {folder for folder in TESTS if found.get(folder, 0) < TESTS[folder]} == set(), "lower the figure"


def test_the_engine_has_few_rooms() -> None:
    rooms = [path for path in (ROOT / "engine").iterdir() if path.is_dir() or path.suffix == ".py"]
    rooms = [path for path in rooms if path.name not in ("__init__.py", "__pycache__")]
    assert 10 < len(rooms) <= MOST_IN_ENGINE, sorted(path.name for path in rooms)
