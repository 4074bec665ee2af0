"""A workflow as its callers see it, read from its document."""

from __future__ import annotations

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.rules.engine.call_facts import Summary

#: What steps may read of the loop that ended last.
AFTERWARDS = ("loop.iteration", "loop.output", "loop.iterations", "loop.succeeded", "loop.failed")


#: What an iteration may read of those before it.
EARLIER = ("loop.last.output", "loop.history")


def summarise(document: Document) -> Summary:
    mentioned = document.mentioned()
    steps = [element for element in document.elements if element.kind == "step"]
    known = ("input", *document.names)
    return Summary(
        name=document.name or "",
        parameters=tuple(name for name in document.parameters if nearest(name, known) is None),
        reads=frozenset(name for name in mentioned if "." not in name),
        names=frozenset(
            name for name, found in document.names.items() if any(one.kind != "accumulate" for one in found)
        ),
        loop_variables=_loop_variables(document),
        last_step=steps[-1].name if steps else "",
        last_prompt=(steps[-1].prompt or None) if steps else None,
        has_tools=_has_tools(document),
    )


def taken_as(document: Document, caller: Element) -> tuple[str, ...]:
    """What a caller makes of the result of a workflow: see `Call`. The condition of a loop is not among it."""
    names = {f"{prefix}{caller.name}" for prefix in ("", "step.")}
    found = [use.slot.argument for use in caller.uses if use.name in EARLIER]
    readers = document.mentioning(caller.name)
    found += [one.name for one in readers if any(use.name in names for use in one.uses) and one is not caller]
    return tuple(dict.fromkeys(name for name in found if name))


def _loop_variables(document: Document) -> tuple[str, ...]:
    """The `loop.*` names that only a caller can supply, in order of first use."""
    found: list[str] = []
    names = [name for name in document.mentioned() if name.startswith("loop.")]
    for element in sorted({one for name in names for one in document.mentioned()[name]}, key=document.position):
        for use in element.uses:
            if use.name.startswith("loop.") and not use.slot.of_loop and use.name not in found:
                own = use.name in AFTERWARDS and document.graph.loops_before(document.position(element))
                if not own:
                    found.append(use.name)
    return tuple(found)


def _has_tools(document: Document) -> bool:
    return _names_tools(document.execution) or any(_names_tools(element.block) for element in document.elements)


def _names_tools(block: Block | None) -> bool:
    return block is not None and any(
        (field := block.get(key)) is not None and bool(field.value or field.faults) for key in ("servers", "skills")
    )
