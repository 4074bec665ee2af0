"""Whom to ask. Apart from the values of a workflow, because settings name targets too and are read at every start."""

from __future__ import annotations

from loop_ls.text.record import equal_record


@equal_record
class Target:
    """One provider and model to ask."""

    provider: str
    model: str
