"""The text of a role-loop definition as values that can be run, or the reasons why it cannot.

Reads with the texts of parameters filled in: without `given` with the defaults, as lists and the
checker do; with them as a start does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from loop_ls.formats.common.json_types import flag, numeric_text, text_of, whole
from loop_ls.formats.common.object_parts import Item, Parts, parts_of_piece
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.role_loop.keys import DEFINITION
from loop_ls.formats.role_loop.model import (
    REWORK_ATTEMPTS,
    Approval,
    ApprovalMode,
    IterationBound,
    Parameter,
    RoleLoop,
    Stage,
)
from loop_ls.formats.role_loop.parts import RoleLoopParts, default_text, is_required
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.formats.role_loop.problems import role_loop_flaws
from loop_ls.formats.role_loop.roles import ROLES
from loop_ls.formats.workflow.problem_to_refusal import refusal, syntax_refusals
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.syntax.nodes import Node, Scalar, Sequence, resolved
from loop_ls.syntax.tree import Tree, read_json
from loop_ls.text.lines import Text


def read_role_loop(
    text: str | Text, given: Mapping[str, str] | None = None, roles: Iterable[str] = ROLES
) -> RoleLoop | list[Refusal]:
    """The definition, or every reason against it, in order. Never raises on content."""
    tree = read_json(text if isinstance(text, Text) else Text.of(text))
    refusals = list(syntax_refusals(tree, "RL001", "A role-loop definition must be an object"))
    if refusals:
        return refusals
    loop = role_loop_of(tree, given)
    refusals = [refusal(tree, one) for one in role_loop_flaws(loop, roles) if not one.flaw.advice]
    return sorted(refusals, key=lambda one: one.span) or _values(loop)


def role_loop_of(tree: Tree, given: Mapping[str, str] | None = None) -> RoleLoopParts:
    return RoleLoopParts(Parts.of(DEFINITION, (parts_of_piece(piece, DEFINITION) for piece in tree.pieces)), given)


def _values(loop: RoleLoopParts) -> RoleLoop:
    parts = loop.parts
    reader = _Reader(loop)
    termination = loop.termination
    return RoleLoop(
        name=loop.name or "",
        description=reader.text(parts.node("description")),
        stages=tuple(reader.stage(one.block) for one in loop.in_run_order if one.block is not None),
        termination=IterationBound() if termination is None or termination.value is None else termination.value,
        parameters=tuple(_parameter(one) for one in parts.listed("parameters")),
        approval=reader.approval(),
        max_rework_attempts=reader.positive("max_rework_attempts", REWORK_ATTEMPTS),
        version=reader.positive("version", 1),
        resolved={name: value for name, value in loop.values.items() if value is not None},
        limit_parameter=None if termination is None else termination.limit_parameter,
    )


def _parameter(item: Item) -> Parameter:
    block = item.block
    name = None if block is None else block.get("name")
    description = None if block is None else block.get("description")
    return Parameter(
        name=(None if name is None else text_of(name.node)) or "",
        description=(None if description is None else text_of(description.node)) or "",
        required=is_required(item) is not False,
        default=default_text(item),
    )


class _Reader:
    """Values of nodes with the texts of parameters filled in."""

    def __init__(self, loop: RoleLoopParts) -> None:
        self.loop = loop

    def stage(self, block: Block) -> Stage:
        label, role = self._text(block, "name"), self._text(block, "role")
        return Stage(
            role=role or label,
            label=label or role,
            prompt=self._text(block, "prompt"),
            skills=self._texts(block, "skills"),
            max_iterations=self._number(block, "max_iterations"),
            requires_artifact_from=self._number(block, "requires_artifact_from"),
            gate=self._flag(block, "gate"),
            artifact_required=self._flag(block, "artifact_required"),
            memory_required=self._flag(block, "memory_required"),
        )

    def approval(self) -> Approval:
        part = self.loop.parts.get("approval")
        block = None if part is None else part.field.value
        if not isinstance(block, Block):
            return Approval()
        mode = self._text(block, "mode") or "keyword"
        return Approval(cast(ApprovalMode, mode), self._texts(block, "signals"))

    def positive(self, name: str, default: int) -> int:
        number = self._whole(self.loop.parts.node(name))
        return number if number is not None and number > 0 else default

    def text(self, node: Node | None) -> str:
        text = text_of(node)
        return "" if text is None else fill(text, self.loop.values).text

    def _text(self, block: Block, name: str) -> str:
        field = block.get(name)
        return "" if field is None else self.text(field.node)

    def _texts(self, block: Block, name: str) -> tuple[str, ...]:
        field = block.get(name)
        found = None if field is None else resolved(field.node)
        return tuple(self.text(item) for item in found.items) if isinstance(found, Sequence) else ()

    def _number(self, block: Block, name: str) -> int | None:
        field = block.get(name)
        return None if field is None else self._whole(field.node)

    def _whole(self, node: Node | None) -> int | None:
        return whole(node) if text_of(node) is None else numeric_text(self.text(node))

    def _flag(self, block: Block, name: str) -> bool:
        field = block.get(name)
        node = None if field is None else resolved(field.node)
        if not isinstance(node, Scalar):
            return False
        return flag(node) is True or self.text(node) == "true"
