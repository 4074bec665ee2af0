"""What to tell about a step or loop: what it does, with whom, how much it may cost."""

from __future__ import annotations

from loop_ls.contract.amounts import count
from loop_ls.features.text.humanize import excerpt, listed
from loop_ls.index.calls import asks_judge, element_calls, innermost_runs, most_iterations
from loop_ls.index.document import Document
from loop_ls.index.effective import effective
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.markdown import code, escaped, in_braces


def element_text(workspace: Workspace, document: Document, element: Element) -> str:
    parts = [f"**{code(element.name or '(no name)')}** — {kind_text(element)}"]
    if element.loop is not None:
        parts += loop_facts(workspace, document, element)
    elif element.prompt:
        parts.append(f"“{escaped(excerpt(element.prompt, 200))}”")
    if element.kind == "step" and element.loop is None:
        parts += _step_facts(document, element)
    merged = [code(field.key.name) for field in element.block.fields.values() if field.entry.merged]
    if merged:
        parts.append(f"Merged in from an anchor: {listed(merged)}.")
    waits = _waits(document, element)
    if waits:
        parts.append(f"Waits for {listed([code(name) for name in waits])}.")
    return "\n\n".join(parts)


def kind_text(element: Element) -> str:
    """`run step`, `loop of polish, mode refine`."""
    reference = element.reference
    called = code(reference.text) if reference is not None and reference.text else "a workflow"
    if element.loop is not None:
        where = "loop" if element.kind == "loop" else "step with a loop"
        return f"{where}: repeats {called}" + (" for every item" if element.loop_mode == "iterate" else "")
    if reference is not None:
        return f"step: calls {called}"
    return f"{element.mode} step" if element.mode else "step without a mode"


def loop_facts(workspace: Workspace, document: Document, element: Element) -> list[str]:
    """How it ends, and the worst case in calls."""
    loop = element.loop
    assert loop is not None
    facts = []
    limit = most_iterations(workspace, element)
    until = loop.text("until")
    if element.loop_mode == "refine" and until:
        facts.append(
            f"Until “{escaped(excerpt(until, 120))}”" + (f", at most {count(limit, 'iteration')}" if limit else "")
        )
    elif limit:
        facts.append(f"At most {count(limit, 'item' if element.loop_mode == 'iterate' else 'iteration')}")
    calls = element_calls(workspace, document, element)
    if calls.most is not None and limit:
        per = calls.most // limit
        noun = "item" if element.loop_mode == "iterate" else "iteration"
        judged = ", including the judge" if asks_judge(workspace, element) else ""
        facts.append(f"Worst case: {count(calls.most, 'model call')} ({count(per, 'call')} per {noun}{judged})")
    runs = innermost_runs(workspace, document, element)
    if runs is not None and limit and runs > limit:
        facts.append(f"With the loops inside it, the innermost workflow runs up to {count(runs, 'time')}")
    if element.accumulate is not None:
        facts.append(f"All outputs are collected in {in_braces(element.accumulate.text)}")
    return facts


def _step_facts(document: Document, element: Element) -> list[str]:
    if element.mode not in ("run", "embeddings"):
        return []
    found = effective(document, element).models
    if not found.chain:
        return []
    asked = " then ".join(f"{code(target.provider)} {code(target.model)}" for target in found.chain)
    where = "" if found.source == "step" else f" (from {code(found.source)})"
    return [f"Asks {asked}{where}."]


def _waits(document: Document, element: Element) -> list[str]:
    position = document.position(element)
    return [document.elements[i].name or "?" for i in document.graph.targets(position)][:12]
