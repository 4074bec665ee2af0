"""What the parts of a workflow run hand to one another: the means of the run, the workflow at hand,
and what an element leaves behind. Immutable, so that no branch can change what another one sees.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from loop_ls.engine.checks.run_checks import RunChecks
from loop_ls.engine.context.scope import LoopValues, Scope
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.judges.choice import JudgeSettings
from loop_ls.engine.tools import Sessions
from loop_ls.formats.workflow.model import Workflow
from loop_ls.text.json_value import Json


@dataclass(frozen=True, slots=True)
class Context:
    """The means of one run, the same in every workflow of it.

    `environment` answers the variables of the process environment; `files` are those that texts may name;
    `sessions` are the MCP servers, None in a mock run; `rag` is that section of the settings.
    `max_iterations`, when set, replaces the limit of the loops of the started workflow; no loop of the run
    passes `ceiling`, the project's own bound, and `unchanged` equal outputs in a row end one. `item` is the one item
    of an iterate loop of the started workflow that is wanted, with the loop. `run` runs one
    workflow: the parts that call others get it from here. `checks` judge the started workflow,
    which runs at `depth`.
    """

    library: Library
    recorder: Recorder
    models: Models
    judging: JudgeSettings
    environment: Callable[[str], str | None]
    files: ProjectFiles
    run: Callable[[Frame, Scope], Awaitable[Result]]
    max_iterations: int | None = None
    ceiling: int | None = None
    sessions: Sessions | None = None
    rag: Mapping[str, Json] = field(default_factory=dict)
    unchanged: int | None = None
    item: tuple[str, int] | None = None
    checks: RunChecks | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """One workflow while it runs: which one, and where in the run."""

    context: Context
    key: str
    workflow: Workflow
    place: Place

    @property
    def recorder(self) -> Recorder:
        return self.context.recorder

    @property
    def checks(self) -> RunChecks | None:
        """The declared checks of this workflow: only the started one has some."""
        return self.context.checks if self.place.depth == self.context.depth else None


@dataclass(frozen=True, slots=True)
class Finished:
    """What an element leaves behind for the elements after it. `failure` was swallowed by a policy."""

    name: str
    output: str = ""
    skipped: bool = False
    failure: Failure | None = None
    accumulated: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    loop: LoopValues | None = None
    reason: str = "completed"
    iterations: int = 0
    because: str | None = None

    def enter(self, scope: Scope) -> Scope:
        """The scope in which this element has finished."""
        results = {**scope.results, self.name: self.output, **self.accumulated}
        return replace(
            scope,
            results=results,
            parts={**scope.parts, **self.parts} if self.parts else scope.parts,
            loop=scope.loop if self.loop is None else self.loop,
        )


@dataclass(frozen=True, slots=True)
class Result:
    """How a workflow ended. `output` None: nothing in it gave a result. `reason` and `iterations` sum
    up its own loops."""

    output: str | None
    reason: str = "completed"
    iterations: int = 0
    because: str | None = None
