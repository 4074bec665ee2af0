"""A loop inside of a step becomes a loop of its own, and the other way round.

Lines are moved as they are, comments included. The result is read again and compared: unless the loop has the
same values, everything else is the same and waits for the same, and the workflow ends with the same element,
nothing is offered.
"""

from __future__ import annotations

from loop_ls.features.actions.invariants import clean, same_beside
from loop_ls.features.actions.own_lines import own_lines
from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.features.line_diff import line_edits
from loop_ls.features.lookup.pieces import element_at
from loop_ls.formats.common.plain_value import plain
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.syntax.nodes import Mapping
from loop_ls.text.lines import without_trailing_blanks
from loop_ls.text.position import Position

#: The proof reads the whole file again, and actions are asked for with every move of the cursor.
_MOST_LINES = 3000

_TITLES = {"step": "Move to a separate loop under `loops`", "loop": "Move to a step under `steps`"}


def loop_places(document: Document, at: Position) -> tuple[Action, ...]:
    """The action for the loop that begins or is set up on this line; none where its meaning would change."""
    if not document.is_workflow or len(document.text.lines) > _MOST_LINES:
        return ()
    element = element_at(document, at.line)
    if element is None or element.loop is None or not element.name:
        return ()
    if at.line not in own_lines(document, element):
        return ()
    after = _moved(document, element)
    if after is None or not _same(document, after, element):
        return ()

    def edits() -> Edits:
        return {document.uri: line_edits(document.text, after.text)}

    return (Action(_TITLES[element.kind], ActionKind.REWRITE, edits),)


# -- the text -------------------------------------------------------------------------------------


def _moved(document: Document, element: Element) -> Document | None:
    lines = list(document.text.lines)
    start = document.tree.start_of(element.piece) + element.span.start.line
    end = _end(lines, start, document.tree.start_of(element.piece) + len(element.piece.lines))
    item = _as_loop(lines[start:end], element) if element.kind == "step" else _as_step(lines[start:end], element)
    if item is None:
        return None
    left = lines[:start] + lines[end:]
    if len(document.steps if element.kind == "step" else document.loops) == 1:
        head = next((n for n in range(start - 1, -1, -1) if lines[n].startswith(("steps:", "loops:"))), None)
        if head is None or lines[head].rstrip() not in ("steps:", "loops:"):
            return None
        del left[head]
    target = "loops:" if element.kind == "step" else "steps:"
    text = document.text.eol.join(_inserted(left, target, item))
    return Document.open(document.uri, text, document.version, document.path)


def _end(lines: list[str], start: int, end: int) -> int:
    """Blank lines and comments behind an item stay where they are."""
    while end > start + 1 and (end > len(lines) or not lines[end - 1].strip()):
        end -= 1
    return end


def _dash(line: str) -> int | None:
    """The column of the dash of an item whose first key is `name`."""
    column = len(line) - len(line.lstrip(" "))
    return column if line[column:].startswith("- name:") else None


def _as_step(lines: list[str], element: Element) -> list[str] | None:
    dash = _dash(lines[0])
    if dash is None or len(lines) < 2:
        return None
    return [lines[0], " " * (dash + 2) + "loop:", *(f"  {line}" if line.strip() else line for line in lines[1:])]


def _as_loop(lines: list[str], element: Element) -> list[str] | None:
    """A step that says more than its name and its loop cannot be said as a loop."""
    dash = _dash(lines[0])
    node = element.block.node
    if dash is None or not isinstance(node, Mapping) or [entry.key.text for entry in node.entries] != ["name", "loop"]:
        return None
    if len(lines) < 3 or lines[1].rstrip() != " " * (dash + 2) + "loop:":
        return None
    body = [line for line in lines[2:] if line.strip()]
    inner = min(len(line) - len(line.lstrip(" ")) for line in body)
    less = inner - (dash + 2)
    return [lines[0], *(line[less:] if line.strip() else line for line in lines[2:])] if less > 0 else None


def _inserted(lines: list[str], target: str, item: list[str]) -> list[str]:
    """Before all other steps, so that the workflow still ends with the same one; behind all other loops. The
    section is begun where there is none."""
    head = next((number for number, line in enumerate(lines) if line.rstrip() == target), None)
    if head is None:
        return [*without_trailing_blanks(lines), target, *item, ""]
    if target == "steps:":
        return [*lines[: head + 1], *item, *lines[head + 1 :]]
    end = head + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " -#"):
        end += 1
    while end > head + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *item, *(lines[end:] or [""])]


# -- the proof ------------------------------------------------------------------------------------


def _same(before: Document, after: Document, element: Element) -> bool:
    if not clean(after):
        return False
    moved = after.element(element.name)
    if moved is None or moved.kind == element.kind or moved.loop is None or element.loop is None:
        return False
    return _values(element) == _values(moved) and same_beside(before, after, element.name)


def _values(element: Element) -> object:
    found = plain(element.block.node)
    inner = found.get("loop") if element.kind == "step" and isinstance(found, dict) else found
    return {**inner, "name": element.name} if isinstance(inner, dict) else None
