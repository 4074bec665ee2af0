"""Role-loop definitions: name, description, stages and their roles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from loop_ls.formats.common.json_types import is_blank, text_of
from loop_ls.formats.common.object_parts import Item
from loop_ls.formats.common.problem import Placed
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.role_loop.keys import EVALUATION
from loop_ls.formats.role_loop.parts import role_part
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import Draft, Spot, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, conflict_drafts, mark, root_message, syntax_fault
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.fixes.json import add_key_behind
from loop_ls.syntax.nodes import Entry
from loop_ls.text.position import Span

#: What a prompt may say to lead to a word of approval.
_APPROVING = ("approv", "lgtm", "looks good", "accept", "passes all criteria")


@rule("RL001", "json", Severity.ERROR, on="role_loop syntax", fixes=(Tier.SAFE,))
def json(view: ObjectView) -> Iterator[Draft]:
    """Invalid JSON, or a definition that is not an object.

    It cannot be started, and nothing else in the file is checked. JSON does not allow comments or trailing
    commas.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2},
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    if conflicts := conflict_drafts(view.document):
        yield from conflicts
        return
    fault = syntax_fault(view.document)
    if fault is None:
        yield Draft(view.begin(), f"A role-loop definition must be an object, not {root_message(view.document)}")
        return
    remove: tuple[Fix, ...] = ()
    if fault.code == "trailing-comma":
        piece = view.document.tree.pieces[0]
        remove = (builders.replace(piece, fault.span, "", "Remove the comma"),)
    yield Draft(Spot(None, fault.span), fault.message, fixes=remove)


