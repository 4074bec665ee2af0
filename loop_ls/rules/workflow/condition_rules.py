"""The `if` of a step."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.workflow.condition import Condition
from loop_ls.index.element import Element, Slot
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import Draft, draft, node_span
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.own_entries import own_slots
from loop_ls.rules.engine.prefilter import CONDITION
from loop_ls.rules.engine.registry import rule

_COMPARES = ("==", "!=")


def _conditions(element: Element) -> Iterator[tuple[Slot, Condition]]:
    return ((slot, slot.condition) for slot in own_slots(element) if slot.condition is not None)


@rule("WF212", "if-comparison", Severity.INFORMATION, on="element", local=True, profile="compat", about=CONDITION)
def if_comparison(element: Element) -> Iterator[Draft]:
    """An `if` that compares.

    It works here; mcp-cli takes `${{ x == "v" }}` for false and `{{x}} == 'v'` for true, always.

    Bad::
        steps:
          - {name: check, run: "Is {{input}} polite? Answer yes or no."}
          - name: greet
            needs: [check]
            if: "{{check}} == 'yes'"
            run: "Greet {{input}}"
    Good::
        steps:
          - {name: check, run: "Is {{input}} polite? Answer yes or nothing."}
          - name: greet
            needs: [check]
            if: "{{check}}"
            run: "Greet {{input}}"
    """
    for slot, condition in _conditions(element):
        if condition.kind == "compare":
            always = "false" if condition.expression else "true"
            yield draft(element.piece, node_span(slot.scalar), f"mcp-cli takes this comparison for {always}, always")


@rule("WF213", "if-operator", Severity.WARNING, on="element", local=True, about=CONDITION)
def if_operator(element: Element) -> Iterator[Draft]:
    """An `if` with an operator or call that does not exist.

    There are `==` and `!=` between one variable and one text, and a variable on its own. A step that
    asks a model for the combined answer does the rest.

    Bad::
        steps:
          - {name: check, run: "Is {{input}} polite? Answer yes or no."}
          - name: greet
            needs: [check]
            if: "{{check}} && {{input}}"
            run: "Greet {{input}}"
    Good::
        steps:
          - {name: check, run: "Is {{input}} polite? Answer yes or no."}
          - name: greet
            needs: [check]
            if: "{{check}} == 'yes'"
            run: "Greet {{input}}"
    """
    for slot, condition in _conditions(element):
        if not condition.unsupported or _compares_nothing(slot, condition):
            continue
        known = condition.unsupported in _COMPARES
        start = "this comparison" if known else f"`{shortened(condition.unsupported)}`"
        message = f"{start} does not exist in `if`: compare one variable with `==` or `!=`, or write a variable alone"
        yield draft(element.piece, node_span(slot.scalar), message)


@rule("WF214", "constant-if", Severity.INFORMATION, on="element", local=True, about=CONDITION)
def constant_if(element: Element) -> Iterator[Draft]:
    """An `if` without any variable: it is always true, or always false.

    Bad::
        steps:
          - name: greet
            if: "true"
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            if: "{{input}}"
            run: "Greet {{input}}"
    """
    for slot, condition in _conditions(element):
        if slot.islands:
            continue
        if _compares_nothing(slot, condition):
            message = "this `if` holds no variable, so it is always true; a name needs braces: `{{name}} == 'text'`"
            yield draft(element.piece, node_span(slot.scalar), message)
        elif not condition.unsupported:
            false = slot.scalar.text.strip().casefold() in ("", "0", "false")
            message = f"this `if` holds no variable, so it is always {'false' if false else 'true'}"
            yield draft(element.piece, node_span(slot.scalar), message)


def _compares_nothing(slot: Slot, condition: Condition) -> bool:
    """Words on both sides of a comparison, none of them in braces."""
    return condition.unsupported in _COMPARES and not slot.islands
