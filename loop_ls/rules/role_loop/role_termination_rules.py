"""Role-loop definitions: when a loop ends."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.typed_mapping import Block
from loop_ls.rules.engine.context import Draft, Spot, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.syntax.nodes import Entry


@rule("RL011", "termination-type", Severity.ERROR, on="role_loop", fixes=(Tier.SAFE,))
def termination_type(view: ObjectView) -> Iterator[Draft]:
    """Missing or unknown termination type.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "sometimes", "value": 3}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 3}
        }
    """
    for placed in view.flaws("RL011"):
        yield view.of_flaw(placed, *(() if placed.flaw.parameter else reworded(placed)))


@rule("RL012", "termination-value", Severity.ERROR, on="role_loop", fixes=(Tier.SAFE,))
def termination_value(view: ObjectView) -> Iterator[Draft]:
    """Invalid value for the termination type.

    `evaluation_bound` takes `criteria` and `max_review_rounds`, `iteration_bound` a number of iterations,
    `goal_bound` an object with `max_iterations`, `time_bound` seconds or a date. Limits must be above 0 and
    may be strings; a placeholder counts with the default of its parameter.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 0}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds a house",
          "roles": [{"role": "coder", "prompt": "Build."}],
          "termination_condition": {"type": "iteration_bound", "value": 3}
        }
    """
    condition = view.parts.get("termination_condition")
    block = condition.field.value if condition is not None else None
    for placed in view.flaws("RL012"):
        flaw = placed.flaw
        if not flaw.advice:
            yield view.of_flaw(placed)
            continue
        rename: tuple[Fix, ...] = ()
        alone = isinstance(block, Block) and not block.has("value")
        if alone and isinstance(flaw.at, Entry):
            assert placed.piece is not None, "a key is in one piece"
            rename = (builders.reword(placed.piece, flaw.at.key.span, "value"),)
        yield view.of_flaw(placed, *rename)._replace(severity=Severity.INFORMATION)


@rule("RL021", "manual-unbounded", Severity.INFORMATION, on="role_loop")
def manual_unbounded(view: ObjectView) -> Iterator[Draft]:
    """Loop without an automatic end.

    It continues, and costs money, until you stop it or a project limit is reached.

    Bad::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds one house after the other",
          "roles": [{"role": "coder", "prompt": "Build one more house."}],
          "termination_condition": {"type": "manual"}
        }
    Good::
        #- loops/build.json
        {
          "name": "build",
          "description": "Builds three houses",
          "roles": [{"role": "coder", "prompt": "Build one more house."}],
          "termination_condition": {"type": "iteration_bound", "value": 3}
        }
    """
    part = view.parts.get("termination_condition")
    if part is None or not view.loop.is_manual or not isinstance(part.field.value, Block):
        return
    message = "This loop runs until you stop it, and every iteration costs money"
    yield Draft(Spot(part.piece, value_span(part.field.value.fields["type"])), message)
