"""Fixes of a condition with a variable: the sentence without it, or what the called workflow is told to write."""

from __future__ import annotations

from dataclasses import replace

from loop_ls.index.element import Element, Use
from loop_ls.rules.engine.call_facts import Summary
from loop_ls.rules.engine.finding import Fix
from loop_ls.rules.engine.own_entries import own_uses
from loop_ls.rules.fixes import builders
from loop_ls.rules.until.criteria import from_last_step


def without(element: Element, use: Use, summary: Summary | None) -> tuple[Fix, ...]:
    """The sentence without the variable, and what the called workflow is told to write."""
    scalar = use.slot.scalar
    same = [other for other in own_uses(element) if other.slot is use.slot and other.name == use.name]
    sentence = builders.condition_without(element.piece, scalar, use.name, same.index(use))
    if _is_hidden(use, summary):
        sentence = None
    told = None
    if summary is not None and summary.last_prompt:
        sure = (one.text for one in from_last_step(summary.last_step, summary.last_prompt) if one.sure)
        told = next((builders.write_text(element.piece, scalar, text, f"Write “{text}”") for text in sure), None)
    found = [fix for fix in (sentence, told) if fix is not None]
    if sentence is not None or (told is not None and scalar.text.strip() == same[0].island.raw.join(("{{", "}}"))):
        found[0] = replace(found[0], preferred=True)
    return tuple(found)


def _is_hidden(use: Use, summary: Summary | None) -> bool:
    """Whether a variable is the result of a step of the callee that the judge never sees: not its last."""
    name = use.name.removeprefix("step.")
    return summary is not None and name in summary.names and name not in (summary.last_step, summary.name)
