"""Edits of one file, by kind: what a client does, and how it is taken back."""

from __future__ import annotations

from typing import NamedTuple

from tests.bench.server_flows import flow, place
from tests.bench.server_process import Json

PASTED_LINES = 5_000


class Edit(NamedTuple):
    """`there` and `back` are the changes of one message each. `most`: milliseconds that none may take."""

    name: str
    text: str
    there: list[Json]
    back: list[Json]
    most: float = 50.0
    flat: bool = True


def change(line: int, column: int, end: tuple[int, int], new: str) -> Json:
    start = {"line": line, "character": column}
    return {"range": {"start": start, "end": {"line": end[0], "character": end[1]}}, "text": new}


def insertion(text: str, wanted: str, new: str, column: int | None = None, name: str | None = None) -> Edit:
    """`new` typed at the end of a line in the middle that starts with `wanted`, or at a column of it."""
    line, end = place(text, wanted)
    at = end if column is None else column
    lines = new.split("\n")
    behind = (line + len(lines) - 1, len(lines[-1]) + (at if len(lines) == 1 else 0))
    return Edit(name or "", text, [change(line, at, (line, at), new)], [change(line, at, behind, "")])


def replacement(text: str, first: int, last: int, new: str) -> tuple[list[Json], list[Json]]:
    """The lines from `first` to `last` (exclusive) replaced by whole lines."""
    lines = text.split("\n")
    old = "".join(f"{line}\n" for line in lines[first:last])
    there = change(first, 0, (last, 0), new)
    return [there], [change(first, 0, (first + new.count("\n"), 0), old)]


def _step(text: str) -> tuple[int, int]:
    """The lines of a step in the middle."""
    first, _ = place(text, "- name: step_")
    lines = text.split("\n")
    last = next(n for n in range(first + 1, len(lines)) if lines[n].startswith(("  - name:", "loops:")))
    return first, last


def with_findings(text: str, count: int = 500) -> str:
    """The text with an unknown key in so many steps, or in all."""
    return text.replace("    timeout: 90s\n", "    timeoutt: 90s\n", count)


def with_anchor(text: str) -> str:
    """One anchor in the second step, one alias in the last but one."""
    parts = text.split("    temperature: ")
    parts[2] = "&warm " + parts[2]
    parts[-2] = "*warm" + parts[-2][parts[-2].index("\n") :]
    return "    temperature: ".join(parts)


def edits(size: int) -> list[Edit]:
    text = flow(size)
    faulty, anchored = with_findings(text), with_anchor(text)
    first, last = _step(text)
    lines = text.split("\n")
    block, _ = place(faulty, "run: |")
    anchor = next(n for n, line in enumerate(anchored.split("\n")) if "&warm" in line)
    alias = next(n for n, line in enumerate(anchored.split("\n")) if "*warm" in line)
    cursors = [n for n, line in enumerate(lines) if line.endswith("says DONE.")][:100]
    column = len(lines[cursors[0]])
    pasted = "".join(f"    {line}\n" for line in flow(PASTED_LINES).split("\n"))
    prompt, _ = place(text, "Keep it short")
    schema, version = lines[0], len("$schema: workflow/v2.0")
    steps = lines.index("steps:")
    needs, _ = place(text, "needs: [step_")
    key = next(n for n, line in enumerate(lines) if line.startswith("  TONE"))
    provider = next(n for n, line in enumerate(lines) if line.startswith("  provider"))
    whole_there, whole_back = [{"text": text.replace("Keep it short", "Keep it shor", 1)}], [{"text": text}]
    return [
        insertion(text, "Keep it short", "x", name="character in a prompt"),
        insertion(text, "Keep it short", "\n      ", name="Enter in a prompt"),
        insertion(text, "timeout: 90s", "\n    no_color: true", name="new key of a step"),
        insertion(text, "- name: step_", "x", name="character in a name of a step"),
        Edit("character in `needs`", text, [change(needs, 12, (needs, 12), "x")], [change(needs, 12, (needs, 13), "")]),
        Edit("dash of a step", text, [change(first, 2, (first, 3), " ")], [change(first, 2, (first, 3), "-")]),
        Edit("step deleted", text, *replacement(text, first, last, "")),
        Edit("character in `name:`", text, [change(1, 15, (1, 15), "x")], [change(1, 15, (1, 16), "")]),
        Edit(
            "character in `execution.provider`",
            text,
            [change(provider, 18, (provider, 18), "x")],
            [change(provider, 18, (provider, 19), "")],
        ),
        Edit("character in a key of `env`", text, [change(key, 6, (key, 6), "X")], [change(key, 6, (key, 7), "")]),
        insertion(text, "needs: [", '"', name="quote that nobody closes"),
        Edit(
            "block that breaks, 500 findings",
            faulty,
            [change(block, 4, (block, 8), "run")],
            [change(block, 4, (block, 7), "run:")],
        ),
        Edit(
            "character in an anchor",
            anchored,
            [change(anchor, 22, (anchor, 22), "x")],
            [change(anchor, 22, (anchor, 23), "")],
        ),
        Edit(
            "character in an alias",
            anchored,
            [change(alias, 22, (alias, 22), "x")],
            [change(alias, 22, (alias, 23), "")],
        ),
        insertion(anchored, "Keep it short", "x", name="character in a prompt, one anchor and alias"),
        Edit(
            "100 cursors",
            text,
            [change(n, column, (n, column), "x") for n in cursors],
            [change(n, column, (n, column + 1), "") for n in cursors],
            flat=False,
        ),
        Edit("whole text", text, whole_there, whole_back, flat=False),
        Edit("paste of 5,000 lines", text, *replacement(text, prompt, prompt, pasted), most=150.0, flat=False),
        Edit(
            "character in `$schema`",
            text,
            [change(0, version, (0, len(schema)), "x")],
            [change(0, version, (0, version + 1), "")],
            most=250.0,
            flat=False,
        ),
        Edit(
            "`steps:` misspelt",
            text,
            [change(steps, 5, (steps, 5), "x")],
            [change(steps, 5, (steps, 6), "")],
            most=250.0,
            flat=False,
        ),
    ]
