"""Conditions that a judge can answer (5.8)."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.index.element import Element, Slot, Use
from loop_ls.rules import fixes
from loop_ls.rules.finding import Fix, Severity, Tier
from loop_ls.rules.registry import rule
from loop_ls.rules.site import Draft, draft, node_span
from loop_ls.rules.traits import CALL, UNTIL
from loop_ls.rules.until.joined import Joined, joined
from loop_ls.rules.until.markers import markers, mentions
from loop_ls.rules.until.vague import is_vague
from loop_ls.rules.variable_rules import is_judged_text
from loop_ls.rules.view import View
from loop_ls.rules.wording import listed, shortened
from loop_ls.rules.written import own_slots, own_uses, placeholder

LONG = 150


def conditions(element: Element) -> Iterator[Slot]:
    """The condition of a refine loop; in other loops it is never asked (WF407)."""
    if element.loop_mode == "refine":
        for slot in own_slots(element):
            if slot.kind == "until" and slot.of_loop and slot.scalar.text.strip():
                yield slot


@rule("WF701", "vague-condition", Severity.WARNING, on="element", local=True, about=UNTIL)
def vague_condition(element: Element) -> Iterator[Draft]:
    """A condition that names nothing to look for.

    A model asked whether "it looks good" says YES sooner or later, for no reason that anybody can
    check. Name a text, a number or a fact.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "Everything seems okay"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for slot in conditions(element):
        if is_vague(slot.scalar.text):
            message = "this condition names nothing to look for: name a text, a number or a fact"
            yield draft(element.piece, node_span(slot.scalar), message)


@rule("WF702", "interpolated-condition", Severity.WARNING, on="element", fixes=(Tier.REVIEW,), about=UNTIL)
def interpolated_condition(element: Element, view: View) -> Iterator[Draft]:
    """A condition that contains the text it judges.

    The judge sees the output beside the condition. With `{{loop.output}}` in the condition it reads
    the answer in the question. Constants from `env` are fine.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The text repeats {{loop.output}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The text is at most 90 words long"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for use in own_uses(element):
        if use.slot.kind == "until" and element.loop_mode == "refine" and is_judged_text(element, use, view):
            name = f"`{{{{{use.name}}}}}`"
            message = f"the condition contains the text it judges: {name} puts the answer into the question"
            yield draft(element.piece, placeholder(use), message, fixes=(_without(element, use),))


def _without(element: Element, use: Use) -> Fix:
    same = [other for other in own_uses(element) if other.slot is use.slot and other.name == use.name]
    return fixes.condition_without(element.piece, use.slot.scalar, use.name, same.index(use))


@rule("WF703", "joined-conditions", Severity.WARNING, on="element", local=True, about=UNTIL)
def joined_conditions(element: Element) -> Iterator[Draft]:
    """A condition that asks for several things at once.

    A judge answers one question better than three. Let the last step of the called workflow check
    everything and write one word, and ask for that word.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "It compiles AND lints AND has docs"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "Score is 8 or higher"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for slot in conditions(element):
        match joined(slot.scalar.text):
            case Joined.CHECKS:
                message = "this condition asks for several things at once: ask for one word that sums them up"
                yield draft(element.piece, node_span(slot.scalar), message)
            case Joined.CLAUSES:
                message = "this condition joins two statements: one that sums them up is judged more reliably"
                yield draft(element.piece, node_span(slot.scalar), message, Severity.INFORMATION)
            case Joined.NO:
                continue


@rule("WF708", "marker-not-asked-for", Severity.INFORMATION, on="element", about=CALL)
def marker_not_asked_for(element: Element, view: View) -> Iterator[Draft]:
    """A condition that looks for a word which the called workflow is never told to write.

    The judge sees the output of the callee's last step. If its prompt mentions none of the words in
    capitals, the condition holds by chance at best.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains APPROVED"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if element.reference is None:
        return
    for slot in conditions(element):
        found = markers(slot.scalar.text)
        summary = view.callee(element.reference).summary if found else None
        if summary is None or summary.last_prompt is None:
            continue
        if not any(mentions(summary.last_prompt, marker) for marker in found):
            verb = "mentions" if len(found) == 1 else "mentions any of"
            message = (
                f"`{shortened(summary.last_step)}`, the last step of `{summary.name}`, never {verb} {listed(found)}"
            )
            yield draft(element.piece, node_span(slot.scalar), message)


@rule("WF709", "long-condition", Severity.HINT, on="element", local=True, about=UNTIL)
def long_condition(element: Element) -> Iterator[Draft]:
    """A condition of more than 150 characters.

    Bad::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY in its last line, which is the line below the improved text, the text
              that was asked for in the very beginning of this long, winding story of a loop"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The last line of the reply is READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for slot in conditions(element):
        length = len(slot.scalar.text)
        if length > LONG:
            message = f"this condition has {length} characters: a short one is judged more reliably"
            yield draft(element.piece, node_span(slot.scalar), message)
