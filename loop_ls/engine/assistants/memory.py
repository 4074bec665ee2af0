"""What one assistant loop knows of itself while it runs: its learnings and what was said to its last output."""

from __future__ import annotations

from loop_ls.engine.assistants.message import learning_of
from loop_ls.engine.checks.judging import FailedChecks
from loop_ls.engine.core.loop_driver import Turn


class ProgressLog:
    """The memory that body and judge share. A replay fills it again in the same order."""

    def __init__(self) -> None:
        self.learnings: list[str] = []
        self.feedback = ""
        self.check = ""
        self.last_output = ""
        self.met_in_a_row = 0
        self.failed_checks = FailedChecks()

    def remember(self, turn: Turn, output: str) -> None:
        self.learnings.append(learning_of(output, turn.number))
        self.last_output = output
        self.feedback = self.check = ""

    def same_at_the_end(self) -> int:
        """How many of the last learnings are the same."""
        last = self.learnings[-1:]
        count = 0
        for learning in reversed(self.learnings):
            if [learning] != last:
                break
            count += 1
        return count
