"""The prompt of one stage: everything it has to know of its loop, in the documented order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from loop_ls.engine.roles.outcome import NO_OUTPUT, for_prompt


@dataclass(frozen=True, slots=True)
class Done:
    """A stage of this iteration that has ended well. `index` counts from 0. `told` is what the stages after it
    hear of it, made once: each of them hears of all before it."""

    index: int
    role: str
    output: str
    artifact: str | None = None
    told: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        told = for_prompt(self.output, self.artifact) or NO_OUTPUT
        object.__setattr__(self, "told", f"### Stage {self.index + 1}: {self.role}\n\n{told}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said to a try of this stage that could not continue, and what that try had said."""

    output: str
    text: str


@dataclass(frozen=True, slots=True)
class Work:
    """What one stage is told. `outcomes` are the lines of earlier iterations, oldest first; `last` is the output of
    the iteration before, within the budget; `failed_checks` are those that it failed; `rationale` is what a model that
    judges said last; `findings` are the points that are open."""

    loop: str
    goal: str
    iteration: int
    limit: int | None
    index: int
    stages: int
    role: str
    task: str
    done: Sequence[Done] = ()
    outcomes: Sequence[str] = ()
    last: str = ""
    rationale: str = ""
    failed_checks: str = ""
    findings: str = ""
    criteria: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    project: Mapping[str, str] = field(default_factory=dict)
    answers: Sequence[Answer] = ()


def compose(work: Work) -> str:
    return "\n\n".join(_sections(work))


def _sections(work: Work) -> Iterator[str]:
    place = f"stage {work.index + 1} of {work.stages}"
    limit = f"/{work.limit}" if work.limit is not None else " (unlimited)"
    yield f"# {work.loop}"
    yield f"## Goal\n\n{work.goal}"
    yield f"## Iteration\n\nIteration {work.iteration}{limit}, {place}"
    yield f"## Your role\n\n{work.role}, {place.capitalize()}"
    if work.done:
        earlier = "\n\n".join([done.told for done in work.done])
        yield f"## Previous stages this cycle\n\n{earlier}"
    if work.iteration > 1:
        yield "## Previous iteration outcomes\n\n" + "\n".join(f"- {line}" for line in work.outcomes)
        if work.last:
            yield f"## Last output of iteration {work.iteration - 1}\n\n{work.last}"
    if work.failed_checks:
        yield f"## Failed checks\n\n{work.failed_checks}"
    if work.rationale:
        yield f"## What is missing from the goal\n\n{work.rationale}"
    if work.findings:
        yield f"## Open findings\n\nSettle each of them, the severest first.\n\n{work.findings}"
    if work.criteria.strip():
        yield f"## Acceptance criteria\n\n{work.criteria}"
    if work.parameters:
        yield "## Parameters\n\n" + "\n".join(f"- {name}: {value}" for name, value in work.parameters.items())
    if work.project:
        yield "## Project\n\n" + "\n".join(f"- {name}: {value}" for name, value in work.project.items() if value)
    yield f"## Your task\n\n{work.task}"
    if work.answers:
        yield "## Earlier tries of this task\n\n" + "\n\n".join(map(_answered, work.answers))


def _answered(answer: Answer) -> str:
    """An earlier try, and what a person said to it."""
    said = for_prompt(answer.output, None) or NO_OUTPUT
    told = f"A person answered:\n\n{answer.text}" if answer.text.strip() else "A person asked to try again."
    return f"An earlier try could not continue. It said:\n\n{said}\n\n{told}"
