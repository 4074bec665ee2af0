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
    """Comparison in `if`.

    It works in loop-ls; mcp-cli always evaluates `${{ x == "v" }}` to false and `{{x}} == 'v'` to true.

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
            yield draft(element.piece, node_span(slot.scalar), f"mcp-cli always evaluates this comparison to {always}")


@rule("WF213", "if-operator", Severity.WARNING, on="element", local=True, about=CONDITION)
def if_operator(element: Element) -> Iterator[Draft]:
    """Unsupported operator or call in `if`.

    Only `==` and `!=` between one variable and one text, or a single variable, are supported. For anything
    else, let a step ask a model.

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
        message = f"{start} is not supported in `if`; compare one variable with `==` or `!=`, or use a single variable"
        yield draft(element.piece, node_span(slot.scalar), message)


@rule("WF214", "constant-if", Severity.INFORMATION, on="element", local=True, about=CONDITION)
def constant_if(element: Element) -> Iterator[Draft]:
    """`if` without any variable: it is always true, or always false.

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
            message = "No variable in `if`: it is always true; write names in braces, e.g. `{{name}} == 'text'`"
            yield draft(element.piece, node_span(slot.scalar), message)
        elif not condition.unsupported:
            false = slot.scalar.text.strip().casefold() in ("", "0", "false")
            message = f"No variable in `if`: it is always {'false' if false else 'true'}"
            yield draft(element.piece, node_span(slot.scalar), message)


def _compares_nothing(slot: Slot, condition: Condition) -> bool:
    """Words on both sides of a comparison, none of them in braces."""
    return condition.unsupported in _COMPARES and not slot.islands
