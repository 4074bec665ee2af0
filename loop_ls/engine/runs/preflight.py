"""What would make a run fail or stand still although nothing has been asked yet.

Looked at before the first call: everything the run can reach is there and can be read, nothing waits
for itself, arguments can be passed on, and somebody can judge every condition. The rules of the
checker say more about a file; these are the things that the engine itself cannot do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loop_ls.engine.bodies.called import MAX_DEPTH
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.judges.choice import JudgeSettings, choose_judge
from loop_ls.formats.workflow.model import Argument, Element, Loop, Step, Template, Workflow
from loop_ls.index.graph.graph import cycles, dependencies
from loop_ls.text.json_value import Json


def refusal(
    library: Library, key: str, settings: Mapping[str, Json], elements: Iterable[str] | None = None
) -> Failure | None:
    """Why a run of this workflow (or of these elements of it) is not begun; None: nothing is in its way."""
    judging = JudgeSettings.of(settings)
    wanted = None if elements is None else frozenset(elements)
    try:
        for found in reachable(library, key, wanted):
            workflow = library.workflow(found)
            _waits_for_itself(workflow)
            for element in chosen(workflow, wanted if found == key else None):
                _arguments(element)
                _judge(library, found, workflow, element, judging)
        _too_deep(library, key, wanted)
    except Failure as failure:
        if failure.code == "not_found":
            return Failure("file_has_errors", f"{failure.message} (WF601)", failure.hint)
        return failure
    return None


def reachable(library: Library, key: str, elements: frozenset[str] | None = None) -> tuple[str, ...]:
    """The keys of all workflows that a run can call, the started one first. Raises `Failure` for one
    that does not exist or cannot be read."""
    found = {key: None}
    waiting = [key]
    while waiting:
        caller = waiting.pop()
        workflow = library.workflow(caller)
        for element in chosen(workflow, elements if caller == key else None):
            for reference in _references(element):
                called = library.called(caller, reference)
                if called not in found:
                    found[called] = None
                    waiting.append(called)
    return tuple(found)


def _too_deep(library: Library, key: str, elements: frozenset[str] | None) -> None:
    """Raises `Failure` for calls inside calls that a run would not make, however it went."""
    level: dict[str, None] = {key: None}
    for depth in range(MAX_DEPTH + 1):
        level = {
            library.called(caller, reference): None
            for caller in level
            for element in chosen(library.workflow(caller), elements if depth == 0 else None)
            for reference in _references(element)
        }
    if level:
        told = f"`{key}` calls workflows {MAX_DEPTH + 1} levels deep, down to `{next(iter(level))}`"
        hint = "look for a workflow that calls itself, or flatten the calls"
        raise Failure("too_deep", f"{told}; the limit is {MAX_DEPTH} levels", hint)


def needed_elements(workflow: Workflow, name: str) -> tuple[str, ...]:
    """What a run for one element does, in document order: all it depends on, and itself. Raises
    `Failure` when there is no such element."""
    if all(element.name != name for element in workflow.elements):
        raise Failure("not_found", f"`{workflow.name}` has no step or loop `{name}`")
    needed = dependencies(workflow, name) | {name}
    return tuple(element.name for element in workflow.elements if element.name in needed)


def chosen(workflow: Workflow, elements: frozenset[str] | None) -> Iterator[Element]:
    return (element for element in workflow.elements if elements is None or element.name in elements)


def _waits_for_itself(workflow: Workflow) -> None:
    for cycle in cycles(workflow):
        path = " → ".join(f"`{name}`" for name in (*cycle, cycle[0]))
        raise Failure(
            "file_has_errors",
            f"circular dependency in `{workflow.name}`: {path}",
            "remove one of these names from `needs` or from the text that uses it (WF303)",
        )


def _arguments(element: Element) -> None:
    if isinstance((_with(element) or {}).get("input"), list | dict):
        raise Failure(
            "file_has_errors",
            f"`with.input` of `{element.name}` must be a string, not a list or a mapping",
            "pass the list under another name, or write it as a string (WF608)",
        )


def _judge(library: Library, key: str, workflow: Workflow, element: Element, judging: JudgeSettings) -> None:
    loop = _loop(element)
    if loop is not None and loop.mode == "refine":
        callee = library.workflow(library.called(key, loop.workflow))
        choose_judge(loop, workflow.execution, callee.execution, judging)


def _references(element: Element) -> tuple[str, ...]:
    match element:
        case Loop(workflow=name) | Step(mode=Loop(workflow=name)) | Step(mode=Template(name=name)):
            return (name,)
        case _:
            return ()


def _loop(element: Element) -> Loop | None:
    if isinstance(element, Loop):
        return element
    return element.mode if isinstance(element.mode, Loop) else None


def _with(element: Element) -> dict[str, Argument] | None:
    match element:
        case Loop(arguments=written) | Step(mode=Loop(arguments=written)) | Step(mode=Template(arguments=written)):
            return written
        case _:
            return None
