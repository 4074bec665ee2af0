"""The facts of a role loop under the names that its document gives to the events of a foreground run.
A view of the journal; nothing is recorded under these names."""

from __future__ import annotations

from loop_ls.text.json_value import JsonObject, as_object

Event = JsonObject

#: Why a loop ended -> what its document calls that.
_OUTCOMES = {
    "approved": "complete",
    "goal_met": "complete",
    "condition_met": "complete",
    "completed": "complete",
    "deadline": "complete",
    "max_iterations": "limit_reached",
    "time_limit": "limit_reached",
    "question": "blocked",
    "missing_artifact": "blocked",
}


class DriverEvents:
    """Hears the facts of one run in order."""

    def __init__(self) -> None:
        self._iterations = self._stages = 0

    def of(self, event: Event) -> Event | None:
        """`{event, loop_id, ...}`; None for facts that have no such name."""
        told = self._of(event)
        return None if told is None else {"loop_id": event.get("runId"), **told}

    def _of(self, event: Event) -> JsonObject | None:
        iteration = {"iteration": event.get("iteration")}
        match event["kind"]:
            case "run_started":
                return {"event": "loop.start", "definition": event.get("name"), "goal": event.get("goal")}
            case "iteration_started":
                return {"event": "loop.iteration_start", **iteration}
            case "stage_started":
                return {"event": "loop.stage_start", **iteration, **_stage(event)}
            case "stage_completed":
                self._stages += 1
                return {"event": "loop.stage_end", **iteration, **_stage(event), "success": True}
            case "stage_failed":
                self._stages += 1
                error = str(as_object(event.get("error")).get("message", ""))
                return {"event": "loop.stage_end", **iteration, **_stage(event), "success": False, "error": error}
            case "iteration" | "iteration_failed":
                self._iterations += event["kind"] == "iteration"
                return {"event": "loop.iteration_end", **iteration}
            case "completed" | "failed" | "cancelled" as kind:
                outcome = _OUTCOMES.get(str(event.get("reason")), kind)
                counts = {"iterations_completed": self._iterations, "total_stages_run": self._stages}
                return {"event": "loop.complete", "outcome": outcome, **counts}
            case _:
                return None


def _stage(event: JsonObject) -> JsonObject:
    return {"stage": event.get("index"), "label": event.get("stage"), "role": event.get("role")}
