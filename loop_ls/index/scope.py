"""Which variables exist at a place of a file, and what each of them is.

Two questions: everything that exists (`scope_at`, for completion), and what one name is there
(`look_up`, for rules and hover). Both answer with the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from loop_ls.formats.workflow.placeholder_syntax import RAG_PARTS, RESERVED
from loop_ls.index.document import Document
from loop_ls.index.element import Definition, Element, Slot
from loop_ls.index.loop_variables import ALIASES, LoopVariable, Where, variables_of
from loop_ls.index.workspace import Call, Workspace
from loop_ls.text.markdown import code
from loop_ls.text.record import equal_record

Kind = Literal["input", "env", "result", "accumulate", "rag", "argument", "item", "loop"]


class Variable(NamedTuple):
    """One variable at one place. `meaning` (Markdown) completes "is ...". `first` is its value in iteration 1
    as people would write it, None where it is not fixed. `element` produces it; `callers` supply an
    argument. `waits`: the place does not depend on the producer yet, and will if it uses this."""

    name: str
    kind: Kind
    meaning: str
    element: Element | None = None
    definition: Definition | None = None
    first: str | None = None
    can_be_empty: bool = False
    waits: bool = False
    callers: tuple[Call, ...] = ()
    alias_of: str | None = None


@equal_record
class Scope:
    """Where a variable is used: in which element, and whether in a field of its loop (`in_loop`)."""

    workspace: Workspace
    document: Document
    element: Element | None
    in_loop: Literal["with", "items", "until"] | None = None

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """Everything that exists here, best first: arguments and input, loop variables, results of
        elements this one waits for, then results that it could wait for, constants last."""
        listed = [*self._loop_variables(), self._input(), *self._arguments()]
        results = sorted(self._results(), key=lambda variable: variable.waits)
        return {variable.name: variable for variable in (*listed, *results, *self._constants())}

    def look_up(self, name: str) -> Variable | None:
        """What a name is here, `step.x` and aliases included; None where it does not exist."""
        if name == "input":
            return self._input()
        head, _, rest = name.partition(".")
        definition = self.document.definition(name)
        if definition is None and head == "step" and rest:
            definition = self.document.definition(rest)
        if definition is not None:
            return self._result(definition, name)
        if head == "env":
            return self._constant(rest) if rest in self.document.env else None
        if head == "loop":
            return self._loop_variable(name)
        return self._part_of_rag(name) or self._argument(name)

    # -- what the file itself has -----------------------------------------------------------------

    def _input(self) -> Variable:
        key = self.workspace.key(self.document)
        called = bool(self._callers) if key is not None else False
        meaning = "passed by the caller" if called else "input of this workflow"
        return Variable("input", "input", meaning, can_be_empty=True, callers=self._callers)

    def _constants(self) -> Iterator[Variable]:
        for key in self.document.env:
            yield self._constant(key)

    def _constant(self, key: str) -> Variable:
        pair = self.document.env[key]
        return Variable(f"env.{key}", "env", f"the constant {code(pair.text or '')} of this file")

    def _results(self) -> Iterator[Variable]:
        for found in self.document.names.values():
            definition = found[0]
            if definition.element is self.element or definition.name in RESERVED:
                continue
            variable = self._result(definition, definition.name)
            if not (variable.waits and self._waited_for_by(definition.element)):
                yield variable
                if definition.kind == "step" and definition.element.mode == "rag":
                    yield from self._parts_of_rag(definition, variable.waits)

    def _result(self, definition: Definition, name: str) -> Variable:
        element = definition.element
        kind: Kind = "accumulate" if definition.kind == "accumulate" else "result"
        return Variable(
            name,
            kind,
            _meaning(definition),
            element,
            definition,
            can_be_empty=_can_be_empty(element),
            waits=self._waits_for(element),
        )

    def _parts_of_rag(self, definition: Definition, waits: bool) -> Iterator[Variable]:
        meanings = {
            "results": "the hits as JSON",
            "total_results": "the number of hits",
            "fusion_method": "how the hits were ranked",
        }
        for part in sorted(RAG_PARTS):
            name = f"{definition.name}.{part}"
            meaning = f"{meanings[part]}, from step {code(definition.name)}"
            yield Variable(name, "rag", meaning, definition.element, definition, waits=waits)

    def _part_of_rag(self, name: str) -> Variable | None:
        owner, _, part = name.rpartition(".")
        definition = self.document.definition(owner) if part in RAG_PARTS else None
        if definition is None or definition.kind != "step" or definition.element.mode != "rag":
            return None
        waits = self._waits_for(definition.element)
        return next(v for v in self._parts_of_rag(definition, waits) if v.name == name)

    # -- what callers bring -----------------------------------------------------------------------

    @cached_property
    def _callers(self) -> tuple[Call, ...]:
        return self.workspace.callers(self.document)

    def _arguments(self) -> Iterator[Variable]:
        """The names that this file uses as parameters, and those that a caller supplies."""
        names = dict.fromkeys(self.document.parameters)
        for call in self._callers:
            names.update(dict.fromkeys(pair.name for pair in call.reference.arguments or ()))
            if call.reference.iterates:
                names.setdefault("item")
        for name in names:
            if name not in RESERVED and name not in self.document.names and "." not in name:
                yield self._named_argument(name)

    def _argument(self, name: str) -> Variable | None:
        """A name is an argument if a caller supplies it; mere use makes a parameter, no variable."""
        if "." in name or name in RESERVED:
            return None
        found = self._named_argument(name)
        return found if found.callers else None

    def _named_argument(self, name: str) -> Variable:
        callers = tuple(call for call in self._callers if call.reference.supplies(name))
        if name == "item" and callers and all(call.reference.iterates for call in callers):
            return Variable(name, "item", "the current item of the calling loop", callers=callers)
        whom = f"from {_listed(callers)}" if callers else "that callers must pass"
        return Variable(name, "argument", f"an argument {whom}", callers=callers, can_be_empty=True)

    # -- loop variables ---------------------------------------------------------------------------

    @cached_property
    def loop_places(self) -> tuple[tuple[Literal["refine", "iterate"], Where, Element | None], ...]:
        """The loops whose variables exist here: mode, in which role, and the loop if it is in this file."""
        element = self.element
        if self.in_loop is not None and element is not None:
            mode = element.loop_mode
            return () if mode is None else ((mode, self.in_loop, element),)
        modes = {call.element.loop_mode for call in self._callers if call.reference.kind == "loop"}
        after = self._loops_before() or (() if modes - {None} else self._loop_above())
        places: list[tuple[Literal["refine", "iterate"], Where, Element | None]] = []
        places += [(loop.loop_mode, "after", loop) for loop in after if loop.loop_mode is not None]
        if not places:
            both: tuple[Literal["refine", "iterate"], ...] = ("refine", "iterate")
            places += [(mode, "callee", None) for mode in both if mode in modes]
        return tuple(places)

    def _loops_before(self) -> tuple[Element, ...]:
        if self.element is None or self.element.kind == "loop":
            return ()
        before = self.document.graph.loops_before(self.document.position(self.element))
        return tuple(self.document.elements[i] for i in before)

    def _loop_above(self) -> tuple[Element, ...]:
        """The loop that a step would wait for if it used `loop.iteration` (WB_056)."""
        if self.element is None or self.element.kind == "loop":
            return ()
        above = reversed(self.document.elements[: self.document.position(self.element)])
        return tuple(one for one in above if one.kind == "loop")[:1]

    def _loop_variables(self) -> Iterator[Variable]:
        seen: set[str] = set()
        for mode, where, loop in self.loop_places:
            for variable in variables_of(mode, where):
                if variable.name not in seen:
                    seen.add(variable.name)
                    yield _loop_variable(variable, where, loop)

    def _loop_variable(self, name: str) -> Variable | None:
        found = {variable.name: variable for variable in self._loop_variables()}
        if name in found:
            return found[name]
        real = found.get(ALIASES.get(name, ""))
        return None if real is None else real._replace(name=name, alias_of=real.name)

    # -- waiting ----------------------------------------------------------------------------------

    def _waits_for(self, element: Element) -> bool:
        """Whether this place would have to begin to wait for an element."""
        if self.element is None or element is self.element:
            return False
        position = self.document.position
        return not self.document.graph.depends(position(self.element), position(element))

    def _waited_for_by(self, element: Element) -> bool:
        """Whether an element waits for this place, so that using it would close a circle."""
        if self.element is None:
            return False
        position = self.document.position
        return self.document.graph.depends(position(element), position(self.element))


def scope_at(
    workspace: Workspace, document: Document, element: Element | None, slot: Slot | str | None = None
) -> Scope:
    """The scope of a field: of a slot, or of a key (`run`, `with`, `until`, ...) that may be half typed.

    `with`, `items` and `until` mean those of the element's loop if it has one.
    """
    kind = slot.kind if isinstance(slot, Slot) else slot
    inside = slot.of_loop if isinstance(slot, Slot) else element is not None and element.loop is not None
    if not inside or element is None:
        return Scope(workspace, document, element)
    match kind:
        case "with" | "items" | "until":
            return Scope(workspace, document, element, kind)
        case _:
            return Scope(workspace, document, element)


def look_up(workspace: Workspace, document: Document, element: Element, slot: Slot | str, name: str) -> Variable | None:
    """What one name is in one field; None where it does not exist there."""
    return scope_at(workspace, document, element, slot).look_up(name)


def _loop_variable(variable: LoopVariable, where: Where, loop: Element | None) -> Variable:
    first = None if where == "after" else variable.first
    if where == "until" and variable.name in ("loop.output", "loop.history"):
        first = None
    empty = first == "" or where == "after"
    meaning = variable.meanings[where]
    if where == "after" and loop is not None and loop.name:
        meaning = f"{meaning} ({code(loop.name)})"
    return Variable(variable.name, "loop", meaning, loop, first=first, can_be_empty=empty)


def _meaning(definition: Definition) -> str:
    element, name = definition.element, definition.element.name
    if definition.kind == "accumulate":
        return f"the outputs of all iterations of loop {code(name)}, joined by ---"
    if element.loop is not None:
        return f"the final output of loop {code(name)}"
    return f"the result of step {code(name)}"


def _can_be_empty(element: Element) -> bool:
    """Whether the result may be empty text: skipped, or failed and told to go on."""
    blocks = (element.block, element.loop)
    return element.block.has("if") or any(b is not None and b.text("on_failure") == "continue" for b in blocks)


def _listed(callers: tuple[Call, ...]) -> str:
    names = dict.fromkeys(call.document.name or "?" for call in callers)
    listed = ", ".join(code(name) for name in list(names)[:3])
    return listed if len(names) <= 3 else f"{listed} and {len(names) - 3} more"
