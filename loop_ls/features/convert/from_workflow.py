"""A refine loop of a workflow, with the workflow it calls, as the gist of a loop."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from loop_ls.features.convert.gist import Gist, NoConversion, Parameter, Part, Prompt, Ref
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.workflow.placeholder_syntax import PLACEHOLDER
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.syntax.yaml.comments import has_comments

_LOOP = frozenset(("name", "workflow", "mode", "with", "max_iterations", "until", "needs"))
_STEP = frozenset(("name", "needs", "run", "loop"))
_EXECUTION = frozenset(("provider", "model"))
_BEFORE = ("loop.last.output", "loop.output")


def from_workflow(workspace: Workspace, document: Document, name: str | None = None) -> Gist:
    """Raises `NoConversion`. `name`: which loop, where there are several."""
    element = _chosen(document, name)
    loop = element.loop
    callee = workspace.callee(document, element.reference)
    if loop is None or callee is None:
        raise NoConversion(f"loop `{element.name}` calls an unknown workflow")
    for where in (document, callee):
        if isinstance(read := read_workflow(where.text), list):
            raise NoConversion(f"{where.path} has an error; fix it first: {read[0].message}")
    reader = _Reader(document, element, callee)
    parts = reader.parts()
    limit = _limit(document, element, reader)
    if not parts:
        raise NoConversion(f"`{callee.name}` has no `run` step that could become a stage")
    until = tuple(reader.asked(loop.text("until") or "")) if element.loop_mode == "refine" else None
    lost = [*reader.lost, *_around(document, element), *_keys(document, callee, loop, element)]
    execution = callee.execution or document.execution
    description = document.head.text("description")
    return Gist(
        name=element.name or document.name or "loop",
        description=description or f"Repeats {callee.name} until it is done.",
        parts=parts,
        until=until,
        limit=limit,
        parameters=tuple(reader.parameters.values()),
        provider=execution.text("provider") if execution is not None else None,
        model=execution.text("model") if execution is not None else None,
        lost=tuple(dict.fromkeys(lost)),
    )


def _chosen(document: Document, name: str | None) -> Element:
    loops = [one for one in document.elements if one.loop is not None]
    if name is not None:
        loops = [one for one in loops if one.name == name]
    if len(loops) == 1:
        return loops[0]
    if not loops:
        raise NoConversion(f"there is no loop `{name}`" if name else f"{document.name or 'the file'} has no loop")
    names = ", ".join(f"`{one.name}`" for one in loops)
    raise NoConversion(f"several loops found: {names}; choose one with --loop")


def _limit(document: Document, element: Element, reader: _Reader) -> int:
    """How many iterations there are at most. A list counts where nothing asks what stands in it."""
    loop = element.loop
    limit = (loop.integer("max_iterations") if loop is not None else None) or 0
    if element.loop_mode == "refine":
        if limit < 1:
            reader.lost.append("the missing limit (1 is used instead)")
        return max(limit, 1)
    items = loop.text("items") if loop is not None else None
    number = count_of_items(_text(document, items or ""))
    if element.loop_mode != "iterate" or number is None or reader.uses_items:
        raise NoConversion(f"loop `{element.name}` iterates over a list, which only workflows support")
    reader.lost.append(f"the list of {number} items, which no prompt uses (only their number is kept)")
    return min(number, limit) if limit else number


def count_of_items(text: str) -> int | None:
    """How many items a list has that stands in the file; None where only a run can tell."""
    if "{{" in text or text.startswith("file://"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return sum(1 for line in text.splitlines() if line.strip()) or None
    return len(value) or None if isinstance(value, list) else 1


def _text(document: Document, written: str) -> str:
    """A text with the constants of its file in place."""
    return "".join(piece if isinstance(piece, str) else "" for piece in _constants(document, written))


def _constants(document: Document, written: str) -> Iterator[str]:
    env = {f"env.{key}": pair.text or "" for key, pair in document.env.items()}
    yield PLACEHOLDER.sub(lambda found: env.get(found[1], found[0]), written)


class _Reader:
    """Reads the steps of the called workflow; remembers parameters and what has no place."""

    def __init__(self, document: Document, element: Element, callee: Document) -> None:
        self.document, self.element, self.callee = document, element, callee
        self.parameters: dict[str, Parameter] = {}
        self.lost: list[str] = []
        reference = element.reference
        self.arguments = {p.name: p.text or "" for p in (reference.arguments or () if reference else ())}
        self.names = {one.name for one in callee.elements if one.mode == "run"}
        self.uses_items = False

    def parts(self) -> tuple[Part, ...]:
        found = []
        for number in self.callee.graph.order():
            step = self.callee.elements[number]
            if step.mode != "run":
                self.lost.append(f"`{step.name}` of {self.callee.name} (a {step.mode} step cannot be part of a round)")
                continue
            written = _text(self.callee, step.block.text("run") or "")
            found.append(Part(step.name, tuple(self._pieces(written, 0)), role_for(step.name)))
            self.lost += [f"`if` of `{step.name}` (every part runs)"] if step.block.has("if") else []
        return tuple(found)

    def asked(self, until: str) -> Iterator[str | Ref]:
        """The condition. What it puts in of the output is what the judge looks at anyway."""
        return self._pieces(_text(self.document, until), 2)

    def _pieces(self, written: str, depth: int) -> Iterator[str | Ref]:
        """`depth`: 0 in the called workflow, 1 in the arguments of the call, 2 in its condition."""
        at = 0
        for found in PLACEHOLDER.finditer(written):
            yield written[at : found.start()]
            yield from self._piece(found[1], depth)
            at = found.end()
        yield written[at:]

    def _piece(self, name: str, depth: int) -> Prompt:
        plain = name.removeprefix("step.")
        if depth == 0 and plain in self.names:
            return (Ref("part", plain),)
        if name in _BEFORE:
            return (Ref("before"),)
        if name == "loop.history":
            self.lost.append("`{{loop.history}}` (only the outcome of the previous round is known)")
            return (Ref("before"),)
        if name == "loop.iteration":
            self.lost.append("`{{loop.iteration}}`, the number of the round")
            return ("of this round",)
        if name.startswith("loop.") or (name == "item" and self.element.loop_mode == "iterate"):
            self.uses_items = True
        if depth == 0 and name in self.arguments:
            return tuple(self._pieces(_text(self.document, self.arguments[name]), 1))
        if name == "input":
            return (Ref("goal"),)
        if depth == 2 and self.document.element(plain) is not None:
            self.lost.append(f"`{{{{{name}}}}}` in the condition")
            return (f"({plain})",)
        if depth == 1 and self.document.element(plain) is not None:
            self.lost.append(f"`{plain}`, which runs before the loop (add its result to the goal)")
            return (Ref("goal"),)
        return (self._parameter(name),)

    def _parameter(self, name: str) -> str | Ref:
        if "." in name:
            self.lost.append(f"`{{{{{name}}}}}` (no equivalent)")
            return f"({name})"
        self.parameters.setdefault(name, Parameter(name, f"Value of {name}."))
        return Ref("parameter", name)


def role_for(name: str) -> str:
    """A built-in role for a step, by what its name says."""
    words = name.lower().replace("-", "_").split("_")
    table = {"plan": "plan", "outline": "plan", "explore": "explorer", "research": "explorer"}
    if any(word.startswith(("review", "check", "judg", "critic", "verify", "evaluat")) for word in words):
        return "reviewer"
    return next((table[word] for word in words if word in table), "assistant")


def _around(document: Document, element: Element) -> Iterable[str]:
    for one in document.elements:
        if one is not element:
            yield f"{one.kind} `{one.name}` (only the loop itself is converted)"


def _keys(document: Document, callee: Document, loop: Block, element: Element) -> Iterable[str]:
    counts = element.loop_mode == "iterate"
    yield from (f"`{key}` of the loop" for key in loop.fields if key not in _LOOP and not (counts and key == "items"))
    if element.block is not loop:
        yield from (f"`{key}` of the loop" for key in element.block.fields if key not in _STEP)
    for where in (document, callee):
        yield from _of_file(where)
    if document.head.text("description") and callee.head.text("description"):
        yield f"`description` of {callee.name}"
    for step in callee.steps:
        if step.mode == "run":
            yield from (f"`{key}` of step `{step.name}`" for key in step.block.fields if key not in {*_STEP, "if"})
    own, called = document.execution, callee.execution
    if own is not None and called is not None:
        yield from (
            f"`execution.{key}` of {document.name}"
            for key in sorted(_EXECUTION)
            if own.text(key) not in (None, called.text(key))
        )


def _of_file(where: Document) -> Iterable[str]:
    if where.execution is not None:
        yield from (f"`execution.{key}` of {where.name}" for key in where.execution.fields if key not in _EXECUTION)
    for name, pair in where.env.items():
        if "${" in (pair.text or ""):
            yield f"`{name}` of {where.name}, which reads the environment (it is kept as text)"
    if has_comments(where.text):
        yield f"the comments of {where.name}"
