"""Conditions that a judge can answer."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.workflow.criterion_markers import markers, mentions
from loop_ls.formats.workflow.local_condition import read_local
from loop_ls.formats.workflow.verdict_prompt import asks_for_verdict
from loop_ls.index.element import Element, Slot, Use
from loop_ls.index.loop_variables import REFINE
from loop_ls.rules.docs.phrases import listed, shortened
from loop_ls.rules.engine.call_facts import Summary
from loop_ls.rules.engine.context import Draft, draft, node_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.own_entries import own_slots, own_uses, placeholder
from loop_ls.rules.engine.prefilter import CALL, UNTIL, USES
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.until.joined import Joined, joined
from loop_ls.rules.until.rewrites import without
from loop_ls.rules.until.vague import is_no_sentence, is_vague
from loop_ls.rules.workflow.variable_rules import is_judged_text
from loop_ls.text.pattern import pattern

LONG = 150
#: How a prompt asks for more than a verdict.
_REPEATS = pattern(r"(?i)\b(?:repeat|include|copy|quote|append|reproduce|below|followed by|word for word)\b")
#: Names of arguments that want a verdict.
_WANTS_VERDICT = pattern(
    r"(?i)review|feedback|verdict|critique|comment|issue|finding|judge|problem|complaint|error|fail"
)
_REFINE = frozenset(variable.name for variable in REFINE)


def conditions(element: Element) -> Iterator[Slot]:
    """The condition of a refine loop; in other loops it is never asked (WF407)."""
    if element.loop_mode == "refine":
        for slot in own_slots(element):
            if slot.kind == "until" and slot.scalar.text.strip():
                yield slot


@rule("WF701", "vague-condition", Severity.WARNING, on="element", about=UNTIL)
def vague_condition(element: Element, view: View) -> Iterator[Draft]:
    """Vague condition.

    A model asked whether "it looks good" says YES sooner or later, for no reason that anyone can verify.
    Name a text, a number or a fact. With `judge: {local: true}` and no model in the settings, a condition
    must name the exact text to look for: a run with any other condition is refused.

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
            message = "This condition needs a model to judge it, but `judge.local` is set and no judge model is "
            message += "configured; name the text to look for, e.g. The output says DONE"
            yield draft(element.piece, node_span(slot.scalar), message, Severity.ERROR)
        elif is_no_sentence(text):
            message = f"Not a condition: `{shortened(text)}`; write a sentence such as: The output says DONE"
            yield draft(element.piece, node_span(slot.scalar), message)
        elif is_vague(text):
            message = "Vague condition: name a text, a number or a fact to look for, e.g. The review says PASS"
            yield draft(element.piece, node_span(slot.scalar), message)


@rule("WF702", "interpolated-condition", Severity.WARNING, on="element", fixes=(Tier.REVIEW,), about=UNTIL)
def interpolated_condition(element: Element, view: View) -> Iterator[Draft]:
    """Condition that contains the text it judges.

    The judge already sees the output next to the condition. With `{{loop.output}}` in the condition it
    finds the answer in the question. Constants from `env` are fine.

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
        return f"{name} is a number that the judge does not see; use `max_iterations` to limit the loop"
    if use.name in ("loop.last.output", "loop.history"):
        return f"{name} is not the output that is judged; describe what the output itself must show"
    if use.name.startswith("loop."):
        return f"Don't use {name} in `until`: the judge already sees the output"
    never = "so this condition is never met; the judge sees the output without a variable"
    if summary is not None and use.name.removeprefix("step.") not in element.node.provides:
        return f"{name} is in `{shortened(summary.name)}` and not available here, {never}"
    return f"{name} does not exist until the loop has ended, {never}"


@rule("WF703", "joined-conditions", Severity.WARNING, on="element", about=UNTIL)
def joined_conditions(element: Element, view: View) -> Iterator[Draft]:
    """Several checks in one condition.

    A judge answers one question more reliably than three. Let the last step of the called workflow check
    everything and write one word, and look for that word.

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
                message = "Several checks in one condition: ask for one word that sums them up"
                yield draft(element.piece, node_span(slot.scalar), message)
            case Joined.CLAUSES:
                message = "Two statements in one condition: one that sums them up is judged more reliably"
                yield draft(element.piece, node_span(slot.scalar), message, Severity.INFORMATION)
            case Joined.NO:
                continue


