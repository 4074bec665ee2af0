"""A loop that waits for a person can be answered where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.contract.questions import ANSWERS, PROTECTED_ANSWERS
from loop_ls.features.answers import Command, ShownRun


def decisions(run: ShownRun) -> Iterator[tuple[str, Command]]:
    """Each answer to what the run asks, with its title."""
    if not run.approval:
        return
    titles = PROTECTED_ANSWERS if run.touched else ANSWERS
    asked = {"runId": run.run_id, "loopId": run.approval}
    yield f"✓ {titles['approve']}", Command("loopLs.approve", {**asked, "approved": True})
    if run.touched:
        yield (
            f"↺ {PROTECTED_ANSWERS['restore']}",
            Command("loopLs.approve", {**asked, "approved": False, "decision": "restore"}),
        )
    yield f"✗ {titles['reject']}", Command("loopLs.approve", {**asked, "approved": False})
