"""What the chosen part of a workflow asks of its start: inputs, and models that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from loop_ls.engine.context.model_targets import embedding_target, step_targets
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.env_substitution import names_in
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import Door
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.price_table import Price
from loop_ls.engine.judges.choice import JudgeSettings, choose_judge
from loop_ls.engine.runs.preflight import chosen
from loop_ls.formats.workflow.model import Consensus, Embeddings, Loop, Step, Target, Workflow
from loop_ls.index.document import Document

#: Under this name the answers of a mock run are looked for before it starts.
MOCKED = "mock"


def missing_inputs(
    document: Document, elements: frozenset[str] | None, given: str | None, parameters: Mapping[str, str]
) -> list[str]:
    """`input` and the parameters that these elements use and that nobody supplies, in order of use."""
    free = {name for name in document.parameters if name not in parameters}
    if given is None:
        free.add("input")
    used = (
        use.path[0]
        for element in document.elements
        if elements is None or element.name in elements
        for use in element.uses
    )
    return list(dict.fromkeys(name for name in used if name in free))


def require_inputs(missing: list[str], fields: Sequence[Mapping[str, str]] = ()) -> None:
    """Raises `Refused(input_required)` with the names, and what is known of them for whoever asks a person."""
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        details = {"names": missing, **({"fields": list(fields)} if fields else {})}
        raise Refused("input_required", f"The run needs {listed}.", "Give a text for each.", details)


def require_prices(asked: Iterable[tuple[str, tuple[Target, ...]]], price: Callable[[Target], Price | None]) -> None:
    """Raises `Refused`: under a cap on dollars every call needs a price, else the cap would not hold."""
    for who, targets in asked:
        for target in targets:
            if price(target) is None:
                told = f"{who} asks `{target.model}` of `{target.provider}`, and nobody knows its price"
                raise Refused(
                    "bad_argument",
                    f"{told}, so `limits.budgetUsd` could not hold.",
                    f"Give `providers.{target.provider}.price`, such as {{input: 3, output: 15}}, or cap"
                    " `limits.maxTokens` instead.",
                    {"provider": target.provider, "model": target.model},
                )


def chains(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, settings: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Every chain of models that the run may ask, with who asks it; `elements` narrow the first workflow."""
    judging = JudgeSettings.of(settings)
    for number, key in enumerate(reached):
        workflow = library.workflow(key)
        for element in chosen(workflow, elements if number == 0 else None):
            match element:
                case Step(mode=str()):
                    yield f"`{element.name}`", step_targets(element, workflow.execution)
                case Loop() as loop:
                    yield from _judge(library, key, workflow, loop, judging)
                case Step(mode=Loop() as loop):
                    yield from _judge(library, key, workflow, loop, judging)
                case Step(mode=Consensus(executions=executions)):
                    for each in executions:
                        yield f"`{element.name}`", (Target(each.provider, each.model),)
                case Step(mode=Embeddings() as mode):
                    target = embedding_target(mode, element, workflow.execution)
                    yield f"`{element.name}`", () if target is None else (target,)
                case Step():
                    pass


def require_models(
    asked: Iterable[tuple[str, tuple[Target, ...]]], problem: Callable[[str], ModelFailure | None]
) -> None:
    """Raises `Refused(provider_unavailable)` for the first chain of which nobody can be asked."""
    for who, targets in asked:
        problems = [problem(target.provider) for target in targets]
        first = problems[0] if problems else None
        if first is not None and all(problems):
            told = f"{who} cannot ask its model: {_lowered(first.message)}"
            raise Refused("provider_unavailable", told, first.hint, {"provider": targets[0].provider})
        if not targets:
            raise Refused(
                "provider_unavailable",
                f"{who} names no provider and model, and neither does `execution`.",
                "Add `provider` and `model` to `execution`.",
            )


def require_mock(door: Door) -> None:
    """A mock run asks nobody, and needs all the same answers that can be read. Raises `Refused`."""
    if (problem := door.problem(MOCKED)) is not None:
        raise Refused("file_has_errors", problem.message, problem.hint)


def environment_names(library: Library, reached: Iterable[str]) -> list[str]:
    """Variables of the process environment that the files put into texts (`env: {A: ${NAME}}`)."""
    texts = (text for key in reached for text in library.workflow(key).env.values())
    return sorted({name for text in texts for name in names_in(text)})


def _judge(
    library: Library, key: str, workflow: Workflow, loop: Loop, judging: JudgeSettings
) -> Iterator[tuple[str, tuple[Target, ...]]]:
    if loop.mode == "refine":
        callee = library.workflow(library.called(key, loop.workflow))
        choice = choose_judge(loop, workflow.execution, callee.execution, judging)
        if choice.local is None:
            yield f"`until` of `{loop.name}`", choice.targets


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:] if sentence[:2].istitle() else sentence