def _is_looked_up(slot: Slot, view: View) -> bool:
    """Whether no model judges a condition: the settings have it decided by looking, and it names its text."""
    return view.judge_is_local() and read_local(slot.scalar.text) is not None


@rule("WF708", "marker-not-asked-for", Severity.INFORMATION, on="element", about=CALL)
def marker_not_asked_for(element: Element, view: View) -> Iterator[Draft]:
    """Condition that looks for a word which the called workflow is never told to write.

    The judge sees the output of the last step of the called workflow. If its prompt mentions none of the
    words in capitals, the condition is met only by chance.

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


@rule(
    "WF712",
    "verdict-as-result",
    Severity.WARNING,
    on="element",
    profile="pedantic",
    fixes=(Tier.REVIEW,),
    about=USES,
)
def verdict_as_result(element: Element, view: View) -> Iterator[Draft]:
    """Workflow that ends in a verdict, called by a loop that passes its result on as the work.

    The result of a workflow is that of its last step. If that is a review, the next iteration gets `PASS:
    fine` instead of the text, and so does every report of the loop. Let the review repeat the work below
    its verdict. An argument named `feedback`, `review` or similar expects the verdict and is not reported.
    The rule is in the profile `pedantic`, because in some files only the verdict matters.

    Bad::
        #- write_and_review.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: write, run: "Improve {{previous}}"}
          - {name: review, needs: [write], run: "Answer PASS if this is clear, else FAIL and why: {{write}}"}
        #- flow.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - name: polish
            workflow: write_and_review
            with: {previous: "{{loop.last.output}}"}
            max_iterations: 3
            on_failure: retry
            until: "The review says PASS"
    Good::
        #- write_and_review.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: write, run: "Improve {{previous}}"}
          - name: review
            needs: [write]
            run: "Answer PASS if this is clear, else FAIL and why, and repeat the text below it: {{write}}"
        #- flow.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - name: polish
            workflow: write_and_review
            with: {previous: "{{loop.last.output}}"}
            max_iterations: 3
            on_failure: retry
            until: "The review says PASS"
    """
    prompt = next((slot for slot in own_slots(element) if slot.asks and asks_for_verdict(slot.scalar.text)), None)
    if prompt is None:
        return
    work = next((use.name.removeprefix("step.") for use in reversed(element.uses) if view.producer(use.name)), None)
    if work is None or _REPEATS.search(prompt.scalar.text) or not view.gives_result(element):
        return
    for call in view.callers().loops:
        taken = [name for name in call.taken_as if _WANTS_VERDICT.search(name) is None]
        if call.loop_mode == "refine" and taken:
            told = f"The result is a verdict without `{shortened(work)}`, and `{call.element}` of `{call.workflow}` "
            votes = prompt.kind == "prompt"
            mend = "let a step after the vote give the work" if votes else "repeat the work below the verdict"
            told += f"passes it on as {listed(taken)}; {mend}"
            yield draft(element.piece, node_span(prompt.scalar), told, fixes=_work_below(element, prompt, work))
            return


def _work_below(element: Element, prompt: Slot, work: str) -> tuple[Fix, ...]:
    """Ask for the work below the verdict; not of models that vote, whose answers would be compared with all of it."""
    if prompt.kind == "prompt":
        return ()
    apart = "\n" if prompt.scalar.style.block else " "
    text = f"Repeat the work of `{work}` below your verdict, word for word.{apart}{prompt.scalar.text}"
    title = f"Ask for `{shortened(work)}` below the verdict"
    return (builders.write_text(element.piece, prompt.scalar, text, title),)


@rule("WF709", "long-condition", Severity.HINT, on="element", about=UNTIL)
def long_condition(element: Element, view: View) -> Iterator[Draft]:
    """Condition of more than 150 characters.

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
            message = f"Long condition ({length} characters): a short one is judged more reliably"
            yield draft(element.piece, node_span(slot.scalar), message)
