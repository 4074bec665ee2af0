"""What odd YAML is made of: parts that cross cuts, break readers and meet in texts that people type."""

from __future__ import annotations

import random
from collections.abc import Sequence

from loop_ls.text.position import Position, Span

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


ANCHORS = ("a", "b", "c")
LINKED_SIGNS = (
    *(
        "&a ",
        "*a",
        "*b",
        "&b",
        "<<: *a",
        "\n",
        "",
        "  ",
        "- ",
        ":",
        "{",
        "}",
        '"',
        " x",
        "---\n",
        "# ",
        "|",
        "&c\n",
        "\t",
    ),
    *("\n  - *c\n", "\n    run: *a\n", "\n    run: &a y\n", "\n  - name: n\n    x: *b", "*c ,", "name"),
)


def _linked_value(rng: random.Random) -> str:
    name, other = rng.choices(ANCHORS, k=2)
    values = ("x", '"q {{a}}"', "{k: 1}", "[1, *a]", "{<<: *b, z: 2}", "0.5", "", "|\n      text *a\n      more")
    marked = f"&{name} {rng.choice(values)}"
    flows = (f"{{<<: *{name}, k: &{other} v}}", f"[*{name}, &{other} 2, *c ]")
    others = ("|\n      say &a *b\n      more", "plain", "* a", "& b", "*a b", "&a &b x")
    return rng.choice((f"*{name}", f"*{name}", marked, marked, marked, *flows, rng.choice(others)))


def linked_item(rng: random.Random) -> list[str]:
    """Lines of a list item that is full of anchors, aliases and merge keys."""
    if rng.random() < 0.1:
        return [f"  - *{rng.choice(ANCHORS)}"]
    first = ["  - name: d"] if rng.random() < 0.7 else [f"  - &{rng.choice(ANCHORS)}", "    name: d"]
    keys = rng.sample(("run", "needs", "temperature", "<<", "with", "if", "*a ", "? &c k"), rng.randint(1, 4))
    return [*first, *(f"    {key}: {_linked_value(rng)}" for key in keys)]


def linked_document(rng: random.Random, items: int) -> str:
    """A document whose parts mean each other by anchors, aliases and merge keys, in whatever order."""
    lines = [f"name: {_linked_value(rng)}", "env:", f"  A: {_linked_value(rng)}", "steps:"]
    for _ in range(items):
        lines += linked_item(rng)
        if rng.random() < 0.05:
            lines.append(rng.choice(("loops:", "x: &a {q: *b}", "---", "...", "steps: &b", "steps:")))
    return "\n".join(lines)


def linked_edit(lines: Sequence[str], rng: random.Random) -> tuple[Span, str]:
    """An edit of such a document, most often where an anchor, an alias or a key stands."""
    first = rng.randrange(len(lines))
    line = lines[first]
    signs = [column for column, sign in enumerate(line) if sign in "&*<:-"]
    start = Position(first, rng.choice(signs) if signs and rng.random() < 0.5 else rng.randint(0, len(line)))
    end, kind = start, rng.random()
    if kind < 0.3:
        end = Position(first, min(len(line), start.column + rng.choice((1, 1, 2, 3))))
    elif kind < 0.45:
        start, end = Position(first, 0), Position(min(len(lines) - 1, first + rng.randint(1, 6)), 0)
    new = rng.choice(LINKED_SIGNS) if rng.random() < 0.7 else "\n".join(linked_item(rng)) + "\n"
    return Span(start, max(start, end)), new
