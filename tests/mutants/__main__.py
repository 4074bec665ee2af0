"""Seeded, sampled and time-boxed: puts mutants one by one into a fork of a warm process and runs the tests that belong.

    python -m tests.mutants rules --seed 7 --count 100 --minutes 10
    python -m tests.mutants engine/bodies --seed 3 --count 40 --minutes 20

A mutant that no test notices is printed with its place; the share of those that died comes last. Exit status 1 below
`--least` percent. Needs `os.fork`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutants.patching import put_in, warm
from tests.mutants.sites import Mutant, mutants_in

PACKAGE = Path(__file__).parents[2] / "loop_ls"

#: The tests that belong to a part of the product; the longest beginning counts.
TESTS = {
    "rules": ("tests/rules",),
    "index": ("tests/index", "tests/rules"),
    "formats": ("tests/formats", "tests/rules"),
    "syntax": ("tests/syntax", "tests/index"),
    "features": ("tests/features",),
    "engine/bodies": ("tests/engine/workflow",),
    "engine/judges": ("tests/engine/workflow",),
    "engine": ("tests/engine",),
}
#: Seconds for one mutant: a condition that is turned may never end.
LIMIT = 120


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("part", help="a folder of loop_ls, such as rules or engine/bodies")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--only", default="", help="mutants of functions whose place contains this")
    args = parser.parse_args(words)
    paths = sorted((PACKAGE / args.part).rglob("*.py"))
    found = [mutant for path in paths for mutant in mutants_in(path) if args.only in _place(mutant)]
    chosen = random.Random(args.seed).sample(found, min(args.count, len(found)))
    tests = TESTS[max((name for name in TESTS if args.part.startswith(name)), key=len)]
    warm(paths, PACKAGE)
    if _outcome(None, tests) != "lived":
        print("the tests fail without any mutant", file=sys.stderr)
        return 2
    began, outcomes, lived = time.monotonic(), list[str](), list[Mutant]()
    for mutant in chosen:
        if time.monotonic() - began > args.minutes * 60:
            break
        outcomes.append(_outcome(mutant, tests))
        if outcomes[-1] == "lived":
            lived.append(mutant)
            print(f"lives: {_place(mutant)}: {mutant.what}", flush=True)
    return _told(args, len(found), outcomes, lived)


def _told(args: argparse.Namespace, of: int, outcomes: list[str], lived: list[Mutant]) -> int:
    tried = [one for one in outcomes if one != "unplaced"]
    share = 100 * (len(tried) - len(lived)) / max(1, len(tried))
    print(
        f"{args.part}, seed {args.seed}: {len(tried)} of {of} mutants tried, {len(lived)} lived, {share:.1f} % died"
        f" ({outcomes.count('late')} by the limit, {outcomes.count('unplaced')} could not be put in)"
    )
    return 0 if share >= args.least else 1


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(PACKAGE)}:{mutant.line} {mutant.function}"


def _outcome(mutant: Mutant | None, tests: Sequence[str]) -> str:
    """`died`, `lived`, `late` or `unplaced`: in a process of its own, which ends with its result."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _child(mutant, tests)
    deadline = time.monotonic() + LIMIT
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return {0: "lived", 77: "unplaced"}.get(os.waitstatus_to_exitcode(status), "died")
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "late"
        time.sleep(0.02)


def _child(mutant: Mutant | None, tests: Sequence[str]) -> None:
    gc.disable()
    status = 70
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            if mutant is not None:
                put_in(mutant, PACKAGE)
            status = int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]))
        except LookupError:
            status = 77
        finally:
            os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
