"""Graph nodes of a workflow that is about to run: plain values, no places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.formats.workflow.condition import parse_condition
from loop_ls.formats.workflow.model import (
    Argument,
    Consensus,
    Element,
    Embeddings,
    Loop,
    Mode,
    Rag,
    Step,
    Template,
    Workflow,
)
from loop_ls.formats.workflow.placeholder_syntax import names_in
from loop_ls.index.graph.names import Node

_AFTERWARDS = frozenset(("loop.iteration", "loop.output"))


def nodes_of(workflow: Workflow) -> tuple[Node, ...]:
    return tuple(_node(element) for element in workflow.elements)


def _node(element: Element) -> Node:
    match element:
        case Loop():
            reads = _each_once(_reads_of_loop(element))
            return Node(element.name, "loop", (), reads, _provides(element.name, element), loops=True)
        case Step():
            return _node_of_step(element)


def _node_of_step(step: Step) -> Node:
    loop = step.mode if isinstance(step.mode, Loop) else None
    outside = [*_reads_of_condition(step.condition or "")]
    outside += () if loop else _reads_of_mode(step.mode)
    inside = list(_reads_of_loop(loop)) if loop else []
    return Node(
        name=step.name,
        kind="step",
        needs=step.needs,
        reads=_each_once((*outside, *inside)),
        provides=_provides(step.name, loop),
        loops=loop is not None,
        reads_loop=not _AFTERWARDS.isdisjoint(outside),
        execution_order=step.execution_order,
    )


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name != "input")


def _provides(name: str, loop: Loop | None) -> tuple[str, ...]:
    return (name, loop.accumulate) if loop and loop.accumulate and loop.accumulate != name else (name,)


def _reads_of_condition(text: str) -> Iterator[str]:
    yield from names_in(text)
    condition = parse_condition(text)
    if condition.expression and condition.name:
        yield condition.name


def _reads_of_mode(mode: Mode) -> Iterator[str]:
    match mode:
        case str():
            yield from names_in(mode)
        case Template():
            yield from _reads_of_argument(dict(mode.arguments or {}))
        case Consensus():
            yield from names_in(mode.prompt)
        case Rag():
            yield from names_in(mode.query)
        case Embeddings():
            for text in (*(mode.input or ()), mode.input_file, mode.output_file):
                yield from names_in(text or "")
        case Loop():
            yield from _reads_of_loop(mode)


def _reads_of_loop(loop: Loop) -> Iterator[str]:
    yield from _reads_of_argument(dict(loop.arguments or {}))
    yield from names_in(loop.items or "")
    yield from names_in(loop.until or "")


def _reads_of_argument(argument: Argument) -> Iterator[str]:
    match argument:
        case str():
            yield from names_in(argument)
        case list():
            for item in argument:
                yield from _reads_of_argument(item)
        case dict():
            for item in argument.values():
                yield from _reads_of_argument(item)
        case _:
            return
