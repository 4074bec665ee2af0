"""What people may change of a loop that exists: its goal, its limit, what they noted about it.

Journalled like everything else; a loop that runs heeds it from its next stage on.
"""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.contract.facts.kinds import LoopUpdated
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.events import RunState
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field

#: Of the metadata, what the engine says itself.
OF_ENGINE = ("dispatch", "completion_reason")
FIELDS = ("goal", "max_iterations", "metadata", "labels")


def read_changes(given: object, state: RunState, ceiling: int | None = None) -> LoopUpdated:
    """`ceiling`: the most iterations that the project lets a loop have. Raises `Refused`."""
    if not isinstance(given, Mapping) or not given:
        raise Refused("bad_argument", f"Nothing to change: set one of {', '.join(FIELDS)}.")
    for name in given:
        if name not in FIELDS:
            raise Refused("bad_argument", f"`{str(name)[:60]}` cannot be changed; {', '.join(FIELDS)} can.")
    limit = _limit(given, state)
    if "max_iterations" in given and ceiling is not None and (limit is None or limit > ceiling):
        told = f"`max_iterations` can be at most {ceiling} (`limits.maxIterations` of the project)."
        raise Refused("bad_argument", told, "Change the settings, then start the loop again.")
    return LoopUpdated(
        goal=_goal(given),
        max_iterations=limit,
        unlimited=("max_iterations" in given and limit is None) or None,
        metadata=_metadata(given),
        labels=_labels(given),
    )


def ceiling_of(started: Mapping[str, Json]) -> int | None:
    """The most iterations that the settings of a run let a loop have, of its first fact."""
    return int_field(as_object(as_object(started.get("settings")).get("limits")), "maxIterations")


def _goal(given: Mapping[str, Json]) -> str | None:
    if "goal" not in given:
        return None
    goal = given["goal"]
    if not isinstance(goal, str) or not goal.strip():
        raise Refused("bad_argument", "`goal` must be a non-empty string.")
    return plain_text(goal)


def _limit(given: Mapping[str, Json], state: RunState) -> int | None:
    limit = given.get("max_iterations")
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise Refused("bad_argument", "`max_iterations` must be an integer from 1, or null for no limit.")
    if limit < state.iteration:
        told = f"Loop {state.run_id} is in iteration {state.iteration}: its limit cannot be {limit}."
        raise Refused("wrong_status", told, "Stop it instead.")
    return limit


def _metadata(given: Mapping[str, Json]) -> JsonObject | None:
    if "metadata" not in given:
        return None
    if not isinstance(given["metadata"], Mapping):
        raise Refused("bad_argument", "`metadata` must be an object.")
    for name in OF_ENGINE:
        if name in given["metadata"]:
            raise Refused("bad_argument", f"`metadata.{name}` is kept by the engine and cannot be changed.")
    return dict(given["metadata"])


def _labels(given: Mapping[str, Json]) -> list[str] | None:
    """Trimmed, each once."""
    if "labels" not in given:
        return None
    labels = given["labels"]
    if not isinstance(labels, list) or not all(isinstance(one, str) and one.strip() for one in labels):
        raise Refused("bad_argument", "`labels` must be a list of non-empty strings.")
    return list(dict.fromkeys(plain_text(one.strip()) for one in labels))
