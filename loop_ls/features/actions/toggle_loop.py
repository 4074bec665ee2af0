"""The switch of an assistant's loop as actions on its line: off, and on with one of the four criteria.

Off takes the criterion away and keeps the limit; on writes the criterion that was chosen. What else stands in
the file stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.formats.assistant.keys import CAP_ONLY, MANUAL, REGEX, TEST_PASS
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import flag
from loop_ls.formats.common.object_parts import Part
from loop_ls.formats.registry import ASSISTANT
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.edit.edits import remove_entry
from loop_ls.text.position import Position, Span

#: In the order of the original's list, with a value to begin with where one is looked at.
CHOICES = (
    (REGEX, "Regex match", "{type: regex, value: DONE|COMPLETE|SUCCESS}"),
    (TEST_PASS, "Test passes", "{type: test_pass, value: npm test}"),
    (MANUAL, "Manual review", "{type: manual}"),
    (CAP_ONLY, "Max iterations only", "{type: max_iterations}"),
)


def loop_switch(document: Document, at: Position) -> tuple[Action, ...]:
    """Offered on the lines of `loopEnabled` and of the name, in YAML."""
    if document.format != ASSISTANT or document.path.endswith(".json"):
        return ()
    return tuple(action for one in document.whole.assistants for action in _of(document, one, at))


def _of(document: Document, one: AssistantParts, at: Position) -> Iterator[Action]:
    switch, name = one.get("loopEnabled"), one.get("name")
    lines = {_line(document, part) for part in (switch, name) if part is not None}
    if name is None or at.line not in lines or (one.block is not None and one.block.node.flow):
        return
    if one.enabled:
        yield Action("Disable the loop", ActionKind.REWRITE, _off(document, one))
        return
    for _, label, written in CHOICES:
        yield Action(f"Enable the loop: {label}", ActionKind.REWRITE, _on(document, one, written))


def _off(document: Document, one: AssistantParts) -> Callable[[], Edits]:
    def edits() -> Edits:
        return {document.uri: tuple(sorted(_without(document, one), key=lambda edit: edit.span))}

    return edits


def _without(document: Document, one: AssistantParts) -> Iterator[TextEdit]:
    switch, criteria = one.get("loopEnabled"), one.get("loopCriteria")
    if switch is not None and switch.node is not None:
        yield TextEdit(document.absolute(switch.piece, switch.node.span), "false")
    if criteria is not None:
        yield _removed(document, one, criteria)


def _on(document: Document, one: AssistantParts, written: str) -> Callable[[], Edits]:
    def edits() -> Edits:
        return {document.uri: tuple(sorted(_with(document, one, written), key=lambda edit: edit.span))}

    return edits


def _with(document: Document, one: AssistantParts, written: str) -> Iterator[TextEdit]:
    switch, criteria, name = one.get("loopEnabled"), one.get("loopCriteria"), one.get("name")
    if switch is not None and switch.node is not None and flag(switch.node) is not True:
        yield TextEdit(document.absolute(switch.piece, switch.node.span), "true")
    if criteria is not None:
        yield _removed(document, one, criteria)
    anchor = switch or name
    assert anchor is not None
    start = document.absolute(anchor.piece, anchor.entry.key.span).start
    margin = " " * start.column
    lines = [] if switch is not None else [f"{margin}loopEnabled: true"]
    lines.append(f"{margin}loopCriteria: {written}")
    end = Position(start.line, len(document.text.lines[start.line]))
    yield TextEdit(Span(end, end), "".join(document.text.eol + line for line in lines))


def _removed(document: Document, one: AssistantParts, part: Part) -> TextEdit:
    if one.block is not None and one.piece is not None:
        edit = remove_entry(document.tree, one.piece, one.block.node, part.entry)[0]
        return TextEdit(edit.span, edit.text)
    first = document.tree.start_of(part.piece)
    last = first + len(part.piece.lines)
    while last - 1 > first and not document.text.lines[last - 1].strip():
        last -= 1
    whole = Span(Position(first, 0), Position(last, 0)) if last < len(document.text.lines) else None
    return TextEdit(whole or Span(Position(first, 0), document.text.end), "")


def _line(document: Document, part: Part) -> int:
    return document.absolute(part.piece, part.entry.key.span).start.line
