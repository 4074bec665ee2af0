"""Which test files belong to a module of the product: its mirror, its neighbours, and whoever imports it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "loop_ls"

#: The tests that belong to a part of the product beside the folder of the same name; the longest beginning counts.
TESTS = {
    "rules": ("tests/rules",),
    "index": ("tests/index", "tests/rules"),
    "formats": ("tests/formats", "tests/rules"),
    "syntax": ("tests/syntax", "tests/index"),
    "features": ("tests/features",),
    "engine/bodies": ("tests/engine/workflow", "tests/engine/control/test_pain_of_stopping.py"),
    "engine/judges": ("tests/engine/workflow",),
    "engine/context": ("tests/engine/workflow",),
    "engine/core": ("tests/engine/workflow", "tests/engine/runs", "tests/engine/api"),
    "engine/model_calls": ("tests/engine/workflow", "tests/engine/tools"),
    "engine/runs": ("tests/engine/control", "tests/engine/test_service.py"),
    "engine/journal": ("tests/engine/runs", "tests/engine/damage"),
    "engine/durable": ("tests/engine/recovery", "tests/engine/cluster", "tests/engine/crash/test_crash.py"),
    "engine/recovery": ("tests/engine/crash/test_crash.py", "tests/engine/cluster/test_sharing.py"),
    "engine/retention": ("tests/engine/control/test_keeping.py",),
    "engine/transfer": ("tests/engine/control/test_export_and_import.py",),
    "engine/projections": ("tests/engine/control", "tests/engine/runs"),
    "engine/service.py": ("tests/engine/test_service.py", "tests/engine/control"),
    "engine": ("tests/engine/test_service.py",),
    "server": ("tests/server/rpc", "tests/server/runs/test_commands.py"),
}

#: The parts of the engine whose behaviours are numbered: what `--numbered` draws from where no part is named.
BEHAVIOURS = (
    *("engine/assistants", "engine/bodies", "engine/context", "engine/core", "engine/enhance"),
    *("engine/judges", "engine/model_calls", "engine/roles"),
)
_NUMBERED = re.compile(r"test_(?:[A-Z]+_?\d+_)+")


def is_numbered(test: str) -> bool:
    """Whether the test shows a numbered behaviour."""
    return _NUMBERED.match(test.partition("[")[0].rpartition("::")[2]) is not None


def tests_of(path: Path) -> list[Path]:
    """The files of the folder of tests that mirrors the module's, the nearest one that is there, what else belongs to
    that part, and every test that imports the module itself."""
    inside = path.relative_to(PACKAGE)
    name = inside.as_posix()
    own = next(folder for folder in inside.parents if (ROOT / "tests" / folder).is_dir()).as_posix()
    found = [] if own in ("engine", "server") else [ROOT / "tests" / own]  # that would be all of them
    part = max((part for part in TESTS if name.startswith(part)), key=len, default="")
    found += [ROOT / one for one in TESTS.get(part, ())]
    files = {file for one in found for file in ([one] if one.is_file() else one.rglob("test_*.py"))}
    return sorted(files | set(_importing(".".join(("loop_ls", *inside.with_suffix("").parts)))))


def _importing(module: str) -> list[Path]:
    wanted = re.compile(rf"^(?:from|import) {re.escape(module)} ", re.MULTILINE)
    return [path for path, text in _test_files() if wanted.search(text)]


@cache
def _test_files() -> list[tuple[Path, str]]:
    return [(path, path.read_text("utf-8")) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
