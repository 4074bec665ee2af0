"""The text that a plan is tried on: a document inside its workspace, changed by style-keeping edits only.

Every change gives a new copy. Untouched lines stay as they are, byte for byte;
nothing is written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from loop_ls.engine.enhance.ops.operations import Rejected
from loop_ls.engine.enhance.plan.bundle import ALONE, Bundle
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.syntax.edit.edits import Edit
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Entry
from loop_ls.syntax.nodes import Mapping as MappingNode
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span


@dataclass(frozen=True)
class WorkingCopy:
    """`document` is the workflow as changed so far, in a workspace that holds it. `files` are the URIs of called
    workflows that may be changed, too, by path."""

    workspace: Workspace
    document: Document
    bundle: Bundle = ALONE
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """That of the workflow, or of all files that may be changed."""
        return self.bundle.joined({path: str(one.text) for path, one in self.documents.items()})

    @property
    def documents(self) -> dict[str, Document]:
        """Everything that may be changed, by path."""
        others = {path: self.workspace.documents[uri] for path, uri in self.files.items()}
        return {self.bundle.primary: self.document, **others}

    def at(self, file: str) -> WorkingCopy:
        """The copy of one file: empty is the workflow itself. Raises `Rejected(out_of_reach)`."""
        if not file or file == self.bundle.primary:
            return replace(self, bundle=Bundle(self.bundle.primary), files={})
        uri = self.files.get(file)
        if uri is None:
            listed = ", ".join(f"`{path}`" for path in self.files) or "none"
            raise Rejected(
                "out_of_reach", f"`{file}` is not one of the files that plans may edit (`enhance.files`): {listed}"
            )
        return WorkingCopy(self.workspace, self.workspace.documents[uri], Bundle(file))

    def after(self, changed: WorkingCopy) -> WorkingCopy:
        """This copy with what was changed in one of its files."""
        workspace = changed.workspace
        return replace(self, workspace=workspace, document=workspace.documents[self.document.uri])

    def element(self, name: str) -> Element:
        """Raises `Rejected(unknown_target)`."""
        found = self.document.element(name)
        if found is None:
            raise Rejected("unknown_target", f"unknown step or loop `{name}`")
        return found

    def step(self, name: str) -> Element:
        found = self.element(name)
        if found.kind != "step":
            raise Rejected("unknown_target", f"`{name}` is a loop, not a step")
        return found

    def loop(self, name: str) -> tuple[Element, Block]:
        """A loop of its own, or the loop of a step."""
        found = self.element(name)
        if found.loop is None:
            raise Rejected("unknown_target", f"`{name}` is not a loop")
        return found, found.loop

    def edited(self, edits: Iterable[Edit]) -> WorkingCopy:
        """The copy after edits of one change, whose places are those of this copy."""
        document = self.document
        for edit in sorted(edits, key=lambda one: one.span, reverse=True):
            document = document.edit(edit.span, edit.text)
        return replace(self, document=document, workspace=self.workspace.with_document(document))


@dataclass(frozen=True)
class Target:
    """A mapping that an operation changes, with the piece that its places count from."""

    piece: Piece
    mapping: MappingNode

    def entry(self, key: str) -> Entry | None:
        """An own entry. Raises `Rejected(breaks_document)` where it is shared through an anchor."""
        found = self.mapping.get(key)
        if found is not None and (found.merged or isinstance(found.value, Alias)):
            raise Rejected("breaks_document", f"`{key}` is shared through an anchor")
        return found


def target_of(element: Element, block: Block | None = None) -> Target:
    """The item itself, or a block inside it. Raises `Rejected` where an alias stands in its place."""
    node = (block or element.block).node
    if block is not None and not _inside(element, block):
        raise Rejected("breaks_document", f"`{element.name}` is shared through an anchor")
    return Target(element.piece, node)


def _inside(element: Element, block: Block) -> bool:
    return element.span.covers(block.node.span)


def differences(old: Text, new: Text) -> tuple[Edit, ...]:
    """Edits that turn one text into the other, by lines: they do not overlap, in written order."""
    before, after = _terminated(str(old)), _terminated(str(new))
    found = []
    for kind, low, high, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            span = Span(_line_start(old, low, before), _line_start(old, high, before))
            found.append(Edit(span, "".join(after[start:stop])))
    return tuple(found)


def _line_start(text: Text, line: int, lines: Sequence[str]) -> Position:
    """The start of a line; behind the last one the end of the text."""
    return Position(line, 0) if line < len(lines) else text.end


def _terminated(text: str) -> list[str]:
    """Lines with what ends them: only line feeds and carriage returns do, as in the protocol."""
    lines: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            at += 1
        if text[at] in "\r\n":
            lines.append(text[start : at + 1])
            start = at + 1
        at += 1
    return [*lines, text[start:]] if start < len(text) else lines
