"""The prompt of a step becomes a workflow of its own, which the step calls.

What the prompt uses becomes arguments of the call, and what the step says about its model moves along with it.
Both files are read again and compared: unless the same prompt is filled with the same values, nothing is offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loop_ls.features.actions.invariants import clean, same_beside
from loop_ls.features.actions.own_lines import own_lines
from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.features.line_diff import line_edits
from loop_ls.features.lookup.pieces import element_at
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.workflow.placeholder_syntax import PLACEHOLDER, RESERVED, names_in
from loop_ls.index.disk.uris import path_of, uri_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.nodes import Entry, Mapping
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text, without_trailing_blanks
from loop_ls.text.position import Position, Span

#: The proof reads the file again, and actions are asked for with every move of the cursor.
_MOST_LINES = 3000
#: How many names are tried for the new workflow.
_TRIES = 20

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_VARIABLE = re.compile(r"[^\W\d][\w-]*")
#: Keys of a step that say how its model is asked.
_ASKING = frozenset(
    {
        *("run", "provider", "model", "providers", "temperature", "max_tokens", "timeout"),
        *("max_iterations", "servers", "skills"),
    }
)
#: Keys of `execution` that mean nothing where there is one step.
_SCHEDULING = ("parallel", "max_workers")


@dataclass(frozen=True, slots=True)
class _Plan:
    """`names`: variable of the prompt -> argument of the call. `inner` is the step in the new file."""

    document: Document
    element: Element
    node: Mapping
    names: dict[str, str]
    name: str
    inner: str
    uri: str

    @property
    def values(self) -> dict[str, str]:
        """Argument -> what the call writes for it. Two spellings of one variable are one argument."""
        found: dict[str, str] = {}
        for variable, argument in self.names.items():
            found.setdefault(argument, f"{{{{{variable}}}}}")
        return found


def extract(
    workspace: Workspace, document: Document, at: Position, taken: Callable[[str], bool] = lambda path: False
) -> tuple[Action, ...]:
    """The action for the prompt at this place. `taken` tells whether there is a file at a path."""
    if not document.is_workflow or len(document.text.lines) > _MOST_LINES:
        return ()
    plan = _planned(workspace, document, at, taken)
    caller = None if plan is None else _caller(plan)
    if plan is None or caller is None:
        return ()
    callee = Document.open(plan.uri, _callee(plan))
    if not (_same_prompt(plan, callee) and _same_rest(plan, caller) and _found(workspace, plan, caller, callee)):
        return ()

    def edits() -> Edits:
        whole = TextEdit(Span(Position(0, 0), Position(0, 0)), str(callee.text))
        return {plan.uri: (whole,), document.uri: line_edits(document.text, caller.text)}

    file = path_of(plan.uri).rpartition("/")[2]
    return (Action(f"Move the prompt to a new workflow, `{file}`", ActionKind.EXTRACT, edits, creates=plan.uri),)


# -- what becomes of it ---------------------------------------------------------------------------


def _planned(workspace: Workspace, document: Document, at: Position, taken: Callable[[str], bool]) -> _Plan | None:
    element = element_at(document, at.line)
    if element is None or element.modes != ("run",) or not _NAME.fullmatch(element.name):
        return None
    node, run = element.block.node, element.block.fields.get("run")
    slot = next((slot for slot in element.slots if slot.kind == "run"), None)
    if not isinstance(node, Mapping) or run is None or slot is None or not document.uri.startswith("file:"):
        return None
    if run.entry.key.text != "run":
        return None  # `runn`: its own finding offers the right key
    start = document.tree.start_of(element.piece)
    in_prompt = start + run.entry.key.span.start.line <= at.line <= start + run.span.end.line
    if not in_prompt and at.line not in own_lines(document, element):
        return None
    if any(island.kind in ("triple", "unclosed") or "\n" in island.raw for island in slot.islands):
        return None
    names = _arguments(document, [island.name for island in slot.islands if island.kind == "variable" and island.name])
    place = _place(workspace, document, element.name, taken)
    if names is None or place is None:
        return None
    inner = element.name if element.name not in names.values() else "answer"
    return None if inner in names.values() else _Plan(document, element, node, names, place[0], inner, place[1])


def _arguments(document: Document, variables: list[str]) -> dict[str, str] | None:
    """A name for each variable that a called workflow can have: without dots, and no reserved word."""
    found: dict[str, str] = {}
    meant: dict[str, str] = {}  # argument -> the variable as it is looked up
    for variable in sorted(dict.fromkeys(variables), key=lambda one: "." in _looked_up(document, one)):
        same = _looked_up(document, variable)
        for name in (same.removeprefix("env."), same.replace(".", "_"), f"the_{same.replace('.', '_')}"):
            allowed = _VARIABLE.fullmatch(name) and (name not in RESERVED or name == variable == "input")
            if allowed and meant.setdefault(name, same) == same:
                found[variable] = name
                break
        else:
            return None
    return found


def _looked_up(document: Document, variable: str) -> str:
    """`step.x` is `x`, unless an element has that very name."""
    rest = variable.removeprefix("step.")
    return (
        rest if rest != variable and document.definition(variable) is None and document.definition(rest) else variable
    )


def _place(
    workspace: Workspace, document: Document, wanted: str, taken: Callable[[str], bool]
) -> tuple[str, str] | None:
    """A name that no workflow beside this one has, and the URI of a file that is not there yet."""
    folder, _, file = document.path.rpartition("/")
    suffix = ".yml" if file.endswith(".yml") else ".yaml"
    for number in range(1, _TRIES):
        name = wanted if number == 1 else f"{wanted}_{number}"
        path = f"{folder}/{name}{suffix}"
        uri = uri_of(path)
        if workspace.resolve(document, name).key is None and uri not in workspace.documents and not taken(path):
            return name, uri
    return None


# -- the texts ------------------------------------------------------------------------------------


def _callee(plan: _Plan) -> str:
    name = plan.document.name or "another workflow"
    lines = [
        "$schema: workflow/v2.0",
        f"name: {plan.name}",
        "version: 1.0.0",
        f'description: "The prompt of {plan.element.name} in {name}"',
    ]
    text = _with_arguments(plan)
    start = plan.document.tree.start_of(plan.element.piece)
    moved = [f"  - name: {plan.inner}"]
    for entry, (begin, end) in zip(plan.node.entries, _ranges(plan), strict=True):
        if entry.key.text in _ASKING:
            moved += _indented(list(text.lines[start + begin : start + end]), entry.key.span.start.column)
    return plan.document.text.eol.join([*lines, *_execution(plan.document), "steps:", *moved, ""])


def _with_arguments(plan: _Plan) -> Text:
    """The text of the file with the variables of the prompt called as the new file calls them."""
    text, document, piece = plan.document.text, plan.document, plan.element.piece
    slot = next(slot for slot in plan.element.slots if slot.kind == "run")
    for island in reversed(slot.islands):
        if island.kind == "variable" and island.name in plan.names:
            text = text.edit(document.absolute(piece, island.inner), plan.names[island.name])
    return text


def _execution(document: Document) -> list[str]:
    """`execution` as it is written, but for what concerns several steps."""
    top = document.head.first.get("execution")
    if top is None:
        return []
    lines = list(top.piece.lines)
    node = top.entry.value
    entries = node.entries if isinstance(node, Mapping) else ()
    if entries and entries[0].key.span.start.line > top.entry.key.span.start.line:
        kept = [entry for entry in entries if entry.key.text not in _SCHEDULING]
        drop = [entry.key.span.start.line for entry in entries if entry.key.text in _SCHEDULING] if kept else []
        lines = [line for number, line in enumerate(lines) if number not in drop]
    first = top.entry.key.span.start.line
    return without_trailing_blanks(lines[first:])


def _caller(plan: _Plan) -> Document | None:
    """The file with the call in place of the prompt; None where the step cannot be taken apart by lines."""
    document, entries = plan.document, plan.node.entries
    lines = document.text.lines
    start = document.tree.start_of(plan.element.piece)
    starts = [entry.key.span.start for entry in entries]
    if len({place.line for place in starts}) != len(starts) or len({place.column for place in starts}) != 1:
        return None
    if plan.node.flow or (entries[0].key.text in _ASKING and entries[0].key.text != "run"):
        return None
    column = starts[0].column
    written: list[str] = []
    for entry, (begin, end) in zip(entries, _ranges(plan), strict=True):
        if entry.key.text == "run":
            lead = lines[start + begin][:column] if entry is entries[0] else " " * column
            written += [line if number else lead + line[column:] for number, line in enumerate(_call(plan, column))]
        elif entry.key.text not in _ASKING:
            written += lines[start + begin : start + end]
    first, last = start + starts[0].line, start + _ranges(plan)[-1][1]
    span = Span(Position(first, 0), Position(last - 1, len(lines[last - 1])))
    return document.edit(span, plan.document.text.eol.join(written))


def _call(plan: _Plan, column: int) -> list[str]:
    indent = " " * column
    found = [f"{indent}template:", f"{indent}  name: {plan.name}"]
    if plan.names:
        found.append(f"{indent}  with:")
    return found + [f'{indent}    {name}: "{value}"' for name, value in plan.values.items()]


def _ranges(plan: _Plan) -> list[tuple[int, int]]:
    """The lines of each entry, counted from the piece; blank lines and remarks behind the last one stay."""
    entries, lines = plan.node.entries, plan.element.piece.lines
    starts = [entry.key.span.start.line for entry in entries]
    end = len(lines)
    while end > starts[-1] + 1 and _is_outside(lines[end - 1], entries[-1]):
        end -= 1
    return list(zip(starts, [*starts[1:], end], strict=True))


def _is_outside(line: str, entry: Entry) -> bool:
    bare = line.strip()
    return not bare or (bare.startswith("#") and len(line) - len(line.lstrip(" ")) <= entry.key.span.start.column)


def _indented(lines: list[str], column: int) -> list[str]:
    """Lines of an entry as an entry of a step of the new file."""
    head = "    " + lines[0][column:]
    return without_trailing_blanks(
        [head, *("    " + line[column:] if line[:column].isspace() else line for line in lines[1:])]
    )


# -- the proof ------------------------------------------------------------------------------------


def _same_prompt(plan: _Plan, callee: Document) -> bool:
    """Whether the new file asks the same, of the same model, and takes exactly what it is given."""
    if not callee.is_workflow or not clean(callee) or len(callee.elements) != 1:
        return False
    step: dict[str, Any] = {key: value for key, value in _step(plan.element).items() if key in _ASKING}
    step["run"] = PLACEHOLDER.sub(lambda found: f"{{{{{plan.names[found[1]]}}}}}", str(step["run"]))
    return (
        _step(callee.elements[0]) == {"name": plan.inner, **step}
        and _settings(plan.document) == _settings(callee)
        and set(names_in(step["run"])) == set(plan.values)
    )


def _same_rest(plan: _Plan, caller: Document) -> bool:
    """Whether the step calls, with the same conditions, and everything beside it is as it was."""
    element = caller.element(plan.element.name)
    if not clean(caller) or element is None or element.kind != plan.element.kind:
        return False
    call: dict[str, Any] = {"name": plan.name, **({"with": plan.values} if plan.names else {})}
    kept = {key: value for key, value in _step(plan.element).items() if key not in _ASKING}
    return _step(element) == {**kept, "template": call} and same_beside(plan.document, caller, element.name)


def _found(workspace: Workspace, plan: _Plan, caller: Document, callee: Document) -> bool:
    """Whether the call finds the new file, and nothing else."""
    known = workspace.with_document(caller).with_document(callee)
    found = known.resolve(caller, plan.name)
    return found.document is callee and found.hidden is None


def _step(element: Element) -> JsonObject:
    found = plain(element.block.node)
    return found if isinstance(found, dict) else {}


def _settings(document: Document) -> JsonObject | None:
    top = document.head.first.get("execution")
    found = None if top is None else plain(top.entry.value)
    return {key: value for key, value in found.items() if key not in _SCHEDULING} if isinstance(found, dict) else None
