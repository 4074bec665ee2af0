"""The questions that rules ask about a file as a whole, as plain functions of the world.

Each is asked through `rules.engine.tracked_view`, which keeps the answer. An answer has to compare equal as long as
nothing changed that a rule could notice; only answers about places may hold elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.providers import PROVIDERS, RUN_BY_NAME
from loop_ls.formats.common.typed_mapping import Block, Pair
from loop_ls.formats.settings.default_store import default_store
from loop_ls.formats.workflow.placeholder_syntax import is_name, producers
from loop_ls.index.disk import skill_files
from loop_ls.index.disk.uris import folder_of, stem_of
from loop_ls.index.document import Document
from loop_ls.index.element import Definition, Element, StrayBraces, Use
from loop_ls.index.names import NameTable
from loop_ls.index.reading import strays_of
from loop_ls.index.top_level import Top
from loop_ls.rules.engine.call_facts import Callee, Callers, Circle
from loop_ls.rules.engine.callee_summary import AFTERWARDS
from loop_ls.rules.engine.workspace_queries import Neighbours
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Node
from loop_ls.text.fault import Fault
from loop_ls.text.json_value import as_object


@dataclass(slots=True)
class QueryContext:
    """One file among others, as they are now. `errors_of` counts the errors of another workflow;
    `near` and what follows it remember answers, since many elements ask the same."""

    document: Document
    neighbours: Neighbours
    errors_of: Callable[[str], int]
    names: NameTable
    near: dict[str, str | None] = field(default_factory=dict)
    near_elements: dict[str, str | None] = field(default_factory=dict)
    readers: tuple[int, ...] | None = None
    meanings: dict[str, Known | None] = field(default_factory=dict)
    sorted_names: tuple[str, ...] | None = None


class Known(NamedTuple):
    """What a name means. `owner` is the step or loop that gives it its value: its own name, or that
    of the loop whose outputs are accumulated. `order`: its `execution_order`. `goes_on`: a loop with
    `on_failure: continue`."""

    name: str
    owner: str
    kind: Literal["step", "loop", "accumulate"]
    mode: str | None
    loop_mode: Literal["refine", "iterate"] | None
    order: int | None = None
    goes_on: bool = False


def known(world: QueryContext, name: str) -> Known | None:
    meanings = world.meanings
    if name in meanings:
        return meanings[name]
    found = world.names.get(name)
    meaning = meanings[name] = None if found is None else _known(found[0])
    return meaning


def _known(definition: Definition) -> Known:
    element = definition.element
    order = element.node.execution_order
    goes_on = element.loop is not None and element.loop.text("on_failure") == "continue"
    return Known(definition.name, element.name, definition.kind, element.mode, element.loop_mode, order, goes_on)


def places(world: QueryContext, name: str) -> tuple[Definition, ...]:
    return world.names.get(name, ())


def near_name(world: QueryContext, name: str) -> str | None:
    if name not in world.near_elements:
        world.near_elements[name] = nearest(name, filter(world.names.is_of_element, _sorted_names(world)))
    return world.near_elements[name]


def near_variable(world: QueryContext, name: str) -> str | None:
    if name not in world.near:
        # A name with braces, as of a half-typed step, cannot be written between braces.
        world.near[name] = nearest(name, ("input", *filter(is_name, _sorted_names(world))))
    return world.near[name]


def _sorted_names(world: QueryContext) -> tuple[str, ...]:
    """Of several names that are equally near the first counts, and an edit must not change which one that is. Nobody
    means a name whose signs he does not see (WF217)."""
    if world.sorted_names is None:
        world.sorted_names = tuple(name for name in sorted(world.names) if name.isprintable() and name == name.strip())
    return world.sorted_names


def is_mentioned(world: QueryContext, name: str, by_others_than: Element) -> bool:
    return any(element is not by_others_than for element in world.document.mentioned().get(name, ()))


def is_used(world: QueryContext, name: str) -> bool:
    """Whether the result of this name is read anywhere; waiting for it does not count."""
    return any(
        name in producers(use.name) for element in world.document.mentioned().get(name, ()) for use in element.uses
    )


def first_use(world: QueryContext, name: str) -> tuple[Element, Use] | None:
    return world.document.first_use(name)


def only_in_until(world: QueryContext, name: str) -> bool:
    uses = (use for element in world.document.mentioning(name) for use in element.uses if use.name == name)
    return all(use.slot.kind == "until" for use in uses)


def users(world: QueryContext, name: str) -> tuple[Element, ...]:
    return world.document.mentioning(name)


def parameters(world: QueryContext) -> tuple[str, ...]:
    return world.document.parameters


def faults(world: QueryContext) -> tuple[Fault, ...]:
    return world.document.tree.faults


def root_kind(world: QueryContext) -> str:
    return world.document.tree.root_kind


# -- head -----------------------------------------------------------------------------------------


def top(world: QueryContext, name: str) -> Top | None:
    return world.document.head.get(name)


def tops(world: QueryContext) -> tuple[Top, ...]:
    return world.document.head.tops


def expects(world: QueryContext, name: str) -> bool:
    return world.document.head.meant(name)


def has_entries(world: QueryContext) -> bool:
    return world.document.has_entries()


def odd_items(world: QueryContext) -> tuple[tuple[Piece, Node], ...]:
    return tuple((piece, fault.node) for piece, facts in world.document.facts() for fault in facts.faults)


def blank_items(world: QueryContext) -> tuple[Piece, ...]:
    return tuple(piece for piece, facts in world.document.facts() if facts.blank and piece.kind == "item")


def empty_sections(world: QueryContext) -> tuple[Top, ...]:
    pieces = tuple(world.document.facts())
    tops = (
        facts.top
        for (piece, facts), following in zip_longest(pieces, pieces[1:])
        if piece.kind == "head" and piece.node is None and (following is None or following[0].kind != "item")
    )
    return tuple(filter(None, tops))


def stem(world: QueryContext) -> str | None:
    return stem_of(world.document.path) if world.document.uri.startswith("file:") else None


def default(world: QueryContext, name: str) -> Any:
    block = world.document.execution
    field = None if block is None else block.get(name)
    if field is None:
        return None
    return bool(field.value) if isinstance(field.value, tuple) else field.value


def has_env(world: QueryContext, name: str) -> bool:
    """Whether `env` has a constant. Of one that is no mapping nobody knows what it was to hold."""
    return name in world.document.env or is_env_unread(world.document)


def is_env_unread(document: Document) -> bool:
    """Whether the value of `env` is no mapping."""
    top = document.head.get("env")
    return top is not None and top.field is not None and any(one.node is top.field.node for one in top.field.faults)


def near_env(world: QueryContext, name: str) -> str | None:
    return nearest(name, sorted(world.document.env))


def settles_models(world: QueryContext) -> bool:
    block = world.document.execution
    return block is not None and _has(block, "provider") and _has(block, "model")


def without_model(world: QueryContext) -> tuple[tuple[Element, tuple[str, ...]], ...]:
    execution = world.document.execution
    chain = execution is not None and _has(execution, "providers")
    found = []
    for element in world.document.elements:
        if element.mode == "embeddings" or (element.mode == "run" and not chain):
            lacking = _lacking(world, element, execution)
            if lacking:
                found.append((element, lacking))
    return tuple(found)


def _lacking(world: QueryContext, element: Element, execution: Block | None) -> tuple[str, ...]:
    """`embeddings` take each half from the nearest place that has it, and know no chain."""
    blocks = [element.block, *([execution] if execution is not None else [])]
    if element.mode == "embeddings":
        blocks = [*(block for block in (element.block.block("embeddings"),) if block is not None), *blocks]
        lacking = tuple(key for key in ("provider", "model") if not any(_has(block, key) for block in blocks))
        provider = next((text for block in blocks if (text := block.text("provider"))), "")
        return () if embeds_without_model(world, provider) else lacking
    if _has(element.block, "providers"):
        return ()
    return tuple(key for key in ("provider", "model") if not any(_has(block, key) for block in blocks))


def _has(block: Block, key: str) -> bool:
    """Whether a value is there; a faulty one counts, and so does a misspelt key."""
    field = block.get(key)
    if field is None:
        return block.meant(key)
    return bool(field.value) or bool(field.faults)


def chain(world: QueryContext) -> tuple[str, ...]:
    block = world.document.execution
    if block is None:
        return ()
    texts = [link.text("provider") for link in block.blocks("providers")] or [block.text("provider")]
    return tuple(filter(None, texts))


def providers_that_inherit_temperature(world: QueryContext) -> tuple[str, ...]:
    found: list[str | None] = []
    for element in world.document.elements:
        if not element.block.has("temperature"):
            found += [link.text("provider") for link in element.block.blocks("providers")]
            found += [element.block.text("provider"), *votes_without_temperature(element.block)]
    return tuple(dict.fromkeys(filter(None, found)))


def votes_without_temperature(step: Block) -> tuple[str, ...]:
    """The providers of a consensus that take the temperature of their step."""
    consensus = step.block("consensus")
    votes = consensus.blocks("executions") if consensus is not None else ()
    return tuple(vote.text("provider") or "" for vote in votes if not vote.has("temperature"))


def strays(world: QueryContext, name: str) -> tuple[StrayBraces, ...]:
    found = world.document.head.get(name)
    return () if found is None or found.field is None else tuple(strays_of(found.field, found.piece.lines))


def constants(world: QueryContext) -> tuple[Pair, ...]:
    return tuple(world.document.env.values())


def is_read(world: QueryContext, name: str) -> bool:
    """`{{env.KEY.part}}` is a fault of its own (WF503) and a use of `env.KEY` all the same."""
    mentioned = world.document.mentioned()
    return name in mentioned or any(one.startswith(f"{name}.") for one in mentioned)


def misspelt_constants(world: QueryContext) -> frozenset[str]:
    """The constants that unknown ones are taken for (WF511): a slip is no sign that nobody reads them."""
    env = world.document.env
    unknown = (name.removeprefix("env.") for name in world.document.mentioned() if name.startswith("env."))
    return frozenset(near for name in unknown if name not in env and (near := near_env(world, name)) is not None)


def is_provider(world: QueryContext, name: str) -> bool:
    return name in PROVIDERS or name in RUN_BY_NAME or name in world.neighbours.workspace.settings.providers


def provider_names(world: QueryContext) -> tuple[str, ...]:
    return (*world.neighbours.workspace.settings.providers, *PROVIDERS, *RUN_BY_NAME)


def judge_is_local(world: QueryContext) -> bool:
    return world.neighbours.workspace.settings.judge_locally


def judge_has_model(world: QueryContext) -> bool:
    return world.neighbours.workspace.settings.judge is not None


def has_default_store(world: QueryContext) -> bool:
    return bool(default_store(as_object(world.neighbours.workspace.settings.raw.get("rag"))))


def has_server(world: QueryContext, name: str) -> bool:
    return name in world.neighbours.workspace.settings.servers


def most_iterations(world: QueryContext) -> int | None:
    return world.neighbours.workspace.settings.limits.max_iterations


def embeds_without_model(world: QueryContext, provider: str) -> bool:
    """Whether the settings say which model of a provider makes vectors."""
    raw = (world.neighbours.workspace.settings.raw.get("providers") or {}).get(provider) or {}
    return any(isinstance(raw.get(key), str) and raw[key] for key in ("embeddingModel", "defaultModel"))


def models_of(world: QueryContext, provider: str) -> tuple[str, ...]:
    known = world.neighbours.workspace.settings.providers.get(provider)
    return () if known is None else known.models


# -- order ----------------------------------------------------------------------------------------


def depends_explicitly(world: QueryContext, element: Element, name: str) -> bool:
    graph = world.document.graph
    on = graph.index(name)
    return on is not None and graph.depends_explicitly(world.document.position(element), on)


def waits_for(world: QueryContext, name: str, element: Element) -> bool:
    graph = world.document.graph
    index = graph.index(name)
    return index is not None and graph.depends(index, world.document.position(element))


def loops_before(world: QueryContext, element: Element) -> tuple[Known, ...]:
    document = world.document
    loops = (document.elements[i] for i in document.graph.loops_before(document.position(element)))
    return tuple(Known(one.name, one.name, one.kind, "loop", one.loop_mode) for one in loops)


def third_loop(world: QueryContext, element: Element) -> str | None:
    document = world.document
    index = document.graph.third(document.position(element))
    return None if index is None else document.elements[index].name


def loop_is_read(world: QueryContext, loop: Element) -> bool:
    document = world.document
    readers = _readers_of_loops(world)
    if not readers:
        return False
    index = document.position(loop)
    return any(document.graph.depends(reader, index) for reader in readers)


def _readers_of_loops(world: QueryContext) -> tuple[int, ...]:
    """The positions of the elements that use what a loop leaves behind."""
    if world.readers is None:
        document = world.document
        mentioned = document.mentioned()
        found = {one for name in AFTERWARDS for one in mentioned.get(name, ())}
        world.readers = tuple(
            document.position(one)
            for one in found
            if any(use.name in AFTERWARDS and not use.slot.of_loop for use in one.uses)
        )
    return world.readers


def cycles(world: QueryContext) -> tuple[tuple[Element, ...], ...]:
    document = world.document
    return tuple(tuple(document.elements[i] for i in cycle) for cycle in document.graph.cycles)


def gives_result(world: QueryContext, element: Element) -> bool:
    return last_step(world.document.elements) is element


def last_step(elements: Sequence[Element]) -> Element | None:
    """The element that gives the result. Looked for from the end: that costs the same in a long file."""
    return next((one for one in reversed(elements) if one.kind == "step"), elements[-1] if elements else None)


def has_steps(world: QueryContext) -> bool:
    return any(element.kind == "step" for element in world.document.elements)


# -- other files ----------------------------------------------------------------------------------


def callee(world: QueryContext, reference: str) -> Callee:
    return world.neighbours.callee(world.document, reference)


def errors_of(world: QueryContext, key: str) -> int:
    return world.errors_of(key)


def callers(world: QueryContext) -> Callers:
    return world.neighbours.callers(world.document)


def circle(world: QueryContext, element: Element) -> Circle | None:
    return world.neighbours.circle(world.document, element)


def innermost_runs(world: QueryContext, element: Element) -> int | None:
    return world.neighbours.innermost_runs(world.document, element)


def twin(world: QueryContext) -> str | None:
    return world.neighbours.twin(world.document)


def lacks_skill(world: QueryContext, name: str) -> bool:
    """False for a text that is no file yet: it has no workspace."""
    root = Path(world.neighbours.workspace.roots.workspace)
    return world.document.uri.startswith("file:") and skill_files.lacks_skill(root, name)


def file_exists(world: QueryContext, path: str) -> bool:
    """True for whatever cannot be looked up: a text that is no file yet, a path out of the workspace."""
    if not world.document.uri.startswith("file:"):
        return True
    bases = (folder_of(world.document.path), world.neighbours.workspace.roots.workspace)
    try:
        return any(Path(base, path).exists() for base in bases)
    except (OSError, ValueError):
        return True
