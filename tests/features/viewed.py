"""Runs as the editor shows them, from a state and facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loop_ls.contract.run_view.fold import folded
from loop_ls.features.answers import RunView
from loop_ls.features.runs.run_view import run_view


def viewed(state: dict[str, Any], facts: Iterable[dict[str, Any]] = ()) -> RunView:
    return run_view(state, folded(facts, format=str(state.get("format") or "")))
