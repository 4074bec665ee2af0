"""Role-loop definitions: parameters, placeholders, and what every object is asked."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import is_blank, text_of
from loop_ls.formats.common.key_table import Shape
from loop_ls.formats.common.typed_mapping import Block, Unknown
from loop_ls.formats.role_loop.keys import ITERATIONS
from loop_ls.formats.role_loop.parts import default_text, is_required
from loop_ls.formats.role_loop.problems import PARAMETER_NAME
from loop_ls.index.placeholders import Placeholder, placeholders
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Spot, draft, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, mark
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.fixes.json import add_item, add_key, add_key_behind, drop_key, drop_top_key
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry


@rule("RL013", "param-name", Severity.ERROR, on="role_loop")
def param_name(view: ObjectView) -> Iterator[Draft]:
    """Missing or invalid parameter name.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "house-colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{house-colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "house_colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{house_colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL013"))


@rule("RL014", "param-duplicate", Severity.ERROR, on="role_loop")
def param_duplicate(view: ObjectView) -> Iterator[Draft]:
    """Duplicate parameter.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [
            {"name": "colour", "description": "Colour of the house"},
            {"name": "colour", "description": "Colour of the roof"}
          ],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [
            {"name": "colour", "description": "Colour of the house"},
            {"name": "roof_colour", "description": "Colour of the roof"}
          ],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house, its roof {{roof_colour}}."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    for placed in view.flaws("RL014"):
        found = view.of_flaw(placed)
        name = None if isinstance(placed.flaw.at, Entry) else text_of(placed.flaw.at)
        first = view.loop.declared.get(name or "")
        part = None if first is None else first.item.get("name")
        if part is not None:
            found = found._replace(related=((Spot(part.piece, value_span(part.field)), "the first one"),))
        yield found


@rule("RL015", "param-default", Severity.ERROR, on="role_loop", fixes=(Tier.SAFE, Tier.REVIEW))
def param_default(view: ObjectView) -> Iterator[Draft]:
    """Default that is missing, not a string, or has no effect.

    An optional parameter needs a default, even an empty string. Numbers and `true` or `false` become
    strings. The default of a required parameter is never used.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house", "required": false}],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [
            {"name": "colour", "description": "Colour of the house", "required": false, "default": "white"}
          ],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    for placed in view.flaws("RL015"):
        block = _block_at(view, placed.flaw.at)
        add: tuple[Fix, ...] = ()
        if block is not None and placed.piece is not None:
            add = (add_key(placed.piece, block, "default", "", "Add an empty default", Tier.REVIEW),)
        yield view.of_flaw(placed, *add)


def _block_at(view: ObjectView, at: object) -> Block | None:
    for item in view.parts.listed("parameters"):
        if item.block is not None and item.block.node is at:
            return item.block
    return None


@also("RL015", on="role_loop")
def idle_default(view: ObjectView) -> Iterator[Draft]:
    for item in view.parts.listed("parameters"):
        if item.block is None or is_required(item) is not True or default_text(item) is None:
            continue
        if item.block.meant("required") and not item.block.has("required"):
            continue  # RL022
        name = text_of(item.block.fields["name"].node) if item.block.has("name") else None
        of = f"`{name}`" if name else "this parameter"
        message = f"{of} is required, so its default is never used; add `required: false` to make it optional"
        default = item.block.fields["default"].entry
        drop = drop_key(item.piece, item.block, default)
        yield draft(item.piece, default.key.span, message, Severity.WARNING, fixes=(drop,))


@rule("RL016", "param-description", Severity.WARNING, on="role_loop")
def param_description(view: ObjectView) -> Iterator[Draft]:
    """Parameter without a description.

    The description is shown to whoever starts the loop.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour"}],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    for item in view.parts.listed("parameters"):
        if item.block is None:
            continue
        field = item.block.get("description")
        if field is None:
            if not item.block.meant("description"):
                message = "Missing `description`; describe what the value is for"
                yield draft(item.piece, mark(item.block.node), message)
        elif is_blank(field.node):
            message = "Empty `description`; describe what the value is for"
            yield draft(item.piece, mark(field.node or field.entry), message)


@rule("RL017", "param-unused", Severity.HINT, on="role_loop")
def param_unused(view: ObjectView) -> Iterator[Draft]:
    """Unused parameter.

    It has an effect only if the goal contains its placeholder.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    used = {one.name for one in placeholders(view.document)}
    for name, declared in view.loop.declared.items():
        part = declared.item.get("name")
        if name not in used and PARAMETER_NAME.fullmatch(name) and part is not None:
            message = f"Unused parameter `{{{{{name}}}}}`"
            yield draft(part.piece, value_span(part.field), message, tags=UNNECESSARY)


