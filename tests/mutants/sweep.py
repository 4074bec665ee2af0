"""A sweep: all mutants of the parts named instead of a draw, to find those that live.

    python -m tests.mutants.sweep rules/workflow/quality_rules.py --each 30
    python -m tests.mutants.sweep rules --jobs 2 --each 5

The tests of the folder that mirrors the part are asked, no others. What each of them reaches is measured first, line by
line, so that a mutant is tried with the few tests that come as far as its line; those go first that noticed others of
the same module. Each mutant gets `--each` seconds of tests: one that
lives is printed as `open` where more tests could still notice it. `--again FILE` tries only what an earlier sweep
printed into that file, for instance with more seconds or with new tests.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.belonging import PACKAGE
from tests.mutants.forks import Forks, adopt_orphans
from tests.mutants.sites import Mutant, mutants_in
from tests.mutants.type_checks import refused

_LIVED = ("lived", "untested", "open")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.sweep", description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="+", help="folders or modules of loop_ls, such as rules or rules/until/words.py")
    parser.add_argument("--each", type=float, default=60, help="seconds of tests for each mutant")
    parser.add_argument("--jobs", type=int, default=1, help="so many mutants at once")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--again", type=Path, help="only the mutants that are told in this file")
    args = parser.parse_args(words)
    paths = dict.fromkeys(path for part in args.part for path in _modules(PACKAGE / part))
    found = [mutant for path in paths for mutant in mutants_in(path)]
    if args.again is not None:
        told = args.again.read_text("utf-8")
        found = [mutant for mutant in found if told_as(mutant) in told]
    outcomes: list[str] = []
    rooms = tuple({f"tests/{path.relative_to(PACKAGE).parts[0]}/" for path in paths})
    end = time.monotonic() + args.minutes * 60
    forks = Forks(found, lambda forks: _sweep(found, forks, args, outcomes), end, lambda test: test.startswith(rooms))
    if forks.run():
        print("the tests cannot be collected", file=sys.stderr)
        return 2
    lived = [mutant for mutant, outcome in zip(found, outcomes, strict=True) if outcome in _LIVED]
    typed = refused(lived)
    print("\nno test notices, nor does the type checker:")
    for mutant in lived:
        if mutant not in typed:
            print(f"{told_as(mutant)}")
    counts = ", ".join(f"{number} {outcome}" for outcome, number in Counter(outcomes).most_common())
    print(f"{counts}; of those that lived the type checker refuses {len(typed)}")
    return 0


def _modules(part: Path) -> list[Path]:
    return [part] if part.is_file() else sorted(part.rglob("*.py"))


def told_as(mutant: Mutant) -> str:
    """By its place and what it changes; a line number would be another one after the next edit above it."""
    return f"{mutant.path.relative_to(PACKAGE)} {mutant.function}: {mutant.what}"


def _sweep(mutants: Sequence[Mutant], forks: Forks, args: argparse.Namespace, outcomes: list[str]) -> None:
    forks.measure_all({str(mutant.path) for mutant in mutants})
    print(f"{len(mutants)} mutants; the tests are measured", file=sys.stderr, flush=True)
    found = dict[int, str]()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(job)) for job in range(args.jobs)]
        children = [_started(mutants[job :: args.jobs], forks, args.each, file) for job, file in enumerate(files)]
        for job, (child, file) in enumerate(zip(children, files, strict=True)):
            os.waitpid(child, 0)
            found |= {job + args.jobs * at: one for at, one in enumerate(file.read_text("utf-8").split())}
    outcomes += [found[at] for at in range(len(mutants))]


def _started(mutants: Sequence[Mutant], forks: Forks, each: float, file: Path) -> int:
    """A process with its own share: whoever judges a mutant ends all that it left behind."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            adopt_orphans()
            file.write_text(" ".join(_tried(mutants, forks, each)), "utf-8")
        finally:
            sys.stdout.flush()
            os._exit(0)
    return child


def _tried(mutants: Sequence[Mutant], forks: Forks, each: float) -> list[str]:
    kills: defaultdict[Path, Counter[str]] = defaultdict(Counter)
    outcomes = []
    for mutant in mutants:
        outcome, noticed = forks.quickest(mutant, kills[mutant.path], each)
        kills[mutant.path].update(() if noticed is None else (noticed,))
        outcomes.append(outcome)
        if outcome in _LIVED:
            print(f"{mutant.line}: {outcome}: {told_as(mutant)}", flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
