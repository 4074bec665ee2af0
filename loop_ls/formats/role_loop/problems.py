"""Everything that keeps a role-loop definition from running.

What only makes it doubtful is said by the rules. A key that is missing is not told where a misspelt one
probably means it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import (
    WORDS,
    is_blank,
    kind_of,
    numeric_text,
    text_of,
    unquoted,
    whole,
    wrong_type,
)
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.object_parts import Item, Part
from loop_ls.formats.common.problem import Flaw, Placed
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.formats.role_loop.keys import APPROVAL_MODES, LIMITS
from loop_ls.formats.role_loop.parts import RoleLoopParts, is_required, role_part
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.syntax.nodes import Node, Scalar, Sequence, resolved
from loop_ls.text.pattern import pattern

NAME = pattern(r"[a-z0-9][a-z0-9_-]*")
PARAMETER_NAME = pattern(r"[a-z][a-z0-9_]*")

#: Keys whose values have rules of their own.
_OWN = {
    "role loop": {"name", "roles", "termination_condition", "on_question"},
    "role stage": {"requires_artifact_from"},
    "parameter": {"name", "default"},
    "termination condition": {"type", "value", "max_iterations"},
}
#: Keys that may say nothing: what is missing there is told by another rule, or has a default.
_MAY_BE_NULL = {"role", "name", "prompt", "description", "max_iterations", "requires_artifact_from", "default"}


def role_loop_flaws(loop: RoleLoopParts, roles: Iterable[str]) -> Iterator[Placed]:
    """In no order. `roles` are the names of roles that exist."""
    known = tuple(roles)
    yield from _name(loop)
    yield from _list_of_roles(loop)
    for number, stage in enumerate(loop.in_run_order):
        if stage.block is not None:
            yield from (Placed(stage.piece, flaw) for flaw in _stage(loop, stage, stage.block, known, number))
    if loop.termination is not None:
        piece = loop.parts.keys["termination_condition"].piece
        yield from (Placed(piece, flaw) for flaw in loop.termination.flaws)
    yield from _parameters(loop)
    yield from _types(loop)


def _name(loop: RoleLoopParts) -> Iterator[Placed]:
    part = loop.parts.get("name")
    rule = "lowercase letters, digits, `-` and `_`, e.g. `write-and-review`"
    if part is None or part.node is None:
        if not loop.parts.meant("name"):
            yield Placed(None, Flaw("RL002", None, f"Missing `name`; use {rule}"))
        return
    text = text_of(part.node)
    if text is None or not NAME.fullmatch(text):
        written = f" `{text}`" if text else ""
        yield Placed(part.piece, Flaw("RL002", part.node, f"Invalid loop name{written}; use {rule}"))


# -- stages ---------------------------------------------------------------------------------------


def _list_of_roles(loop: RoleLoopParts) -> Iterator[Placed]:
    part = loop.parts.get("roles")
    if part is None:
        if not loop.parts.meant("roles"):
            yield Placed(None, Flaw("RL005", None, "Missing `roles`; add at least one"))
        return
    if not loop.stages:
        found = resolved(part.node)
        empty = isinstance(found, Sequence) and not found.items
        message = "`roles` is empty; add at least one" if empty else "`roles` must be a list of objects"
        yield Placed(part.piece, Flaw("RL005", part.entry if part.node is None else part.node, message))
    for item in loop.stages:
        if item.block is None:
            at = item.node or part.entry
            yield Placed(
                item.piece, Flaw("RL005", at, "Each entry of `roles` must be an object with `role` and `prompt`")
            )


def _stage(loop: RoleLoopParts, stage: Item, block: Block, known: tuple[str, ...], number: int) -> Iterator[Flaw]:
    yield from _role(loop, stage, block, known)
    prompt = block.get("prompt")
    if prompt is None:
        if not block.meant("prompt"):
            yield Flaw("RL008", block.node, "Missing `prompt`: tell the role what to do")
    elif is_blank(prompt.node):
        yield Flaw("RL008", prompt.node or prompt.entry, "Empty `prompt`: tell the role what to do")
    artifact = block.get("requires_artifact_from")
    if artifact is not None and artifact.node is not None and kind_of(artifact.node) != "null":
        yield from _artifact(loop, artifact.node, number)


def _role(loop: RoleLoopParts, stage: Item, block: Block, known: tuple[str, ...]) -> Iterator[Flaw]:
    part = role_part(stage)
    if part is None:
        if not block.meant("role") and not block.meant("name"):
            yield Flaw("RL006", block.node, "Missing `role`")
        return
    at = part.node or part.entry
    if is_blank(part.node):
        yield Flaw("RL006", at, "Empty `role`")
        return
    text = text_of(part.node)
    filled = fill(text, loop.values) if text is not None else None
    if filled is None or filled.open or filled.text in known:
        return
    better = nearest(filled.text, known)
    hint = f"; did you mean `{better}`?" if better else f"; expected {', '.join(f'`{one}`' for one in sorted(known))}"
    yield Flaw("RL007", at, f"Unknown role `{filled.text}`{hint}", None if filled.names else better)


def _artifact(loop: RoleLoopParts, node: Node, number: int) -> Iterator[Flaw]:
    text = text_of(node)
    index = whole(node)
    if text is not None and "{{" in text:
        filled = fill(text, loop.values)
        if filled.open:
            return
        index = numeric_text(filled.text)
    if index is None or index < 0:
        yield Flaw("RL020", node, "`requires_artifact_from` must be the index of an earlier stage (from 0)")
    elif index >= number:
        what = "this stage itself" if index == number else "not an earlier stage"
        yield Flaw("RL020", node, f"{index} is {what}; this stage has index {number} (from 0)")


# -- parameters -----------------------------------------------------------------------------------


def _parameters(loop: RoleLoopParts) -> Iterator[Placed]:
    seen: set[str] = set()
    for item in loop.parts.listed("parameters"):
        if item.block is not None:
            yield from (Placed(item.piece, flaw) for flaw in _parameter(item, item.block, seen))


def _parameter(item: Item, block: Block, seen: set[str]) -> Iterator[Flaw]:
    rule = "lowercase letters, digits and `_`, starting with a letter"
    name = block.get("name")
    text = None if name is None else text_of(name.node)
    if name is None or name.node is None:
        if not block.meant("name"):
            yield Flaw("RL013", block.node, f"Missing parameter `name`; use {rule}")
    elif text is None or not PARAMETER_NAME.fullmatch(text):
        written = f" `{text}`" if text else ""
        yield Flaw("RL013", name.node, f"Invalid parameter name{written}; use {rule}")
    if text and name is not None:
        if text in seen:
            yield Flaw("RL014", name.node, f"Duplicate parameter `{text}`")
        seen.add(text)
    yield from _default(item, block, text)


def _default(item: Item, block: Block, name: str | None) -> Iterator[Flaw]:
    default = block.get("default")
    if default is not None:
        if not isinstance(resolved(default.node), Scalar) or kind_of(default.node) == "null":
            at = default.node or default.entry
            yield Flaw("RL015", at, "`default` must be a string, a number, or true or false")
    elif is_required(item) is False and not block.meant("default"):
        of = f"`{name}`" if name else "the parameter"
        yield Flaw("RL015", block.node, f"Missing `default`: {of} is not required; add a default, even an empty string")


# -- types ----------------------------------------------------------------------------------------


def _types(loop: RoleLoopParts) -> Iterator[Placed]:
    own = _OWN["role loop"]
    for name, part in loop.parts.keys.items():
        if name == "parameters":
            yield from _list_of_parameters(loop, part)
        elif name not in own:
            yield from (Placed(part.piece, flaw) for flaw in _field_types(loop, part.field))
    condition = loop.parts.get("termination_condition")
    if condition is not None and isinstance(condition.field.value, Block):
        yield from (Placed(condition.piece, flaw) for flaw in _block_types(loop, condition.field.value))
    for item in (*loop.stages, *loop.parts.listed("parameters")):
        if item.block is not None:
            yield from (Placed(item.piece, flaw) for flaw in _block_types(loop, item.block))


def _list_of_parameters(loop: RoleLoopParts, part: Part) -> Iterator[Placed]:
    items = loop.parts.listed("parameters")
    if not items and part.node is not None and not isinstance(resolved(part.node), Sequence):
        yield Placed(part.piece, Flaw("RL023", part.node, "`parameters` must be a list of objects"))
    for item in items:
        if item.block is None:
            at = item.node or part.entry
            yield Placed(item.piece, Flaw("RL023", at, "Each entry of `parameters` must be an object with `name`"))


def _block_types(loop: RoleLoopParts, block: Block) -> Iterator[Flaw]:
    own = _OWN.get(block.shape.name, set())
    for name, field in block.fields.items():
        if name not in own:
            yield from _field_types(loop, field)


def _field_types(loop: RoleLoopParts, field: Field) -> Iterator[Flaw]:
    key, node = field.key, field.node
    if node is None or (kind_of(node) == "null" and key.name in _MAY_BE_NULL):
        return
    wrong = wrong_type(key, node)
    if wrong is not None and not _stands_for(loop, key, node):
        yield Flaw("RL023", wrong.node, f"`{key.name}` must be {WORDS[key.type]}", unquoted(key, node))
    elif key.name == "approval" and isinstance(field.value, Block):
        yield from _approval(loop, field.value)


def _approval(loop: RoleLoopParts, block: Block) -> Iterator[Flaw]:
    yield from _block_types(loop, block)
    mode = block.get("mode")
    text = None if mode is None else text_of(mode.node)
    if mode is not None and text is not None and fill(text, loop.values).text not in APPROVAL_MODES:
        listed = ", ".join(f"`{one}`" for one in APPROVAL_MODES)
        yield Flaw("RL023", mode.node, f"`mode` must be one of {listed}", nearest(text, APPROVAL_MODES))


def _stands_for(loop: RoleLoopParts, key: Key, node: Node) -> bool:
    """Whether a text is filled in to what the key takes, or spells a number where that is usual."""
    text = text_of(node)
    if text is None:
        return False
    filled = fill(text, loop.values)
    if filled.open:
        return True
    if not filled.names and key.name not in LIMITS:
        return False
    match key.type:
        case Type.INTEGER:
            return numeric_text(filled.text) is not None
        case Type.BOOLEAN:
            return filled.text in ("true", "false")
        case _:
            return False
