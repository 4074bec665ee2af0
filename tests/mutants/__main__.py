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
import random
import sys
import time
from collections.abc import Sequence

from tests.mutants.belonging import PACKAGE
from tests.mutants.forks import Forks
from tests.mutants.sites import Mutant, mutants_in

#: What is drawn from where no part is named.
PARTS = ("engine", "rules", "features", "server")


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
    outcomes = list[tuple[Mutant, str]]()
    end = time.monotonic() + args.minutes * 60

    def work(forks: Forks) -> None:
        for mutant in chosen:
            if time.monotonic() > end:
                break
            outcomes.append((mutant, forks.outcome(mutant)))
            if outcomes[-1][1] in _LIVED:
                print(f"{outcomes[-1][1]}: {_place(mutant)}: {mutant.what}", flush=True)

    forks = Forks(chosen, work)
    if forks.run():
        print("the tests cannot be collected", file=sys.stderr)
        return 2
    return _told(args, len(found), outcomes, forks)


_LIVED = ("lived", "untested")


def _told(args: argparse.Namespace, of: int, outcomes: list[tuple[Mutant, str]], forks: Forks) -> int:
    for test in sorted(forks.failing):
        print(f"left out, fails without any mutant: {test}")
    said = [outcome for _, outcome in outcomes]
    tried = len(said) - said.count("unplaced")
    lived = sum(outcome in _LIVED for outcome in said)
    share = 100 * (tried - lived) / max(1, tried)
    print(
        f"{' '.join(args.part)}, seed {args.seed}: {tried} of {of} mutants tried, {lived} lived,"
        f" {share:.1f} % died ({said.count('late')} by the limit, {said.count('unplaced')} could not be put in)"
    )
    return 0 if share >= args.least else 1


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(PACKAGE)}:{mutant.line} {mutant.function}"


if __name__ == "__main__":
    sys.exit(main())
