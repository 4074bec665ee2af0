"""The steps and loops of a run as a graph: what waits for what, and what a loop calls.

Read from the texts that the run was started with, so that it is the graph of that run whatever became of
its files. A round of an enhance loop has a text of its own. Nothing here says how it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast

from loop_ls.contract.answers import Node
from loop_ls.contract.run_view.rounds import listed
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.plan import Plan, read_plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.journal import Journal
from loop_ls.engine.projections.recorded_outputs import last_of
from loop_ls.formats.registry import ASSISTANT, ROLE_LOOP
from loop_ls.formats.workflow.model import Consensus, Element, Embeddings, Loop, Rag, Template
from loop_ls.index.graph.graph import waits
from loop_ls.text.json_value import int_field

#: Calls inside calls that are shown; deeper ones are drawn closed.
DEPTH = 4


async def drawn(journal: Journal, run_id: str, place: str = "") -> list[Node]:
    """`[{name, kind, mode, needs, condition?, maxIterations?, workflow?, inner?: [node]}]` in document order;
    `needs` are the names that the element waits for. Empty where the texts make no graph. `place` says which
    round of an enhance loop is meant: its own, or anything inside it; without it the last one that began."""
    started = (await journal.facts(run_id, 0, 1)).events[0]
    plan = await journal.read(read_plan, run_id, started.body, journal.storage.text)
    if plan.format == "enhance":
        text = await journal.read(_of_round, journal, plan, place)
        plan = plan if text is None else replace(plan, texts={**plan.texts, **_texts_in(plan, text)})
    return graph_of(plan)


def _of_round(journal: Journal, plan: Plan, place: str) -> str | None:
    """The text that a round ran; None where it is not recorded."""
    loop = Place().element(plan.name)
    wanted = place.removeprefix(f"{loop.key}/").partition("/")[0].partition(":")[0]

    def text_of(number: int) -> str | None:
        answer = journal.recall(plan.run_id, loop.turn(plan.name, number).part("round"))
        return None if answer is None else str(answer.get("value"))

    if wanted.isascii() and wanted.isdigit():
        return text_of(int(wanted))
    return text_of(last_of(lambda number: text_of(number) is not None))


def _texts_in(plan: Plan, text: str) -> dict[str, str]:
    """The texts of a round by path: several where plans may edit called workflows, too."""
    from loop_ls.engine.enhance.plan.bundle import Bundle  # no start waits for what few runs need

    return Bundle(plan.path, tuple(cast("list[str]", plan.details.get("files") or []))).apart(text)


def graph_of(plan: Plan) -> list[Node]:
    return OF_FORMAT.get(plan.format, _workflow)(plan)


def _workflow(plan: Plan) -> list[Node]:
    library = Library.of(plan)
    try:
        nodes = _elements(library, library.key_of(plan.path), ())
    except (Failure, KeyError, StopIteration):
        return []
    if plan.elements is None:
        return nodes
    wanted = set(plan.elements)
    return [
        {**node, "needs": [name for name in node["needs"] if name in wanted]}
        for node in nodes
        if node["name"] in wanted
    ]


def _elements(library: Library, key: str, above: tuple[str, ...]) -> list[Node]:
    workflow = library.workflow(key)
    needs = waits(workflow)
    return [_element(library, key, (*above, key), each, needs[each.name]) for each in workflow.elements]


def _element(library: Library, key: str, above: tuple[str, ...], element: Element, needs: tuple[str, ...]) -> Node:
    mode = element if isinstance(element, Loop) else element.mode
    node: Node = {"name": element.name, "kind": "step", "mode": "run", "needs": list(needs)}
    match mode:
        case Loop():
            node["kind"], node["mode"], node["workflow"] = "loop", mode.mode, mode.workflow
            if mode.until is not None:
                node["condition"] = mode.until
            if mode.max_iterations is not None:
                node["maxIterations"] = mode.max_iterations
            _look_inside(node, library, key, above)
        case Template():
            node["mode"], node["workflow"] = "template", mode.name
            _look_inside(node, library, key, above)
        case Consensus():
            node["mode"] = "consensus"
        case Rag():
            node["mode"] = "rag"
        case Embeddings():
            node["mode"] = "embeddings"
    return node


def _look_inside(node: Node, library: Library, caller: str, above: tuple[str, ...]) -> None:
    """What is called, where it can be read and does not call itself."""
    with suppress(Failure, KeyError):
        key = library.called(caller, node["workflow"])
        if key not in above and len(above) < DEPTH:
            node["inner"] = _elements(library, key, above)


def _in_turn(plan: Plan) -> list[Node]:
    """A role loop: one stage after the other."""
    labels = [str(stage.get("label") or stage.get("role")) for stage in listed(plan.details.get("stages"))]
    stages: list[Node] = [
        {"name": label, "kind": "stage", "mode": "role", "needs": labels[number - 1 : number] if number else []}
        for number, label in enumerate(labels)
    ]
    return [_around(plan, stages)]


def _alone(plan: Plan) -> list[Node]:
    """An assistant: one fresh agent in each iteration."""
    return [_around(plan, [{"name": "agent", "kind": "stage", "mode": "agent", "needs": []}])]


def _around(plan: Plan, inner: list[Node]) -> Node:
    limit = int_field(plan.limits, "maxIterations")
    loop: Node = {"name": plan.name, "kind": "loop", "mode": plan.format, "needs": [], "inner": inner}
    return loop if limit is None else {**loop, "maxIterations": limit}


#: What draws a run, by its format. A loop system of another format adds its own.
OF_FORMAT: dict[str, Callable[[Plan], list[Node]]] = {ROLE_LOOP: _in_turn, ASSISTANT: _alone}
