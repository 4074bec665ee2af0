"""Keys under `with`: the parameters of the called workflow that are not supplied yet.

A value that fits is put in where a variable in scope has a fitting name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.contract.amounts import count
from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.items.variables import fitting
from loop_ls.features.complete.quoting import literal
from loop_ls.features.complete.render import Pairs, flow_mapping, mapping, without_stops
from loop_ls.features.complete.request import Request
from loop_ls.features.spot.place import Written
from loop_ls.index.document import Document


def arguments(request: Request) -> Iterator[Item]:
    """What the callee reads and this call does not give it."""
    spot = request.spot
    call = spot.outer[0] if spot.outer else {}
    callee = request.workspace.callee(request.document, reference_of(request, call))
    if callee is None:
        return
    names = missing(callee, spot.written, call.get("mode") == "iterate")
    where = f"parameter of {callee.name}"
    if spot.colon:
        for place, name in enumerate(names):
            yield Item(
                name, ItemKind.PARAMETER, spot.lead + name, None, where, f"{place:03}", about=_about(callee, name)
            )
        return
    if len(names) > 1:
        label = f"all {count(len(names), 'parameter')}"
        text = _written(request, [_pair(request, name, number) for number, name in enumerate(names, 1)])
        yield Item(
            label,
            ItemKind.SNIPPET,
            spot.lead + without_stops(text),
            spot.lead + text,
            where,
            "000",
            filter=" ".join(names),
        )
    for place, name in enumerate(names, 1):
        text = _written(request, [_pair(request, name, 1)])
        yield Item(
            name,
            ItemKind.PARAMETER,
            spot.lead + without_stops(text),
            spot.lead + text,
            where,
            f"{place:03}",
            about=_about(callee, name),
        )


def reference_of(request: Request, call: Written) -> str:
    """The reference written beside `with`."""
    template = request.spot.path[-2:-1] == ("template",)
    return call.get("name" if template else "workflow", "")


def missing(callee: Document, given: Written, iterates: bool) -> list[str]:
    """Parameters in order of use, then `input` where the callee reads it and would not get it otherwise."""
    names = [name for name in callee.parameters if name not in given and not (iterates and name == "item")]
    if callee.mentioning("input") and "input" not in given and not iterates:
        names.append("input")
    return names


def _pair(request: Request, name: str, number: int) -> tuple[str, str]:
    variable = fitting(request, name)
    value = f'"{{{{${{{number}:{literal(variable)}}}\\}}\\}}"' if variable else f'"${number}"'
    return literal(name), value


def _written(request: Request, pairs: Sequence[tuple[str, str]]) -> str:
    entries: Pairs = list(pairs)
    if request.spot.flow:
        return flow_mapping(entries)[1:-1]
    return mapping(entries, request.spot.column, request.style)


def _about(callee: Document, name: str) -> tuple[str, ...]:
    return ("parameter", callee.uri, name)
