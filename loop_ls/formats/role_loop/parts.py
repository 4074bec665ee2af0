"""A role-loop definition as it is written: stages in run order, parameters with their texts.

What checking, features and the engine's reader ask about a definition, faults and all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from loop_ls.formats.checks.target import INPUT, Places
from loop_ls.formats.common.json_types import kind_of, text_of, whole
from loop_ls.formats.common.object_parts import Item, Part, Parts
from loop_ls.formats.role_loop.keys import MANUAL
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.formats.role_loop.stage_names import stage_names
from loop_ls.formats.role_loop.termination import Reading, read_termination
from loop_ls.syntax.nodes import Node, Scalar, resolved
from loop_ls.text.record import record


@record
class Declared:
    """A parameter. `text` is what its placeholder counts with: the default; None where it has none."""

    item: Item
    name: str
    text: str | None

    @property
    def part(self) -> Part | None:
        """The key `default`."""
        return self.item.get("default")


class RoleLoopParts:
    """One reading of one version of a definition. `given`: texts of parameters that a start brought."""

    def __init__(self, parts: Parts, given: Mapping[str, str] | None = None) -> None:
        self.parts, self._given = parts, given or {}

    @property
    def name(self) -> str | None:
        return text_of(self.parts.node("name"))

    @property
    def stages(self) -> tuple[Item, ...]:
        """The entries of `roles` as written."""
        return self.parts.listed("roles")

    @cached_property
    def in_run_order(self) -> tuple[Item, ...]:
        """By `order`, if every stage has one; equal ones stay as written."""
        orders = self.orders
        if orders is None:
            return self.stages
        return tuple(stage for _, stage in sorted(zip(orders, self.stages, strict=True), key=lambda pair: pair[0]))

    @cached_property
    def orders(self) -> tuple[int, ...] | None:
        """The numbers in `order`; None unless every stage has one."""
        found = [whole(order_of(stage)) for stage in self.stages]
        numbers = tuple(number for number in found if number is not None)
        return numbers if numbers and len(numbers) == len(found) else None

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """The parameters with a name; of two with one name the first."""
        found: dict[str, Declared] = {}
        for item in self.parts.listed("parameters"):
            part = item.get("name")
            name = None if part is None else text_of(part.node)
            if name:
                found.setdefault(name, Declared(item, name, default_text(item)))
        return found

    @cached_property
    def values(self) -> dict[str, str | None]:
        """What placeholders count with: what was given, else the default."""
        return {name: self._given.get(name, one.text) for name, one in self.declared.items()}

    @cached_property
    def termination(self) -> Reading | None:
        node = self.parts.node("termination_condition")
        return None if node is None else read_termination(node, self.values)

    @property
    def is_manual(self) -> bool:
        return self.termination is not None and self.termination.type == MANUAL

    def role_of(self, stage: Item) -> str | None:
        """The role of a stage with defaults filled in; None where it is faulty or a start decides."""
        part = role_part(stage)
        text = None if part is None else text_of(part.node)
        if text is None:
            return None
        filled = fill(text, self.values)
        return None if filled.open else filled.text


def places_of(parts: Parts) -> Places:
    """What checks and test cases of a definition may speak of."""
    loop = RoleLoopParts(parts)
    named = [stage.get("name") for stage in loop.in_run_order]
    written = [None if part is None else text_of(part.node) for part in named]
    labels = [label or loop.role_of(stage) or "" for label, stage in zip(written, loop.in_run_order, strict=True)]
    needed = [name for name, one in loop.declared.items() if one.text is None and is_required(one.item)]
    name = loop.name or ""
    return Places(
        name,
        {"stage": [each for each in stage_names(labels) if each], "loop": [name] if name else []},
        needs=(INPUT, *needed),
        reads=(INPUT, *loop.declared),
    )


def role_part(stage: Item) -> Part | None:
    """The key that says who takes the turn: `role`, else `name`."""
    role = stage.get("role")
    return role if role is not None and kind_of(role.node) != "null" else stage.get("name") or role


def order_of(stage: Item) -> Node | None:
    part = stage.get("order")
    return None if part is None else part.node


def default_text(parameter: Item) -> str | None:
    """A default as text: numbers and booleans become what is written."""
    part = parameter.get("default")
    found = None if part is None else resolved(part.node)
    if not isinstance(found, Scalar) or kind_of(found) == "null":
        return None
    return found.text


def is_required(parameter: Item) -> bool | None:
    """Whether a start has to give it: so unless it says `false`. None where the value is neither."""
    part = parameter.get("required")
    if part is None or kind_of(part.node) == "null":
        return True
    found = resolved(part.node)
    if not isinstance(found, Scalar) or kind_of(found) != "true or false":
        return None
    return found.text.lower() == "true"
