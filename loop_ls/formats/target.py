"""Whom to ask. Apart from the values of a workflow, because settings name targets too and are read at every start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One provider and model to ask."""

    provider: str
    model: str
