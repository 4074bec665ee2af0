"""What an assistant is told in each iteration, and what is remembered of the last.

The first message is the original, untouched. Nothing crosses from one iteration to the next but the log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LEARNING = 300
_LINES = re.compile(r"(?:\r?\n)+")
ONCE_MORE = (
    "You have tried this before. Read the progress log, keep what worked, "
    "and produce a better result than the earlier attempts."
)


def learning_of(output: str, iteration: int) -> str:
    """The first words of an output, in one line. Cut first, cleaned second: what starts with hundreds of
    blanks has taught nothing."""
    found = _LINES.sub(" ", output[:LEARNING]).strip()
    return found or f"Iteration {iteration} produced no output"


def composed(
    message: str,
    iteration: int,
    most: int,
    learnings: Sequence[str],
    feedback: str = "",
    check: str = "",
    failed_checks: str = "",
) -> str:
    """The message of an iteration. `feedback` is what a person said to the last output, `check` the end
    of what the test command printed, `failed_checks` what the declared checks found wrong."""
    if iteration == 1:
        return message
    bullets = "\n".join(f"- Iteration {number}: {learning}" for number, learning in enumerate(learnings, 1))
    parts = [message, f"## Progress Log ({len(learnings)} previous iterations)\n{bullets}"]
    if failed_checks:
        parts.append(f"## Failed Checks\n{failed_checks}")
    if check:
        parts.append(f"## Test Output\n```\n{check}\n```")
    if feedback:
        parts.append(f"## Reviewer Feedback\n{feedback}")
    parts.append(f"## Iteration {iteration} of {most}\n{ONCE_MORE}")
    return "\n\n".join(parts)
