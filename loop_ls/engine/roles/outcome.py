"""What is kept of a stage's output in records and in later prompts: a summary, and one line.

The full text is an artifact; nothing here decides anything, so nothing is decided by a cut text.
"""

from __future__ import annotations

import re

#: Characters of a stage's output that its record holds.
SUMMARY = 2_000
MARKER = "[… cut here; the artifact has the whole text]"
LINE = 200
NO_OUTPUT = "(no output)"
#: Characters of an earlier stage that a prompt holds.
BUDGET = 24_000


def summary(output: str) -> str:
    """At most `SUMMARY` characters, and a line that says so where more were cut."""
    return output if len(output) <= SUMMARY else f"{output[:SUMMARY]}\n{MARKER}"


def first_line(text: str) -> str:
    """The first line that is not blank, cut to `LINE` characters."""
    line = next((each.strip() for each in re.split(r"\r\n?|\n", text) if each.strip()), NO_OUTPUT)
    return line if len(line) <= LINE else f"{line[:LINE]}..."


def one_line(role: str, status: str, result: str) -> str:
    """The outcome of a stage, as later prompts and summaries tell it."""
    return f"{role} [{status}]: {first_line(result)}"


def for_prompt(output: str, artifact: str | None) -> str:
    """The whole output up to the budget; above it head and tail, and where the rest is."""
    if len(output) <= BUDGET:
        return output
    half, missing = BUDGET // 2, len(output) - BUDGET
    where = f"; artifact {artifact} has the whole text" if artifact else ""
    return f"{output[:half]}\n[… {missing} characters are missing here{where} …]\n{output[-half:]}"
