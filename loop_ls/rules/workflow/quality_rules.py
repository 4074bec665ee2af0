"""Conditions that a judge can answer."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.workflow.criterion_markers import markers, mentions
from loop_ls.formats.workflow.local_condition import read_local
from loop_ls.index.element import Element, Slot, Use
from loop_ls.index.loop_variables import REFINE
from loop_ls.rules.docs.phrases import listed, shortened
from loop_ls.rules.engine.call_facts import Summary
from loop_ls.rules.engine.context import Draft, draft, node_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.own_entries import own_slots, own_uses, placeholder
from loop_ls.rules.engine.prefilter import CALL, UNTIL
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.until.joined import Joined, joined
from loop_ls.rules.until.rewrites import without
from loop_ls.rules.until.vague import is_no_sentence, is_vague
from loop_ls.rules.workflow.variable_rules import is_judged_text

LONG = 150
_REFINE = frozenset(variable.name for variable in REFINE)


def conditions(element: Element) -> Iterator[Slot]:
    """The condition of a refine loop; in other loops it is never asked (WF407)."""
    if element.loop_mode == "refine":
        for slot in own_slots(element):
            if slot.kind == "until" and slot.scalar.text.strip():
                yield slot


@rule("WF701", "vague-condition", Severity.WARNING, on="element", about=UNTIL)
def vague_condition(element: Element, view: View) -> Iterator[Draft]:
    """A condition that names nothing to look for.

    A model asked whether "it looks good" says YES sooner or later, for no reason that anybody can
    check. Name a text, a number or a fact. With `judge: {local: true}` and no model in the settings, a
    condition has to name the very text to look for: a run with any other is refused.

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
        text = slot.scalar.text
        if view.judge_is_local() and not view.judge_has_model() and read_local(text) is None:
            message = "the setting `judge` is local without a model, and this condition takes judgement: name the text "
            message += "to look for, such as: The output says DONE"
            yield draft(element.piece, node_span(slot.scalar), message, Severity.ERROR)
        elif is_no_sentence(text):
            message = f"`{shortened(text)}` is not a condition: write a sentence such as: The output says DONE"
            yield draft(element.piece, node_span(slot.scalar), message)
        elif is_vague(text):
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
        if use.slot.kind == "until" and element.loop_mode == "refine" and _is_about_output(element, use, view):
            summary = view.callee(element.reference).summary if element.reference is not None else None
            message = _about_judged(element, use, summary)
            yield draft(element.piece, placeholder(use), message, fixes=without(element, use, summary))


def _is_about_output(element: Element, use: Use, view: View) -> bool:
    """Of `loop.*` those that a refine loop has: others are WF503 and WF507."""
    return use.name in _REFINE if use.name.startswith("loop.") else is_judged_text(element, use, view)


def _about_judged(element: Element, use: Use, summary: Summary | None) -> str:
    """Why a variable does not belong here. Results of steps do not even exist yet, so the condition is never met."""
    name = f"`{{{{{shortened(use.name)}}}}}`"
    if use.name == "loop.iteration":
        return f"{name} is a number that the output does not show: `max_iterations` limits the loop"
    if use.name in ("loop.last.output", "loop.history"):
        return f"{name} is not the output that is judged: name what the output itself has to show"
    if use.name.startswith("loop."):
        return f"the condition contains the text it judges: {name} puts the answer into the question"
    never = "so this condition is never met; the judge sees the output without a variable"
    if summary is not None and use.name.removeprefix("step.") not in element.node.provides:
        return f"{name} is in `{shortened(summary.name)}` and not known here, {never}"
    return f"{name} does not exist before the loop has ended, {never}"


@rule("WF703", "joined-conditions", Severity.WARNING, on="element", about=UNTIL)
def joined_conditions(element: Element, view: View) -> Iterator[Draft]:
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
        if _is_looked_up(slot, view):
            continue
        match joined(slot.scalar.text):
            case Joined.CHECKS:
                message = "this condition asks for several things at once: ask for one word that sums them up"
                yield draft(element.piece, node_span(slot.scalar), message)
            case Joined.CLAUSES:
                message = "this condition joins two statements: one that sums them up is judged more reliably"
                yield draft(element.piece, node_span(slot.scalar), message, Severity.INFORMATION)
            case Joined.NO:
                continue


def _is_looked_up(slot: Slot, view: View) -> bool:
    """Whether no model judges a condition: the settings have it decided by looking, and it names its text."""
    return view.judge_is_local() and read_local(slot.scalar.text) is not None


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


@rule("WF709", "long-condition", Severity.HINT, on="element", about=UNTIL)
def long_condition(element: Element, view: View) -> Iterator[Draft]:
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
        if length > LONG and not _is_looked_up(slot, view):
            message = f"this condition has {length} characters: a short one is judged more reliably"
            yield draft(element.piece, node_span(slot.scalar), message)
