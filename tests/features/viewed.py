"""Runs as the editor shows them, from a state and facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loop_ls.contract.run_view.fold import folded
from loop_ls.features.answers import ShownRun
from loop_ls.features.runs.shown_run import shown_run


def viewed(state: dict[str, Any], facts: Iterable[dict[str, Any]] = ()) -> ShownRun:
    return shown_run(state, folded(facts, format=str(state.get("format") or "")))
