"""Mutants that the type checker refuses: like one that does not compile, such a fault never gets as far as a test.

Most of them leave out an `is None`, behind which a value is used.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.belonging import ROOT
from tests.mutants.sites import Mutant, mutated

_ERROR = re.compile(r"(?P<file>[^:]+)\.py:\d+: error: (?P<words>.+)")


def refused(mutants: Sequence[Mutant]) -> set[Mutant]:
    """Those about which mypy says more, under the settings of the product, than about their file without a fault."""
    paths = sorted({mutant.path for mutant in mutants})
    with TemporaryDirectory() as folder:
        for number, path in enumerate(paths):
            _write(folder, f"whole_{number}", ast.parse(path.read_text("utf-8")))
        for number, mutant in enumerate(mutants):
            _write(folder, f"mutant_{number}", mutated(mutant))
        told = _errors(folder)
    whole = {path: told.get(f"whole_{number}", Counter()) for number, path in enumerate(paths)}
    return {one for number, one in enumerate(mutants) if told.get(f"mutant_{number}", Counter()) - whole[one.path]}


def _write(folder: str, name: str, tree: ast.Module) -> None:
    Path(folder, f"{name}.py").write_text(ast.unparse(tree), "utf-8")


def _errors(folder: str) -> dict[str, Counter[str]]:
    """The messages of mypy by module."""
    files = sorted(path.name for path in Path(folder).iterdir())
    if not files:
        return {}
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary"]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), *files]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Counter[str]] = {}
    for match in map(_ERROR.match, done.stdout.splitlines()):
        if match is not None:
            found.setdefault(match["file"], Counter())[match["words"]] += 1
    return found
