"""On the path of every program that a test starts: one module of the product is imported with a mutant in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.mutants.sites import Mutant

HERE = Path(__file__).resolve()
_NAME = "LOOP_LS_TEST_MUTANT"


def environment(mutant: Mutant) -> dict[str, str]:
    """The variables that put this mutant into programs."""
    path = os.pathsep.join((str(HERE.parent), str(HERE.parents[3]), os.environ.get("PYTHONPATH", "")))
    return {_NAME: f"{mutant.number}:{mutant.path}", "PYTHONPATH": path}


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        from tests.mutants.sites import Mutant, mutated

        number, _, path = os.environ[_NAME].partition(":")
        return compile(mutated(Mutant(Path(path), "", 0, "", int(number))), path, "exec")


class _Mutated(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("loop_ls."):
            return None
        found = PathFinder.find_spec(name, path)
        if found is not None and found.origin == os.environ[_NAME].partition(":")[2]:
            found.loader = _Loader(name, found.origin)
            return found
        return None


if _NAME in os.environ:
    sys.meta_path.insert(0, _Mutated())
