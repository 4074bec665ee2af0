"""The lines that `--verbose` prints: one for each judgement, in the guide's shape.

Rendered from facts on reading; without `--verbose` nothing of it is printed, and the record has it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.contract.facts.payload import Fact


def verbose_lines(facts: Iterable[Fact]) -> Iterator[str]:
    """The lines for facts of a run, `(kind, body)`, in order."""
    for kind, body in facts:
        if kind == "judged" and body.get("criterion") == "until":
            word = "YES" if body.get("verdict") == "yes" else "NO"
            yield f"[INFO] Condition evaluation: '{body.get('condition', '')}' -> {word}"
        elif kind == "warning":
            yield f"[WARN] {body.get('message', '')}"
