"""What to tell about the text of an `until`: the question as the judge gets it, and what makes a good answer."""

from __future__ import annotations

from loop_ls.features.complete.items.callees import prompt_of
from loop_ls.features.docs.element import loop_facts
from loop_ls.formats.workflow.judge_question import until_question
from loop_ls.formats.workflow.local_condition import read_local
from loop_ls.index.calls import asks_judge
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.until.criteria import from_last_step
from loop_ls.text.markdown import code, escaped, fenced

_OUTPUT = "‹the output of the iteration›"
#: Conditions that are proposed.
_SHOWN = 3


def condition_text(workspace: Workspace, document: Document, element: Element, condition: str) -> str:
    parts = ["**`until`** — the condition that ends the loop", *_asked(workspace, element, condition)]
    parts += loop_facts(workspace, document, element)
    callee = workspace.callee(document, element.reference)
    last = callee.last_step() if callee is not None else None
    if callee is not None and last is not None:
        told = [one for one in from_last_step(last.name, prompt_of(callee)) if one.text != condition.strip()]
        known = any(one.hole and one.hole in condition for one in from_last_step(last.name, prompt_of(callee)))
        if told and not known:
            listed = "\n".join(f"- {escaped(one.text)} ({one.why})" for one in told[:_SHOWN])
            parts.append(f"What the called workflow provides:\n\n{listed}")
        elif not told and not known:
            name = code(last.name or "its last step")
            parts.append(f"Write a word, number or fact that the output shows, and tell {name} to write it.")
    return "\n\n".join(parts)


def _asked(workspace: Workspace, element: Element, condition: str) -> list[str]:
    if not asks_judge(workspace, element) and element.loop_mode == "refine" and read_local(condition) is not None:
        return ["The engine looks for the text itself after each iteration; no model is asked."]
    question = until_question(condition, _OUTPUT, workspace.settings.judge_impossible)
    return ["After each iteration the judge is asked:", fenced(question)]
