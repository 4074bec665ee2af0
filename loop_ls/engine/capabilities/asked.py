"""Whom the chosen part of a workflow may ask, and which variables its texts hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loop_ls.engine.context.model_targets import embedding_target, step_targets
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.env_substitution import names_in
from loop_ls.engine.judges.choice import JudgeSettings, choose_judge
from loop_ls.engine.runs.preflight import chosen
from loop_ls.formats.workflow.model import Consensus, Embeddings, Loop, Step, Target, Workflow
from loop_ls.text.json_value import Json


def chains(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, settings: Mapping[str, Json]
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


def environment_names(library: Library, reached: Iterable[str]) -> list[str]:
    """Variables of the process environment that the files put into texts (`env: {A: ${NAME}}`), sorted."""
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
