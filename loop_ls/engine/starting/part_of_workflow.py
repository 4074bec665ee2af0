"""A part of a workflow: from one step or loop to another in the order of a run, with the outputs of what comes before.

What stands before the part is not run. Where the part reads it, its output is pinned: given with the start, or taken
from an earlier run of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loop_ls.engine.context.loop_variables import joined
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import EarlierOutputs, StartRequest
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.workflow.model import Element, Loop, Workflow
from loop_ls.index.graph.graph import Graph, run_order
from loop_ls.index.graph.workflow_nodes import nodes_of
from loop_ls.text.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Part:
    """`elements` run; `wire` is what the plan of the run holds of the others."""

    elements: frozenset[str]
    wire: JsonObject = field(default_factory=dict)


def is_part(request: StartRequest) -> bool:
    return request.start_from is not None or request.end_at is not None


def require_start(request: StartRequest) -> None:
    """Raises `Refused` for outputs of steps before a start that is none: they would be ignored."""
    given = {"pinned": bool(request.pinned), "outputsOf": request.outputs_of is not None}
    named = next((name for name, is_given in given.items() if is_given), None)
    if named is not None and request.start_from is None:
        told = f"`{named}` is for steps that are not run, and without `startFrom` all of them are run."
        raise Refused("bad_argument", told, f"Pass `startFrom` (`--start-from NAME`), or leave `{named}` out.")


def part_of(workflow: Workflow, request: StartRequest) -> Part:
    """Raises `Refused` for names that are not there, and where the output of something that is read is not known."""
    if request.target_kind != "workflow":
        raise Refused("bad_argument", "`startFrom` and `endAt` work on a whole workflow, not on a part of it.")
    order = [element.name for element in run_order(workflow)]
    first = 0 if request.start_from is None else _index(workflow, order, request.start_from)
    last = len(order) - 1 if request.end_at is None else _index(workflow, order, request.end_at)
    if first > last:
        told = f"`{request.start_from}` runs after `{request.end_at}`, so nothing would run."
        raise Refused("bad_argument", told, "Choose a start that runs before the end.")
    elements = frozenset(order[first : last + 1])
    strange = next((name for name in request.pinned if name not in order), None)
    if strange is not None:
        raise Refused("not_found", f"Pinned output for an unknown step or loop: `{strange}`.")
    if runs := next((name for name in request.pinned if name in elements), None):
        told = f"`{runs}` is run, so its output cannot be pinned."
        raise Refused("bad_argument", told, f"Start after `{runs}`, or leave its pinned output out.")
    read = _read_by(workflow, elements)
    pinned = [_pinned(one, request) for one in run_order(workflow) if one.name in read]
    wire: JsonObject = {"startFrom": request.start_from, "endAt": request.end_at, "pinned": pinned}
    if request.earlier is not None and any(one["name"] not in request.pinned for one in pinned):
        wire["outputsOf"] = request.earlier.run_id
    return Part(elements, wire)


def _index(workflow: Workflow, order: list[str], name: str) -> int:
    if name in order:
        return order.index(name)
    near = nearest(name, order)
    guess = f"; did you mean `{near}`?" if near else "."
    raise Refused("not_found", f"`{workflow.name}` has no step or loop `{name}`{guess}")


def _read_by(workflow: Workflow, elements: frozenset[str]) -> frozenset[str]:
    """What the part waits for and does not run itself."""
    graph = Graph.of(nodes_of(workflow))
    found = (
        graph.node(target).name
        for number, element in enumerate(workflow.elements)
        if element.name in elements
        for target in graph.targets(number)
    )
    return frozenset(found) - elements


def _pinned(element: Element, request: StartRequest) -> JsonObject:
    """Raises `Refused`."""
    name = element.name
    if name in request.pinned:
        return {"name": name, "output": request.pinned[name]}
    earlier = request.earlier
    if earlier is not None and (name in earlier.outputs or name in earlier.skipped):
        return _of_run(element, earlier)
    where = "this file has no earlier run" if earlier is None else f"run {earlier.run_id} has none"
    told = f"The output of `{name}` is needed, but {where}."
    hint = f"Start at `{name}` or earlier, or pass its output (`pinned`, `--pin {name}=TEXT`)."
    raise Refused("not_found", told, hint, {"names": [name]})


def _of_run(element: Element, earlier: EarlierOutputs) -> JsonObject:
    name, loop = element.name, element if isinstance(element, Loop) else element.mode
    found: JsonObject = {"name": name, "output": earlier.outputs.get(name, "")}
    if isinstance(loop, Loop):
        outputs = earlier.iterations.get(name, [])
        found["iterations"] = len(outputs)
        if loop.accumulate:
            found["accumulated"] = {loop.accumulate: joined(outputs)}
    return found
