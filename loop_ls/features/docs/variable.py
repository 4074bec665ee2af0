"""What to tell about a variable at a place, in Markdown: meaning, producer, emptiness, values by iteration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loop_ls.contract.amounts import count
from loop_ls.features.answers import ShownRun
from loop_ls.features.text.humanize import excerpt, listed
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.index.element import Element
from loop_ls.index.loop_variables import NAMES
from loop_ls.index.scope import Scope, Variable
from loop_ls.index.workspace import Call
from loop_ls.text.markdown import code, escaped, in_braces

#: The values over the first three iterations (C1), where the place is inside the loop.
_BY_ITERATION = {
    "loop.iteration": "iteration 1: `1` · iteration 2: `2` · iteration 3: `3`",
    "loop.last.output": "iteration 1: empty · iteration 2: output 1 · iteration 3: output 2",
    "loop.output": "iteration 1: empty · iteration 2: output 1 · iteration 3: output 2",
    "loop.history": "iteration 1: empty · iteration 2: output 1 · iteration 3: `output 1---output 2`",
}
_BY_ITERATION_IN_UNTIL = {
    "loop.iteration": "iteration 1: `1` · iteration 2: `2`",
    "loop.last.output": "iteration 1: empty · iteration 2: output 1",
    "loop.output": "iteration 1: output 1 · iteration 2: output 2",
    "loop.history": "iteration 1: output 1 · iteration 2: `output 1---output 2`",
}
_KINDS = {
    "input": "input of the workflow",
    "env": "constant",
    "result": "result",
    "accumulate": "collected outputs",
    "rag": "part of a search result",
    "argument": "argument",
    "item": "item of an iterate loop",
    "loop": "loop variable",
}


def variable_text(variable: Variable, in_loop: str | None = None) -> str:
    """The whole explanation. `in_loop` is the field of a loop that the place is in."""
    parts = [f"**{in_braces(variable.name)}** — {_KINDS[variable.kind]}", _sentence(variable.meaning)]
    if variable.alias_of:
        parts.append(f"Alias of {in_braces(variable.alias_of)}.")
    if variable.element is not None and variable.kind != "loop":
        parts.append(producer_text(variable.element))
    if (values := _values(variable, in_loop)) is not None:
        parts.append(values)
    if (empty := _emptiness(variable)) is not None:
        parts.append(empty)
    if in_loop == "until" and variable.kind == "loop" and variable.name != "loop.iteration":
        parts.append("Don't use it in a condition: the judge already sees the output.")
    elif variable.waits and variable.element is not None and variable.kind != "loop":
        parts.append(f"Using it here adds a dependency on {code(variable.element.name)}.")
    return "\n\n".join(parts)


def last_run_text(variable: Variable, runs: Sequence[ShownRun]) -> str | None:
    """What it was in the latest run that came so far."""
    producer = variable.element.name if variable.element is not None else ""
    if variable.kind not in ("result", "loop") or (variable.kind == "loop" and not variable.name.endswith("output")):
        return None
    for run in reversed(runs):
        if said := run.results.get(producer):
            return f"In the last run: “{escaped(excerpt(said, 300))}”"
    return None


def unknown_text(name: str, scope: Scope, callers: tuple[Call, ...]) -> str:
    """A name that nothing defines here: a parameter where it is simple, else a slip."""
    head = f"**{in_braces(name)}**"
    if "." not in name and callers:
        return f"{head} — parameter\n\nNo caller passes it; it stays as text."
    if "." not in name:
        return f"{head} — parameter\n\nNot defined in this file: callers pass it in `with`."
    known = nearest(name, _like(name, scope))
    near = f" Did you mean {in_braces(known)}?" if known else ""
    return f"{head} is not available here.{near}"


def _like(name: str, scope: Scope) -> Iterable[str]:
    """The dotted names that may have been meant."""
    match name.partition(".")[0]:
        case "env":
            return (f"env.{key}" for key in sorted(scope.document.env))
        case "loop":
            return NAMES
        case "step":
            return (f"step.{known}" for known in sorted(scope.document.names))
        case _:
            return ()


def producer_text(element: Element) -> str:
    """Which element it comes from, and what that does."""
    reference = element.reference
    if element.loop is not None:
        limit = element.loop.integer("max_iterations")
        atmost = f", at most {count(limit, 'iteration')}" if limit is not None and element.loop_mode == "refine" else ""
        calls = f" of {code(reference.text)}" if reference is not None and reference.text else ""
        return f"From the loop {code(element.name)}{calls}{atmost}."
    if reference is not None and reference.text:
        return f"From the step {code(element.name)}, which calls {code(reference.text)}."
    said = f": “{escaped(excerpt(element.prompt, 120))}”" if element.prompt else "."
    return f"From the {element.mode or ''} step {code(element.name)}{said}".replace("the  step", "the step")


def _values(variable: Variable, in_loop: str | None) -> str | None:
    if variable.kind != "loop" or "(`" in variable.meaning:
        return None
    table = _BY_ITERATION_IN_UNTIL if in_loop == "until" else _BY_ITERATION
    if variable.first is None and in_loop != "until":
        return None
    return table.get(variable.name) or (f"First value: {code(variable.first)}" if variable.first else None)


def _emptiness(variable: Variable) -> str | None:
    if variable.kind == "loop" or not variable.can_be_empty:
        return None
    element = variable.element
    if element is None:
        return "Can be empty." if variable.kind in ("input", "argument") else None
    reasons = []
    if element.block.has("if"):
        reasons.append("its `if` is false")
    if any(block is not None and block.text("on_failure") == "continue" for block in (element.block, element.loop)):
        every = "every iteration fails" if element.loop is not None else "it fails"
        reasons.append(f"{every} (`on_failure: continue`)")
    return f"Empty when {listed(reasons, 'or')}." if reasons else None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
