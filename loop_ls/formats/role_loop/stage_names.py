"""What places, and `on: stage.NAME` of checks, call the stages of a role loop: labels may repeat, these may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def stage_names(labels: Sequence[str]) -> tuple[str, ...]:
    """The label of each stage in run order, with its number where several have it."""
    count = Counter(labels)
    return tuple(f"{label}-{number}" if count[label] > 1 else label for number, label in enumerate(labels, 1))
