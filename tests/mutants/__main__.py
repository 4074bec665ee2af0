"""Seeded, sampled and time-boxed: puts mutants one by one into a fork of a warm process and runs the tests that belong.

    python -m tests.mutants --seed commit --minutes 5
    python -m tests.mutants rules --seed 7 --count 100 --minutes 10
    python -m tests.mutants engine/bodies server --seed 3 --count 40 --minutes 20
    python -m tests.mutants --numbered --seed 7 --count 60 --minutes 30

A mutant is tried with the tests that run its function, the quickest first. Programs that a test starts (servers,
engines, command lines) have the mutant in them, too. A mutant that neither a test nor the type checker notices is
printed with its place; what only the type checker refuses is counted by itself.
`--numbered` asks whether the tests of the numbered behaviours alone notice it, and passes over what none of them runs.
Exit status 1 where more mutants lived than the recorded share of their part (`record.json`) and chance explain;
`--record` lowers that share where this run bettered it. Needs `os.fork`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.mutants.belonging import BEHAVIOURS, PACKAGE, ROOT, is_numbered
from tests.mutants.forks import Forks, TimeIsUp
from tests.mutants.record import RECORD, is_worse, lowered, recorded
from tests.mutants.sites import Mutant, mutants_in
from tests.mutants.type_checks import refused

#: What is drawn from where no part is named.
PARTS = ("engine", "rules", "features", "server")
_LIVED = ("lived", "untested")
#: Seconds beyond the time that is given, until one mutant was tried: its tests are measured first.
FIRST = 900.0
Outcomes = list[tuple[Mutant, str]]


def main(words: Sequence[str] | None = None) -> int:
    record = recorded()
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", help="folders of loop_ls, such as rules or engine/bodies")
    parser.add_argument("--seed", type=_seed, default=1, help="a number, or `commit`: from the name of the last one")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", default="", help="mutants of functions whose place contains this")
    parser.add_argument("--numbered", action="store_true", help="by the tests of numbered behaviours alone")
    parser.add_argument("--record", action="store_true", help="lower the recorded share where fewer lived")
    args = parser.parse_args(words)
    end = time.monotonic() + args.minutes * 60
    parts = args.part or (BEHAVIOURS if args.numbered else PARTS)
    paths = sorted({path for part in parts for path in (PACKAGE / part).rglob("*.py")})
    found = [mutant for path in paths for mutant in mutants_in(path) if args.only in _place(mutant)]
    # Some of those that are drawn lie outside of the numbered behaviours.
    chosen = random.Random(args.seed).sample(found, min(args.count * (4 if args.numbered else 1), len(found)))
    outcomes: Outcomes = []
    counts = is_numbered if args.numbered else lambda test: True
    forks = Forks(chosen, lambda forks: _try(chosen, forks, outcomes, args), end, counts)
    if forks.run():
        print("the tests cannot be collected", file=sys.stderr)
        return 2
    for test in sorted(forks.failing):
        print(f"left out, fails without any mutant: {test}")
    outcomes = _typed(outcomes)
    for mutant, outcome in outcomes:
        if outcome in _LIVED:
            print(f"{outcome}: {_place(mutant)}: {mutant.what}")
    print(f"{' '.join(parts)}, seed {args.seed}: {len(outcomes)} of {len(found)} mutants tried")
    if not outcomes:
        print("no mutant was tried in this time", file=sys.stderr)
        return 2
    return _told(outcomes, record, args)


def _seed(text: str) -> int:
    if text != "commit":
        return int(text)
    name = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return int(name[:8], 16)


def _try(chosen: Sequence[Mutant], forks: Forks, outcomes: Outcomes, args: argparse.Namespace) -> None:
    end = forks.end
    forks.end += FIRST
    for mutant in chosen:
        if len(outcomes) == args.count:
            return
        if outcomes:
            forks.end = end
        try:
            outcome = forks.outcome(mutant)
        except TimeIsUp:
            return
        if args.numbered and outcome == "untested":
            continue
        outcomes.append((mutant, outcome))
        if outcome in _LIVED:
            print(f"no test notices {_place(mutant)}: {mutant.what}", file=sys.stderr, flush=True)


def _typed(outcomes: Outcomes) -> Outcomes:
    """The outcomes where the type checker has seen what no test noticed."""
    seen = refused([mutant for mutant, outcome in outcomes if outcome in _LIVED])
    return [(mutant, "refused" if mutant in seen else outcome) for mutant, outcome in outcomes]


def _told(outcomes: Outcomes, record: dict[str, float], args: argparse.Namespace) -> int:
    part_of = _behaviours if args.numbered else _room
    tried = Counter(part_of(mutant) for mutant, outcome in outcomes if outcome != "unplaced")
    lived = Counter(part_of(mutant) for mutant, outcome in outcomes if outcome in _LIVED)
    late = Counter(part_of(mutant) for mutant, outcome in outcomes if outcome == "late")
    typed = Counter(part_of(mutant) for mutant, outcome in outcomes if outcome == "refused")
    worse = [part for part in record if is_worse(lived[part], tried[part], record[part])]
    for part in sorted(tried):
        share, allowed = 100 * lived[part] / tried[part], f"{record[part]} %" if part in record else "nothing"
        verdict = ": too many" if part in worse else ""
        print(
            f"{part}: {lived[part]} of {tried[part]} lived, {100 - share:.1f} % died ({late[part]} by the limit,"
            f" {typed[part]} by the type checker); {share:.1f} % live, recorded is {allowed}{verdict}"
        )
    if args.record:
        RECORD.write_text(json.dumps(lowered(record, lived, tried), indent=2) + "\n", "utf-8")
    return 1 if worse else 0


def _behaviours(mutant: Mutant) -> str:
    return "behaviours"


def _room(mutant: Mutant) -> str:
    return mutant.path.relative_to(PACKAGE).parts[0]


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(PACKAGE)}:{mutant.line} {mutant.function}"


if __name__ == "__main__":
    sys.exit(main())
