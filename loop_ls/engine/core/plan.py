"""What a run needs, all of it from its `run_started` fact: nothing is read from disk once it runs.

Also the ports through which the engine runs a format, and asks models, without knowing either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol, cast

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.ports import ModelFailure, Models, Recorder
from loop_ls.text.json_value import Json, as_object, int_field, text_field
from loop_ls.text.record import equal_record

#: The format of the runs of enhance loops: their file is a workflow.
ENHANCE = "enhance"
#: Where the plan of a run names those that go on in its folder: `{runId, name}`.
BESIDE = "beside"
#: Where it has the filters that the repository's own settings start for its files.
FILTERS = "gitFilters"


def filters_in(details: Mapping[str, object]) -> list[str]:
    """Those that a plan names: whoever started the run has agreed to them."""
    found = details.get(FILTERS)
    return [str(one) for one in found] if isinstance(found, list) else []


@equal_record
class Plan:
    """`texts`: path relative to the root -> text of every file the run can reach. `keys`: workflow key
    -> path. `elements`: names of the started workflow's elements to run, in document order (all it
    depends on, then the target); None means all. `settings` are those of the project, without secrets. `origin` is the
    user's folder where `root`, in which the run works, is a worktree that was made for it."""

    run_id: str
    format: str
    root: str
    name: str
    path: str
    target_kind: str = "workflow"
    target_name: str | None = None
    elements: tuple[str, ...] | None = None
    input: str | None = None
    goal: str | None = None
    message: str | None = None
    session_id: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    max_iterations: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    limits: Mapping[str, Json] = field(default_factory=dict)
    source: Mapping[str, Json] | None = None
    mock: bool = False
    details: Mapping[str, Json] = field(default_factory=dict)  # what only the format of the run understands
    origin: str = ""

    @property
    def home(self) -> str:
        """The user's folder: there are its files, wherever it works."""
        return self.origin or self.root

    @property
    def plays(self) -> bool:
        """Whether the run answers from a script or from a record: it has no effect on anything."""
        return self.mock or (self.source or {}).get("kind") == "replay"


def notified_program(plan: Plan) -> tuple[str, ...]:
    """The words of the program that is told of the run (the setting `notify`); () where there is none."""
    words = plan.settings.get("notify")
    return tuple(str(word) for word in words) if isinstance(words, list) and not plan.plays else ()


class Program(Protocol):
    """One format. `run` returns how it ended, or raises `Stopped`; the engine journals the end."""

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome: ...


class ModelAccess(Models, Protocol):
    """The models of one run, which can say beforehand whom they cannot ask."""

    def problem(self, name: str) -> ModelFailure | None:
        """Why provider `name` cannot be asked at all (no such provider, no key); None: it can."""
        ...


def plan_of(started: RunStarted, texts: Mapping[str, str]) -> Plan:
    """The plan of a run that is about to start; `texts`: hash -> text."""
    return read_plan("", started.fact()[1], lambda name: texts.get(name, ""))


def read_plan(run_id: str, started: Mapping[str, Json], text_of: Callable[[str], str]) -> Plan:
    """The plan that a `run_started` fact holds; `text_of` gives a text by its hash."""
    fact = RunStarted.model_validate(started)
    elements = cast("list[str] | None", fact.plan.get("elements"))
    return Plan(
        run_id=run_id,
        format=fact.format,
        root=fact.root,
        name=fact.name,
        path=fact.path or "",
        target_kind=str(fact.target.get("kind", "workflow")),
        target_name=text_field(fact.target, "name") or None,
        elements=None if elements is None else tuple(elements),
        input=fact.input,
        goal=fact.goal,
        message=fact.message,
        session_id=fact.session_id,
        parameters=cast("dict[str, str]", fact.parameters),
        max_iterations=int_field(fact.plan, "maxIterations"),
        texts={path: text_of(name) for path, name in fact.files.items()},
        keys={key: str(path) for key, path in as_object(fact.plan.get("keys")).items()},
        settings=fact.settings,
        limits=fact.limits,
        source=fact.source,
        mock=fact.mock,
        details=fact.plan,
    )
