"""Seeded, sampled and time-boxed: puts mutants one by one into a fork of a warm process and runs the tests that belong.

    python -m tests.mutants --seed 7 --minutes 5
    python -m tests.mutants rules --seed 7 --count 100 --minutes 10
    python -m tests.mutants engine/bodies server --seed 3 --count 40 --minutes 20

Programs that a test starts (servers, engines, command lines) have the mutant in them, too. A mutant that no test
notices is printed with its place; the share of those that died comes last. Exit status 1 below `--least` percent.
Needs `os.fork`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import re
import signal
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.inside.sitecustomize import environment
from tests.mutants.patching import put_in, warm
from tests.mutants.sites import Mutant, mutants_in

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "loop_ls"
#: What is drawn from where no part is named.
PARTS = ("engine", "rules", "features", "server")

#: The tests that belong to a part of the product beside the folder of the same name; the longest beginning counts.
TESTS = {
    "rules": ("tests/rules",),
    "index": ("tests/index", "tests/rules"),
    "formats": ("tests/formats", "tests/rules"),
    "syntax": ("tests/syntax", "tests/index"),
    "features": ("tests/features",),
    "engine/bodies": ("tests/engine/workflow",),
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
#: Seconds for one mutant at least: a condition that is turned may never end. Else three times what the tests take.
LIMIT = 120.0


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", default=PARTS, help="folders of loop_ls, such as rules or engine/bodies")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--only", default="", help="mutants of functions whose place contains this")
    args = parser.parse_args(words)
    paths = sorted({path for part in args.part for path in (PACKAGE / part).rglob("*.py")})
    found = [mutant for path in paths for mutant in mutants_in(path) if args.only in _place(mutant)]
    chosen = random.Random(args.seed).sample(found, min(args.count, len(found)))
    warm(paths, PACKAGE)
    began, outcomes, lived = time.monotonic(), list[str](), list[Mutant]()
    limits: dict[tuple[str, ...], float] = {}
    for mutant in chosen:
        if time.monotonic() - began > args.minutes * 60:
            break
        tests = tests_of(mutant.path)
        if tests not in limits:
            at = time.monotonic()
            if _outcome(None, tests, 1800) != "lived":
                print(f"fail without any mutant: {' '.join(tests)}", file=sys.stderr)
                return 2
            limits[tests] = max(LIMIT, 3 * (time.monotonic() - at))
        outcomes.append(_outcome(mutant, tests, limits[tests]))
        if outcomes[-1] == "lived":
            lived.append(mutant)
            print(f"lives: {_place(mutant)}: {mutant.what}", flush=True)
    return _told(args, len(found), outcomes, lived)


def _told(args: argparse.Namespace, of: int, outcomes: list[str], lived: list[Mutant]) -> int:
    tried = [one for one in outcomes if one != "unplaced"]
    share = 100 * (len(tried) - len(lived)) / max(1, len(tried))
    print(
        f"{' '.join(args.part)}, seed {args.seed}: {len(tried)} of {of} mutants tried, {len(lived)} lived,"
        f" {share:.1f} % died ({outcomes.count('late')} by the limit, {outcomes.count('unplaced')} could not be put in)"
    )
    return 0 if share >= args.least else 1


def tests_of(path: Path) -> tuple[str, ...]:
    """The folder of tests that mirrors the module's, the nearest one that is there, what else belongs to that part,
    and every test that imports the module itself."""
    inside = path.relative_to(PACKAGE)
    name = inside.as_posix()
    own = next(folder for folder in inside.parents if (ROOT / "tests" / folder).is_dir()).as_posix()
    found = [] if own in ("engine", "server") else [f"tests/{own}"]  # that would be all of them
    found += TESTS[max((part for part in TESTS if name.startswith(part)), key=len)]
    found += _importing(".".join(("loop_ls", *inside.with_suffix("").parts)))
    return tuple(one for one in dict.fromkeys(found) if not any(one.startswith(f"{other}/") for other in found))


def _importing(module: str) -> list[str]:
    wanted = re.compile(rf"^(?:from|import) {re.escape(module)} ", re.MULTILINE)
    return [path.relative_to(ROOT).as_posix() for path, text in _test_files() if wanted.search(text)]


@cache
def _test_files() -> list[tuple[Path, str]]:
    return [(path, path.read_text("utf-8")) for path in sorted((ROOT / "tests").rglob("test_*.py"))]


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(PACKAGE)}:{mutant.line} {mutant.function}"


def _outcome(mutant: Mutant | None, tests: Sequence[str], limit: float) -> str:
    """`died`, `lived`, `late` or `unplaced`: in a process of its own, which ends with its result."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _child(mutant, tests)
    deadline = time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return {0: "lived", 77: "unplaced"}.get(os.waitstatus_to_exitcode(status), "died")
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "late"
        time.sleep(0.02)


def _child(mutant: Mutant | None, tests: Sequence[str]) -> None:
    os.setpgid(0, 0)  # with all that the tests start
    gc.disable()
    status = 70
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            if mutant is not None:
                put_in(mutant, PACKAGE)
                os.environ.update(environment(mutant))
            status = int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]))
        except LookupError:
            status = 77
        finally:
            os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
