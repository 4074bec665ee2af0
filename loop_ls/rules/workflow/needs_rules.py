"""Who waits for whom: `needs`, and results that are used without waiting."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.element import Element, Use
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.callee_summary import AFTERWARDS
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Spot, draft
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.own_entries import own_needs, own_uses, placeholder
from loop_ls.rules.engine.prefilter import NEEDS, ORDER, USES
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.syntax.nodes import Alias


@rule("WF301", "unknown-need", Severity.ERROR, on="element", fixes=(Tier.SAFE,), about=NEEDS)
def unknown_need(element: Element, view: View) -> Iterator[Draft]:
    """Unknown step or loop in `needs`.

    Steps and top-level loops count wherever they are in the file.

    Bad::
        steps:
          - name: research
            run: "Find facts on {{input}}"
          - name: report
            needs: [reserach]
            run: "Report on {{input}}"
          - name: finish
            needs: [research, report]
            run: "Say that it is done"
    Good::
        steps:
          - name: research
            run: "Find facts on {{input}}"
          - name: report
            needs: [research]
            run: "Report on {{input}}"
    """
    for need in own_needs(element):
        known = view.known(need.name)
        if known is not None and known.kind != "accumulate":
            continue
        if known is not None:
            message = (
                f"`{shortened(need.name)}` is a variable of the loop `{known.owner}`; use the loop's name in `needs`"
            )
            better: str | None = known.owner
        else:
            better = view.near_name(need.name)
            better = None if better == element.name else better  # no step waits for itself
            hint = f"; did you mean `{better}`?" if better else ""
            message = f"Unknown step or loop `{shortened(need.name)}` in `needs`{hint}"
        closes_a_circle = better is not None and view.waits_for(better, element)  # WF303
        fix = (builders.reword(element.piece, need.span, better),) if better and not closes_a_circle else ()
        yield draft(element.piece, need.span, message, fixes=fix)


def _who(element: Element) -> str:
    return f"`{shortened(element.name)}`" if element.name else "this step"


@rule("WF302", "needs-itself", Severity.ERROR, on="element", local=True, about=NEEDS)
def needs_itself(element: Element) -> Iterator[Draft]:
    """Step that depends on itself, and so never starts.

    Bad::
        steps:
          - name: essay
            needs: [essay]
            run: "Write about {{input}}"
    Good::
        steps:
          - name: essay
            needs: []
            run: "Write about {{input}}"
    """
    for need in element.needs:
        if need.name == element.name:
            field = element.block.fields["needs"]
            span = field.span if isinstance(field.node, Alias) else need.span
            yield draft(element.piece, span, f"`{shortened(need.name)}` depends on itself")


@rule("WF303", "cycle", Severity.ERROR, on="document")
def cycle(view: View) -> Iterator[Draft]:
    """Circular dependency of steps or loops.

    None of them can start, nor can anything that depends on them. Dependencies come from `needs` and from
    every variable that is another step's result.

    Bad::
        steps:
          - name: questions
            needs: [answers]
            run: "Ask about {{input}}"
          - name: answers
            needs: [questions]
            run: "Answer about {{input}}"
    Good::
        steps:
          - name: questions
            run: "Ask about {{input}}"
          - name: answers
            needs: [questions]
            run: "Answer {{questions}}"
    """
    for members in view.cycles():
        edges = [edge(one, other) for one, other in zip(members, (*members[1:], members[0]), strict=True)]
        names = " → ".join(f"`{shortened(member.name)}`" for member in (*members, members[0]))
        first, *others = edges
        yield Draft(
            first[0],
            f"Circular dependency, so none of these can start: {names}",
            related=tuple(others),
        )


def edge(element: Element, target: Element) -> tuple[Spot, str]:
    """Where an element says that it waits for another, and a sentence about it."""
    text = f"`{shortened(element.name)}` waits for `{shortened(target.name)}`"
    places = [need.span for need in element.needs if need.name == target.name]
    given = (*target.node.provides,)
    places += [placeholder(use) for use in element.uses if any(name in given for name in producers(use.name))]
    if not places:
        places = [placeholder(use) for use in element.uses if use.name in AFTERWARDS] or [element.label_span]
    return Spot(element.piece, min(places)), text


@rule("WF304", "used-without-needs", Severity.WARNING, on="element", fixes=(Tier.SAFE,), about=USES)
def used_without_needs(element: Element, view: View) -> Iterator[Draft]:
    """Result that is used without being in `needs`.

    The step waits for it anyway, but readers and other programs rely on `needs`. Indirect dependencies
    through other steps or a loop are fine.

    Bad::
        steps:
          - name: outline
            run: "Outline {{input}}"
          - name: essay
            run: "Write from {{outline}}"
    Good::
        steps:
          - name: outline
            run: "Outline {{input}}"
          - name: essay
            needs: [outline]
            run: "Write from {{outline}}"
    """
    if element.kind != "step" or view.default("parallel") or _is_being_typed(element):
        return
    told: set[str] = set()
    for use in own_uses(element):
        owner = _owner(element, use, view)
        if owner is None or owner in told or view.depends_explicitly(element, owner) or view.waits_for(owner, element):
            continue
        told.add(owner)
        yield draft(
            element.piece,
            placeholder(use),
            f"`{shortened(owner)}` is used here, but not listed in `needs`",
            fixes=(builders.add_need(element, owner),),
        )


def _is_being_typed(element: Element) -> bool:
    """Whether the list of `needs` is still open, or none: who knows what comes into it."""
    field = element.block.get("needs")
    if field is None or field.faults:
        return field is not None
    line = field.entry.key.span.start.line
    return any(fault.code == "open-bracket" and fault.span.start.line == line for fault in element.piece.faults)


def _owner(element: Element, use: Use, view: View) -> str | None:
    """The step or loop whose result a use is, as far as `needs` has to name it."""
    if use.name.startswith("env."):
        return None
    if use.name in ("loop.iteration", "loop.output"):
        return None if use.slot.of_loop else view.third_loop(element)
    known = view.producer(use.name)
    if (
        known is None
        or known.owner == element.name
        or any(_names(need.name, known.owner, view) for need in element.needs)
    ):
        return None
    return known.owner or None


def _names(need: str, owner: str, view: View) -> bool:
    """Whether an entry of `needs` is this step, or means it (WF301 tells of that)."""
    return need == owner or (view.known(need) is None and view.near_name(need) == owner)


@rule("WF305", "parallel-without-needs", Severity.ERROR, on="element", fixes=(Tier.SAFE,), about=USES)
def parallel_without_needs(element: Element, view: View) -> Iterator[Draft]:
    """With `parallel: true`, a result that is used without being in the step's own `needs`.

    mcp-cli rejects this, even if another step in between waits for the result.

    Bad::
        execution: {provider: ollama, model: llama3.2, parallel: true}
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write from {{outline}}"}
          - {name: review, needs: [essay], run: "Compare {{essay}} with {{outline}}"}
    Good::
        execution: {provider: ollama, model: llama3.2, parallel: true}
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write from {{outline}}"}
          - {name: review, needs: [essay, outline], run: "Compare {{essay}} with {{outline}}"}
    """
    if element.kind != "step" or not view.default("parallel") or _is_being_typed(element):
        return
    told: set[str] = set()
    for use in own_uses(element):
        if use.name.startswith("loop."):
            continue
        owner = _owner(element, use, view)
        if owner is None or owner in told or view.waits_for(owner, element):
            continue
        told.add(owner)
        yield draft(
            element.piece,
            placeholder(use),
            f"with `parallel: true`, `{shortened(owner)}` must be in the `needs` of {_who(element)} itself",
            fixes=(builders.add_need(element, owner),),
        )


@rule("WF306", "parallel-needs-loop", Severity.WARNING, on="element", about=NEEDS)
def parallel_needs_loop(element: Element, view: View) -> Iterator[Draft]:
    """With `parallel: true`, `needs` on a top-level loop: mcp-cli rejects this. A loop inside a step is
    fine.

    Bad::
        execution: {provider: ollama, model: llama3.2, parallel: true}
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        execution: {provider: ollama, model: llama3.2, parallel: true}
        steps:
          - name: polish
            loop: {workflow: draft, max_iterations: 3, until: "The reply contains READY"}
          - {name: print, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if not view.default("parallel"):
        return
    for need in own_needs(element):
        known = view.known(need.name)
        if known is not None and known.kind == "loop":
            message = f"mcp-cli rejects `needs` on the top-level loop `{shortened(need.name)}` with `parallel: true`"
            yield draft(element.piece, need.span, message)


@rule("WF307", "need-twice", Severity.HINT, on="element", local=True, about=NEEDS)
def need_twice(element: Element) -> Iterator[Draft]:
    """Duplicate entry in `needs`.

    Bad::
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline, outline], run: "Write from {{outline}}"}
    Good::
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write from {{outline}}"}
    """
    seen: set[str] = set()
    for need in own_needs(element):
        if need.name in seen:
            message = f"Duplicate entry `{shortened(need.name)}` in `needs`"
            yield draft(element.piece, need.span, message, tags=UNNECESSARY)
        seen.add(need.name)


@rule("WF308", "order-beside-needs", Severity.HINT, on="element", local=True, profile="pedantic", about=ORDER)
def order_beside_needs(element: Element) -> Iterator[Draft]:
    """`execution_order` together with `needs`, which already determines the order.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], execution_order: 2, run: "Write from {{outline}}"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write from {{outline}}"}
    """
    field = element.block.get("execution_order")
    if field is not None and not field.entry.merged and element.needs:
        yield draft(element.piece, field.entry.key.span, "`needs` already determines the order")


@rule("WF309", "order-against-needs", Severity.INFORMATION, on="element", about=ORDER)
def order_against_needs(element: Element, view: View) -> Iterator[Draft]:
    """`execution_order` that contradicts `needs`: a step that is waited for has a higher number.

    `needs` takes precedence, so the numbers are misleading.

    Bad::
        steps:
          - {name: outline, execution_order: 5, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], execution_order: 2, run: "Write from {{outline}}"}
    Good::
        steps:
          - {name: outline, execution_order: 1, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], execution_order: 2, run: "Write from {{outline}}"}
    """
    order = element.node.execution_order
    if order is None:
        return
    field = element.block.fields["execution_order"]
    if field.entry.merged:
        return
    for need in element.needs:
        known = view.known(need.name)
        if known is not None and known.order is not None and known.order > order:
            message = f"No effect: `{shortened(need.name)}` has number {known.order}, but `needs` makes it run first"
            yield draft(element.piece, field.entry.key.span, message)
            return
