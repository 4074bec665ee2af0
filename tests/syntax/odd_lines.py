"""What odd YAML is made of: parts that cross cuts, break readers and meet in texts that people type."""

from __future__ import annotations

import random

KEYS = (
    *("steps:", "loops:", "roles:", "env:", "name:", '"steps":', "'a b':"),
    *("? k", ": v", "&x key:", "*x :", "<<:", "key"),
)
VALUES = (
    *("", " x", " 'a", ' "b', ' "c"', " 'it''s'", " |", " >-", " |2", " [a, b]", " [a", " {a: 1}", " {", " *x", " &x"),
    *(" {{a}}", " {{a}} b", " a: b", " !t v", " # c", ' "\\u003d\\n"', " @", " - a", " ]", " }", " ~", " &x {a: b}"),
)
LINES = (
    *("- a", "-", "- name: x", "- &x a: b", "- - b", "-name: x", "text", "more text", "# c", "", "---", "..."),
    *("%YAML 1.2", "]", "}", "\t", "\tx: y", "'", '"', "--- a", "--- # c", "- [a,", "- |", "- >", "b: c"),
    *("- <<: *x", "c: *x", "? - a", "|"),
)
SIGNS = (
    *":-#'\"[]{}&*!|>%@,? \t\n",
    *("\r", "\r\n", "\u2028", "\x85", "\ufeff", "é", "😀", "\x00", "\x07", "\ud800", "{{", "}}"),
)


def line(rng: random.Random) -> str:
    indent = " " * rng.choice((0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 6))
    if rng.random() < 0.55:
        return indent + rng.choice(("", "", "- ")) + rng.choice(KEYS) + rng.choice(VALUES)
    return indent + rng.choice(LINES)


def document(rng: random.Random) -> str:
    lines = [line(rng) for _ in range(rng.randrange(1, 9))]
    text = rng.choice(("\n", "\n", "\n", "\r\n")).join(lines)
    return mutated(text, rng, rng.choice((0, 0, 0, 1, 3)))


def mutated(text: str, rng: random.Random, times: int) -> str:
    for _ in range(times):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.3:
            text = text[:at] + text[at + rng.randrange(1, 8) :]
        elif rng.random() < 0.5:
            text = text[:at] + rng.choice(SIGNS) + text[at:]
        else:
            lines = text.split("\n")
            spot = rng.randrange(len(lines))
            lines[spot : spot + rng.randrange(2)] = [line(rng)]
            text = "\n".join(lines)
    return text


def insertion(rng: random.Random) -> str:
    return rng.choice(("", "\n", rng.choice(SIGNS), line(rng) + "\n", "\n" + line(rng), line(rng) + "\n" + line(rng)))
