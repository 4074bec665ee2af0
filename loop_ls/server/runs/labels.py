"""States of runs as clients get them: with the line that the lens says, so that no view has its own words."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from loop_ls.features.runs.outcome_texts import spent
from loop_ls.features.runs.run_summary import said, seen
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.features.answers import ShownRun

logger = logging.getLogger(__name__)


def worded(state: JsonObject, view: ShownRun | None = None) -> JsonObject:
    """The state with `said: {sign, line, spent}`; `view` is what its facts make of it, where they are known."""
    try:
        shown = seen(state) if view is None else view
        sign, line = said(shown)
    except Exception:  # a state of another version must not keep a list from being shown
        logger.exception("The state of run %s cannot be described.", state.get("runId"))
        return state
    return {**state, "said": {"sign": sign, "line": line, "spent": spent(shown)}}