@rule("RL002", "name", Severity.ERROR, on="role_loop")
def name(view: ObjectView) -> Iterator[Draft]:
    """Missing or invalid name.

    The name starts the loop, whatever the file is called. Use lowercase letters, digits, `-` and `_`, so
    that it works as a file name and on the command line.

    Bad::
        #- loops/build.json
        {
          "name": "Build it",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build-it",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL002"))


@rule("RL003", "duplicate-name", Severity.ERROR, on="role_loop")
def duplicate_name(view: ObjectView) -> Iterator[Draft]:
    """Two definitions with the same name in one folder.

    Only one of them can be started by name. A definition with the name of a built-in one is fine: it
    replaces it.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
        #- loops/rebuild.json
        {
          "name": "build",
          "description": "Builds it again",
          "roles": [{"role": "coder", "prompt": "Build again."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
        #- loops/rebuild.json
        {
          "name": "rebuild",
          "description": "Builds it again",
          "roles": [{"role": "coder", "prompt": "Build again."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    part, others = view.parts.get("name"), sorted(view.twins(), key=lambda one: one.path)
    if part is None or not others:
        return
    files = ", ".join(other.path.rpartition("/")[2] for other in others)
    related = []
    for other in others:
        there = other.whole.parts.get("name")
        if there is not None:
            related.append((Spot(there.piece, value_span(there.field), other.uri), "the same name"))
    message = f"Duplicate name `{view.loop.name}`, also used in {files}; only one of them can be started by name"
    yield Draft(Spot(part.piece, value_span(part.field)), message, related=tuple(related))


@rule("RL004", "description", Severity.WARNING, on="role_loop")
def description(view: ObjectView) -> Iterator[Draft]:
    """Missing description.

    Lists of definitions show it, and people choose a loop by it.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    part = view.parts.get("description")
    if part is None:
        if not view.parts.meant("description"):
            yield Draft(view.begin(), "Missing `description`; describe in one line what the loop is for")
    elif is_blank(part.node):
        spot = Spot(part.piece, mark(part.node or part.entry))
        yield Draft(spot, "Empty `description`; describe in one line what the loop is for")


@rule("RL005", "no-roles", Severity.ERROR, on="role_loop")
def no_roles(view: ObjectView) -> Iterator[Draft]:
    """Definition without stages, or with an invalid one.

    Each entry of `roles` must be an object with a role and a prompt. A loop needs at least one.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL005"))


@rule("RL006", "role-empty", Severity.ERROR, on="role_loop")
def role_empty(view: ObjectView) -> Iterator[Draft]:
    """Stage without a role.

    `role` names the role; without it `name` does.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL006"))


@rule("RL007", "role-unknown", Severity.ERROR, on="role_loop", fixes=(Tier.SAFE,))
def role_unknown(view: ObjectView) -> Iterator[Draft]:
    """Unknown role.

    Roles are built in or defined in the project's settings under `roles`; they are case-sensitive. The role
    decides what a stage may do, so an unknown one is refused.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "codr", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    for placed in view.flaws("RL007"):
        yield view.of_flaw(placed, *reworded(placed))


def reworded(placed: Placed) -> tuple[Fix, ...]:
    """The spelling that was probably meant."""
    flaw = placed.flaw
    if flaw.better is None or placed.piece is None or flaw.at is None:
        return ()
    span: Span = flaw.at.key.span if isinstance(flaw.at, Entry) else flaw.at.span
    return (builders.reword(placed.piece, span, flaw.better),)


@rule("RL008", "prompt-empty", Severity.ERROR, on="role_loop")
def prompt_empty(view: ObjectView) -> Iterator[Draft]:
    """Stage without a prompt.

    The prompt tells the role what to do in its turn.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": ""}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    yield from map(view.of_flaw, view.flaws("RL008"))


@rule("RL009", "order", Severity.WARNING, on="role_loop")
def order(view: ObjectView) -> Iterator[Draft]:
    """Stage numbers that do not match the order in the file.

    If every stage has an `order`, the numbers count and not the positions in the list: a number that goes
    down, is repeated or leaves a gap makes the file misleading.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Plans and builds a house",
          "roles": [
            {"role": "coder", "prompt": "Build.", "order": 1},
            {"role": "plan", "prompt": "Plan.", "order": 0}
          ],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Plans and builds a house",
          "roles": [
            {"role": "plan", "prompt": "Plan.", "order": 0},
            {"role": "coder", "prompt": "Build.", "order": 1}
          ],
          "termination_condition": {"type": "iteration_bound", "value": 2}
        }
    """
    parts = [part for stage in view.loop.stages if (part := stage.get("order")) is not None]
    for (earlier, number), part in zip(pairwise(view.loop.orders or ()), parts[1:], strict=False):
        if number == earlier + 1:
            continue
        if number == earlier:
            why = f"Duplicate number {number}: the previous stage has it too"
        elif number < earlier:
            why = f"{number} comes after {earlier}, so this stage runs earlier than its position in the list"
        else:
            why = f"Gap in the numbering between {earlier} and {number}"
        at = Spot(part.piece, value_span(part.field))
        yield Draft(at, f"{why}; number the stages in list order")
        return


@rule("RL010", "termination-missing", Severity.WARNING, on="role_loop", fixes=(Tier.SAFE,))
def termination_missing(view: ObjectView) -> Iterator[Draft]:
    """Missing termination condition.

    The loop ends after one iteration.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}]
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 1}
        }
    """
    parts = view.parts
    if parts.meant("termination_condition"):
        return
    last = list(parts.keys.values())[-1:]
    title = "Set a limit of one iteration"
    insert = tuple(
        add_key_behind(part, "termination_condition", {"type": "iteration_bound", "value": 1}, title) for part in last
    )
    message = "Missing `termination_condition`: the loop ends after one iteration"
    yield Draft(view.begin(), message, fixes=insert)


@rule("RL019", "no-evaluator", Severity.WARNING, on="role_loop")
def no_evaluator(view: ObjectView) -> Iterator[Draft]:
    """Loop that ends by approval, but has no suitable reviewer.

    The answer of the last stage ends an `evaluation_bound` loop. A role that can write files would judge
    its own work, and a judge that is not asked for a word of approval never approves.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house and looks at it",
          "roles": [
            {"role": "coder", "prompt": "Build."},
            {"role": "reviewer", "prompt": "Look at the house and describe it."}
          ],
          "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It stands"}}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house and looks at it",
          "roles": [
            {"role": "coder", "prompt": "Build."},
            {"role": "reviewer", "prompt": "Look at the house. Say APPROVED, or what is wrong with it."}
          ],
          "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It stands"}}
        }
    """
    reading = view.loop.termination
    if reading is None or reading.type != EVALUATION or not view.loop.in_run_order:
        return
    last = view.loop.in_run_order[-1]
    part = role_part(last)
    message = _why_no_evaluator(view, last)
    if part is not None and message is not None:
        yield Draft(Spot(last.piece, mark(part.node or part.entry)), message)


def _why_no_evaluator(view: ObjectView, last: Item) -> str | None:
    role = view.roles.get(view.loop.role_of(last) or "")
    if role is not None and role.access == "full":
        return f"The last stage is the judge, but `{role.name}` can write files and would judge its own work"
    prompt = last.get("prompt")
    text = None if prompt is None else text_of(prompt.node)
    if text is None or not text.strip() or _mode(view) == "llm":
        return None
    filled = fill(text, view.loop.values)
    if filled.open or any(word in filled.text.lower() for word in _APPROVING):
        return None
    said = shortened(text)
    return f"The prompt of the last stage never asks for approval (`{said}`); tell it when to answer APPROVED"


def _mode(view: ObjectView) -> str | None:
    part = view.parts.get("approval")
    block = None if part is None else part.field.value
    mode = block.get("mode") if isinstance(block, Block) else None
    return None if mode is None else text_of(mode.node)
