"""The lens that opens a run, wherever one is shown: its transcript, or a client's own view of it."""

from __future__ import annotations

from loop_ls.features.answers import Command, Lens, ShownRun
from loop_ls.text.position import Span


def look(span: Span, run: ShownRun) -> Lens:
    return Lens(span, "Open run", Command("loopLs.history", {"runId": run.run_id, "show": True}))
