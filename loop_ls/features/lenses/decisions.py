"""A loop that waits for a person can be answered where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.contract.questions import ALLOW, PUT_BACK, STOP
from loop_ls.features.answers import Command, ShownRun


def decisions(run: ShownRun) -> Iterator[tuple[str, Command]]:
    """Each answer to what the run asks, with its title."""
    if not run.approval:
        return
    yes, no = (f"✓ {ALLOW}", f"✗ {STOP}") if run.touched else ("✓ Approve", "✗ Reject")
    asked = {"runId": run.run_id, "loopId": run.approval}
    yield yes, Command("loopLs.approve", {**asked, "approved": True})
    if run.touched:
        yield f"↺ {PUT_BACK}", Command("loopLs.approve", {**asked, "approved": False, "decision": "restore"})
    yield no, Command("loopLs.approve", {**asked, "approved": False})
