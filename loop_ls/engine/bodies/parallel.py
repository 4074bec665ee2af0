"""Elements of one workflow at the same time: each as soon as all it depends on has
finished, never more than the workers.

An element sees the results of what it depends on and of nothing else, so that what it sees does not
hang on who was quicker: a replay builds the same prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.elements import note_cancelled, run_element
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.task_group import end
from loop_ls.formats.workflow.model import Element, Workflow
from loop_ls.index.graph.graph import Graph
from loop_ls.index.graph.workflow_nodes import nodes_of

DEFAULT_WORKERS = 3


async def run_parallel(frame: Frame, scope: Scope, elements: Sequence[Element]) -> dict[str, Finished]:
    """Run the elements, given in run order. Raises `Failure` where one fails the workflow."""
    pool = _Pool(frame, scope, list(elements), _waits(frame.workflow, elements))
    try:
        await pool.run()
    finally:
        await end(pool.running)
    if pool.failure is not None:
        raise pool.failure
    return pool.finished


def _waits(workflow: Workflow, elements: Sequence[Element]) -> dict[str, set[str]]:
    """For each element, in run order, the names of everything that has to be finished first."""
    graph = Graph.of(nodes_of(workflow))
    number = {element.name: index for index, element in enumerate(workflow.elements)}
    names = {element.name for element in elements}
    return {
        element.name: names.intersection(graph.node(i).name for i in graph.dependencies(number[element.name]))
        for element in elements
    }


@dataclass(slots=True)
class _Pool:
    frame: Frame
    scope: Scope
    waiting: list[Element]
    waits: dict[str, set[str]]
    running: dict[asyncio.Task[Finished], Element] = field(default_factory=dict)
    finished: dict[str, Finished] = field(default_factory=dict)
    failure: Failure | None = None

    async def run(self) -> None:
        workers = self.frame.workflow.execution.max_workers or DEFAULT_WORKERS
        while True:
            for element in self.ready(workers - len(self.running)):
                self.waiting.remove(element)
                self.running[asyncio.ensure_future(self.element(element))] = element
            if not self.running:
                return
            done, _ = await asyncio.wait(self.running, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in self.running if task in done]:
                await self.over(task)

    def ready(self, free: int) -> list[Element]:
        """What may begin now, in run order."""
        found = [element for element in self.waiting if self.waits[element.name] <= self.finished.keys()]
        return found[: max(0, free)]

    async def element(self, element: Element) -> Finished:
        await self.frame.recorder.gate()
        scope = self.scope
        for name in self.waits:  # in run order: whose loop was last must not hang on who was quicker
            if name in self.waits[element.name]:
                scope = self.finished[name].enter(scope)
        return await run_element(self.frame, element, scope)

    async def over(self, task: asyncio.Task[Finished]) -> None:
        element = self.running.pop(task, None)
        if element is None:  # ended together with one whose failure ends everything
            return
        try:
            self.finished[element.name] = task.result()
        except Failure as failure:
            self.failure = self.failure or failure
            match self.frame.workflow.execution.on_error:
                case "continue":
                    self.finished[element.name] = Finished(element.name, failure=failure)
                case "complete_running":
                    self.waiting.clear()
                case _:
                    self.waiting.clear()
                    await self.cancel(element)

    async def cancel(self, because: Element) -> None:
        """End what runs: it stands in the record as ended because of another element."""
        ended = list(self.running.items())
        self.running.clear()
        await end(task for task, _ in ended)
        for task, element in ended:
            if task.cancelled() or task.exception() is not None:
                await note_cancelled(self.frame, element, because)
