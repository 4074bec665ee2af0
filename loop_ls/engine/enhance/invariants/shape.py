"""Effective elements: what a step or loop comes to once inheritance is resolved, in a form that compares.

How a file is written does not matter here: a value that is inherited equals the same value written out.
"""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.workflow.condition import Condition, parse_condition
from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.document import Document
from loop_ls.index.effective import Models, effective
from loop_ls.index.element import Element, Use

#: Slots that decide whether and how long something runs; what they read does not flow into a result.
_CONTROL = frozenset({"if", "until"})
#: Modes that send a prompt, which may be worked on with tools.
PROMPTS = frozenset({"run", "consensus"})
#: How hard a failure stops the workflow: a higher rank hides more.
POLICY_RANK = {"halt": 0, "retry": 1, "continue": 2}

Texts = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """`texts` are all texts with placeholders as (slot, argument, text), without `if`. `rest` are the other
    keys of the element and of the block of its mode, as written, without what has a field of its own."""

    kind: str
    mode: str | None
    texts: Texts
    condition: Condition | None
    policy: str
    retries: int
    temperature: float
    max_tokens: int | None
    timeout: float | None
    tool_rounds: int
    servers: tuple[str, ...]
    skills: tuple[str, ...]
    models: Models
    callee: str
    until: str
    rate: float
    iterations: int | None
    arguments: Texts

    @property
    def primary(self) -> tuple[str | None, str | None]:
        return (self.models.provider, self.models.model)

    @property
    def question(self) -> tuple[object, ...]:
        """What is asked and how: the texts and the generation, not the limits."""
        return (self.mode, self.texts, self.arguments, self.primary, self.temperature, self.max_tokens, self.skills)

    @property
    def prompt(self) -> str:
        """All texts but the condition of a loop."""
        return "\n".join(text for kind, _, text in self.texts if kind != "until")


def shape_of(document: Document, element: Element) -> Shape:
    now = effective(document, element)
    loop, reference = element.loop, element.reference
    condition = element.block.text("if") if element.kind == "step" else None
    texts = tuple((slot.kind, slot.argument or "", slot.scalar.text) for slot in element.slots if slot.kind != "if")
    given = () if reference is None else reference.arguments or ()
    arguments = tuple(("with", one.name, str(plain(one.node))) for one in given)
    return Shape(
        kind=element.kind,
        mode=element.mode,
        texts=texts,
        condition=None if condition is None else parse_condition(condition),
        policy=now.on_failure.value,
        retries=now.max_retries.value,
        temperature=now.temperature.value,
        max_tokens=now.max_tokens.value,
        timeout=now.timeout.value,
        tool_rounds=now.max_iterations.value,
        servers=now.servers.value,
        skills=now.skills.value,
        models=now.models._replace(source="built-in", halves=("built-in", "built-in"), ignored=None),
        callee="" if reference is None else reference.text,
        until="" if loop is None else loop.text("until") or "",
        rate=0.0 if loop is None else loop.number("min_success_rate") or 0.0,
        iterations=None if loop is None else loop.integer("max_iterations"),
        arguments=arguments,
    )


def tail(document: Document) -> tuple[tuple[str, str | None], ...]:
    """Who gives the result: the last listed step back to the first that always runs; without steps the
    last loop."""
    if not document.steps:
        return tuple((one.name, one.mode) for one in document.elements[-1:])
    found: list[tuple[str, str | None]] = []
    for element in reversed(document.steps):
        found.append((element.name, element.mode))
        if not element.block.has("if"):
            break
    return tuple(found)


def reads(document: Document, element: Element) -> frozenset[str]:
    """What an element takes in through placeholders: elements by name, other variables as written."""
    found = set[str]()
    for use in element.uses:
        if use.slot.kind not in _CONTROL:
            found.update(comes_from(document, element, use))
    return frozenset(found)


def comes_from(document: Document, element: Element, use: Use) -> tuple[str, ...]:
    """What a use takes in: the elements that its variable comes from, else the variable itself."""
    if is_of_last_loop(use) and (loops := last_loops(document, element)):
        return loops
    return source_of(document, use.name)


def is_of_last_loop(use: Use) -> bool:
    """Whether it is about `loop.*` of whichever loop has ended last, or of the one that calls the workflow."""
    return use.path[0] == "loop" and not use.slot.of_loop


def last_loops(document: Document, element: Element) -> tuple[str, ...]:
    """The loop that has ended last before an element starts, with the ones before it as long as its `if` may skip it;
    empty where none runs before it in this file."""
    graph, position = document.graph, document.position(element)
    parallel = document.execution is not None and document.execution.flag("parallel")
    order = graph.order()
    before = [one for one in (order[: order.index(position)] if position in order else ()) if graph.node(one).loops]
    if parallel:
        before = [one for one in before if one in graph.dependencies(position)]
    found: list[str] = []
    for one in reversed(before):
        found.append(document.elements[one].name)
        if not document.elements[one].block.has("if"):
            break
    return tuple(found)


def source_of(document: Document, name: str) -> tuple[str, ...]:
    """The elements that a variable comes from, else the variable itself."""
    definition = document.definition(name)
    if definition is not None:
        return (definition.element.name,)
    return tuple(one for one in producers(name) if document.element(one) is not None)[:1] or (name,)


def reaches(document: Document, name: str, stops: frozenset[str] = frozenset()) -> frozenset[str]:
    """All that flows into an element, through as many others as it takes, but not through `stops`."""
    found, waiting = set[str](), [name]
    while waiting:
        element = document.element(waiting.pop())
        if element is not None:
            fresh = reads(document, element) - found
            found |= fresh
            waiting.extend(fresh - stops)
    return frozenset(found)


def waits_for(document: Document, name: str) -> frozenset[str]:
    """All that has to be finished before an element starts, by `needs` and by what it reads."""
    element = document.element(name)
    if element is None:
        return frozenset()
    before = document.graph.dependencies(document.position(element))
    return frozenset(document.elements[one].name for one in before)
