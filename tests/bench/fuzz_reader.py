"""Feeds the YAML reader with broken and odd texts, far more than a test run could.

    python tests/bench/fuzz_reader.py [--inputs 50000] [--seed 1] [FOLDER ...]

For every text: no exception, no reading longer than a second, the cut document equals the whole
one where libyaml takes it, and a chain of edits ends in the tree that reading afresh gives.
Files of the folders (default: the examples of the tests) are mutated as well.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from loop_ls.syntax.incremental import single_line_edit
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span
from tests.syntax.flat import flat_content, flat_tree, flat_whole
from tests.syntax.odd_lines import document, insertion, linked_document, mutated

LEAST = single_line_edit.LEAST


def edited(tree: Tree, rng: random.Random) -> Tree:
    last = len(tree.text.lines) - 1
    first = rng.randint(0, last)
    start = Position(first, rng.randint(0, len(tree.text.line(first))))
    end = start
    if rng.random() < 0.4:
        down = min(last, first + rng.randrange(3))
        end = max(start, Position(down, rng.randint(0, len(tree.text.line(down)))))
    return tree.edit(Span(start, end), insertion(rng))


def check(text: str, rng: random.Random, edits: int) -> str | None:
    """What is wrong with the reading of a text."""
    begun = time.thread_time()
    tree = read_yaml(Text.of(text))
    if time.thread_time() - begun > 1:
        return "takes longer than a second"
    whole = flat_whole(text)
    if whole is not None and whole != flat_content(tree):
        return f"cut and whole differ\n  whole {whole}\n  cut   {flat_content(tree)}"
    steps = [text]
    for _ in range(edits):
        tree = edited(tree, rng)
        steps.append(str(tree.text))
        if steps[-1].startswith("\ufeff"):
            break  # a mark that was typed is no byte order mark
        if flat_tree(tree) != flat_tree(read_yaml(Text.of(steps[-1]))):
            afresh = flat_tree(read_yaml(Text.of(steps[-1])))
            differ = f"edits and reading afresh differ: {steps[-2]!r} -> {steps[-1]!r}"
            return f"{differ}\n  edits  {flat_tree(tree)}\n  afresh {afresh}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--inputs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stop", type=int, default=5, help="give up after so many failures")
    args = parser.parse_args()
    files = [path.read_text("utf-8", "replace") for folder in args.folders for path in sorted(folder.rglob("*.y*ml"))]
    failures = 0
    for number in range(args.inputs):
        rng = random.Random(args.seed * 1_000_003 + number)
        single_line_edit.LEAST = 1 if number % 4 == 1 else LEAST
        if files and number % 20 == 0:
            text = mutated(rng.choice(files), rng, rng.randrange(1, 4))
        elif number % 5 == 2:
            text = linked_document(rng, rng.randrange(1, 6))
        else:
            text = document(rng)
        try:
            fault = check(text, rng, edits=3 if number % 2 else 0)
        except Exception as error:
            traceback.print_exc(limit=-3)
            fault = f"raises {type(error).__name__}: {error}"
        if fault:
            failures += 1
            print(f"input {number}: {text!r}\n  {fault}", flush=True)
            if failures >= args.stop:
                break
    print(f"{number + 1} inputs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
