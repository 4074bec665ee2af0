"""What a run needs, all of it from its `run_started` fact: nothing is read from disk once it runs.

Also the port through which the engine runs a format without knowing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from loop_ls.engine.driver import Outcome
from loop_ls.engine.ports import Models, Recorder


@dataclass(frozen=True, slots=True)
class Plan:
    """`texts`: path relative to the root -> text of every file the run can reach. `keys`: workflow key
    -> path. `elements`: names of the started workflow's elements to run, in document order (all it
    depends on, then the target); None means all. `settings` are those of the project, without secrets."""

    run_id: str
    format: str
    root: str
    name: str
    path: str
    target_kind: str = "workflow"
    target_name: str | None = None
    elements: tuple[str, ...] | None = None
    input: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    max_iterations: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    mock: bool = False


class Program(Protocol):
    """One format. `run` returns how it ended, or raises `Stopped`; the engine journals the end."""

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome: ...