@rule("RL018", "placeholder-unknown", Severity.WARNING, on="role_loop", fixes=(Tier.SAFE, Tier.REVIEW))
def placeholder_unknown(view: ObjectView) -> Iterator[Draft]:
    """Placeholder that is never filled in.

    Only declared parameters are filled in, and only without spaces inside the braces; anything else reaches
    the model as written.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{color}} house, all of it {{colour}}."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "parameters": [{"name": "colour", "description": "Colour of the house"}],
          "roles": [{"role": "coder", "prompt": "Build a {{colour}} house, all of it {{colour}}."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    declared = view.loop.declared
    if _is_misspelt(view):
        return
    for one in placeholders(view.document):
        if one.idle or (one.exact and one.name in declared):
            continue
        if one.name in declared:
            message = f"Spaces inside the braces, so this stays as text; write `{{{{{one.name}}}}}`"
            better: tuple[Fix, ...] = (builders.replace(one.piece, one.island.inner, one.name, "Remove the spaces"),)
        else:
            message, better = _unknown(view, one)
        yield Draft(Spot(one.piece, one.island.span), message, fixes=better)


def _is_misspelt(view: ObjectView) -> bool:
    """Whether nobody knows what is declared: `parameters`, or the `name` of one, is not spelled so (RL022)."""
    parts = view.parts
    if parts.meant("parameters") and parts.get("parameters") is None:
        return True
    blocks = [item.block for item in parts.listed("parameters") if item.block is not None]
    return any(block.meant("name") and not block.has("name") for block in blocks)


def _unknown(view: ObjectView, one: Placeholder) -> tuple[str, tuple[Fix, ...]]:
    near = nearest(one.name, view.loop.declared)
    declare = _declare(view, one.name)
    if near is not None:
        message = f"Unknown parameter `{one.name}`; did you mean `{{{{{near}}}}}`?"
        rename = builders.replace(one.piece, one.island.inner, near, f"Change to `{near}`")
        return message, (rename, *declare)
    return f"Unknown parameter `{one.name}`: this stays as text; declare it in `parameters`", declare


def _declare(view: ObjectView, name: str) -> tuple[Fix, ...]:
    parts = view.parts
    value = {"name": name, "description": name.replace("_", " ")}  # an empty one would be RL016
    title = f"Declare `{name}`"
    listed = parts.get("parameters")
    if listed is not None:
        return (add_item(listed, value, title),)
    behind = parts.get("description") or parts.get("name")
    return () if behind is None else (add_key_behind(behind, "parameters", [value], title, Tier.REVIEW),)


@rule("RL020", "artifact-index", Severity.ERROR, on="role_loop")
def artifact_index(view: ObjectView) -> Iterator[Draft]:
    """Stage that waits for an artifact no earlier stage can have made.

    `requires_artifact_from` is the index of an earlier stage of the same iteration, counted from 0. Without
    an artifact the stage and the loop fail.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Plans and builds a house",
          "roles": [
            {"role": "plan", "prompt": "Plan."},
            {"role": "coder", "prompt": "Build.", "requires_artifact_from": 1}
          ],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Plans and builds a house",
          "roles": [
            {"role": "plan", "prompt": "Plan."},
            {"role": "coder", "prompt": "Build.", "requires_artifact_from": 0}
          ],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL020"))


@rule("RL022", "unknown-key", Severity.WARNING, on="role_loop", fixes=(Tier.SAFE,))
def unknown_key(view: ObjectView) -> Iterator[Draft]:
    """Unknown key.

    The key is skipped and its value has no effect. `on_question` was used by older programs.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build.", "max_iteration": 9}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build.", "max_iterations": 9}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    parts = view.parts
    for stray in parts.strays:
        yield _unknown_key(stray.piece, stray.unknown, parts.shape, renamed(stray.unknown, parts.keys, parts.shape))
    for piece, block in _blocks(view):
        for unknown in block.unknown:
            yield _unknown_key(piece, unknown, block.shape, renamed(unknown, block.fields, block.shape))
    question = parts.get("on_question")
    if question is not None:
        message = "`on_question` has no effect: a stage that asks a question blocks the loop"
        yield draft(question.piece, question.entry.key.span, message, fixes=(drop_top_key(question),))


@also("RL022", on="role_loop")
def limit_beside_the_value(view: ObjectView) -> Iterator[Draft]:
    """`max_iterations` beside `type` is for `iteration_bound` alone."""
    part = view.parts.get("termination_condition")
    block = part.field.value if part is not None else None
    reading = view.loop.termination
    if part is None or not isinstance(block, Block) or reading is None or reading.type in (None, ITERATIONS):
        return
    field = block.get("max_iterations")
    if field is not None:
        message = f"`max_iterations` has no effect next to the `value` of `{reading.type}`; put it inside `value`"
        yield draft(part.piece, field.entry.key.span, message)


def _unknown_key(piece: Piece, unknown: Unknown, shape: Shape, better: str | None) -> Draft:
    span = unknown.entry.key.span
    fix = (builders.reword(piece, span, better),) if better else ()
    return draft(piece, span, unknown_sentence(unknown, shape), fixes=fix)


def _blocks(view: ObjectView) -> Iterator[tuple[Piece, Block]]:
    """Every object below the top level that has keys of its own."""
    parts = view.parts
    for item in (*parts.listed("roles"), *parts.listed("parameters")):
        if item.block is not None:
            yield item.piece, item.block
    for name in ("termination_condition", "approval"):
        part = parts.get(name)
        if part is not None and isinstance(part.field.value, Block):
            yield part.piece, part.field.value
    reading, condition = view.loop.termination, parts.get("termination_condition")
    if condition is not None and reading is not None and reading.block is not None:
        yield condition.piece, reading.block


@rule("RL023", "type", Severity.ERROR, on="role_loop", fixes=(Tier.SAFE,))
def type_(view: ObjectView) -> Iterator[Draft]:
    """Wrong JSON type.

    Limits may be strings, and a string that is a placeholder counts as the value it is filled in with.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build.", "skills": "git"}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build.", "skills": ["git"]}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    for placed in view.flaws("RL023"):
        flaw = placed.flaw
        if flaw.better is None or placed.piece is None or isinstance(flaw.at, Entry) or flaw.at is None:
            yield view.of_flaw(placed)
        elif flaw.better == text_of(flaw.at):
            bare = builders.replace(placed.piece, flaw.at.span, flaw.better, "Remove the quotes")
            yield view.of_flaw(placed, bare)
        else:
            yield view.of_flaw(placed, *reworded(placed))
