"""A run's state and events (the JSON of protocol 4) as the values that lenses and findings show.

`run_view(state, events)` takes what the engine client answers and forgives what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loop_ls.features.values import RunView


def run_view(state: Mapping[str, Any], events: Iterable[Mapping[str, Any]] = ()) -> RunView:
    raise NotImplementedError
