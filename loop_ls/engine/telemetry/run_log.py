"""One line in the log for the beginning and the end of each run: which, how, why; nothing of its texts."""

from __future__ import annotations

import logging

from loop_ls.engine.events import Event

log = logging.getLogger("loop_ls.runs")


def hear(events: list[Event]) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    for event in events:
        match event.kind:
            case "run_started":
                body = event.body
                about = {"run": event.run_id, "format": body.get("format"), "name_of_loop": body.get("name")}
                log.info("Run %s started: %s.", event.run_id, body.get("name"), extra=about)
            case "recovered":
                log.info("Run %s was resumed.", event.run_id, extra={"run": event.run_id})
            case "completed" | "failed" | "cancelled":
                reason = str(event.body.get("reason") or event.body.get("cause") or "")
                about = {"run": event.run_id, "status": event.kind, "reason": reason}
                log.info("Run %s %s: %s.", event.run_id, event.kind, reason, extra=about)
