"""A loop that waits for a person can be answered where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.contract.questions import ANSWERS_TO
from loop_ls.features.answers import Command, ShownRun

_SIGNS = {"approve": "✓", "restore": "↺", "retry": "↺", "reject": "✗"}


def decisions(run: ShownRun) -> Iterator[tuple[str, Command]]:
    """Each answer to what the run asks that needs no text, with its title."""
    if not run.approval:
        return
    asked = {"runId": run.run_id, "loopId": run.approval}
    for decision, title in ANSWERS_TO[run.asks].items():
        if decision == "revise":
            continue
        plain = decision in ("approve", "reject")
        given = {"approved": decision == "approve", **({} if plain else {"decision": decision})}
        yield f"{_SIGNS[decision]} {title}", Command("loopLs.approve", {**asked, **given})
