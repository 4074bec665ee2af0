"""How often a loop runs, what it passes on, and what it does when it fails."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.index.element import Element, Use
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import Draft, Site, draft, value_span
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.own_entries import own_uses, placeholder
from loop_ls.rules.engine.prefilter import LOOP, USES
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.workflow.dotted_names import meant
from loop_ls.rules.workflow.loop_rules import LOOPS, mode_of
from loop_ls.text.pattern import pattern

MANY = 21
TOO_MANY = 100
NESTED = 50

_WORDS = pattern(r"[_\-./\s]+")
_NETWORK = frozenset(("api", "http", "https", "fetch", "download", "request", "network"))
_CRITICAL = frozenset(("deploy", "release", "payment", "migrate", "production", "critical"))
_EARLIER = frozenset(("loop.last.output", "loop.history", "loop.output"))


@rule("WF704", "many-iterations", Severity.WARNING, on=LOOPS)
def many_iterations(site: Site, view: View) -> Iterator[Draft]:
    """Refine loop that may run a hundred times or more.

    3 to 10 iterations are usual; a loop that has not met its condition by then seldom does. Iterate loops,
    which have one iteration per item, are not reported. `limits.maxIterations` in the settings counts if it
    is lower.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 100, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 5, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    field, limit, most = site.own("max_iterations"), site.block.integer("max_iterations"), view.most_iterations()
    limit = min(limit, most) if limit is not None and most is not None else limit
    if field is None or limit is None or limit < MANY or mode_of(site.block) != "refine":
        return
    severity = None if limit >= TOO_MANY else Severity.INFORMATION
    message = f"{limit} iterations are a lot; typical limits are 3 for polishing, 5 for development, 10 for exploration"
    yield site.found(value_span(field), message, severity)


@rule("WF705", "single-iteration", Severity.INFORMATION, on=LOOPS, local=True)
def single_iteration(site: Site) -> Iterator[Draft]:
    """Refine loop with `max_iterations: 1`, which repeats nothing.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 1, until: "The reply contains READY"}
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
    field = site.own("max_iterations")
    if field is not None and field.value == 1 and mode_of(site.block) == "refine":
        yield site.found(
            value_span(field), "A limit of one iteration repeats nothing; use a `template` step to call a workflow once"
        )


@rule("WF706", "nothing-to-improve-on", Severity.WARNING, on="element", about=LOOP)
def nothing_to_improve_on(element: Element, view: View) -> Iterator[Draft]:
    """Refine loop whose `with` does not pass anything from earlier iterations.

    Every iteration then starts from the same arguments and has nothing to improve on. Without `with` the
    last output arrives as `{{input}}`; with `on_failure: retry` plain repetition is intended.

    Bad::
        loops:
          - name: polish
            workflow: draft
            with: {text: "{{input}}"}
            max_iterations: 3
            until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{text}}, write READY below it"}
    Good::
        loops:
          - name: polish
            workflow: draft
            with: {text: "{{input}}", before: "{{loop.last.output}}"}
            max_iterations: 3
            until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{text}}, better than {{before}}, write READY below it"}
    """
    loop = element.loop
    field = loop.get("with") if loop is not None else None
    if loop is None or element.loop_mode != "refine" or field is None or field.entry.merged or not field.value:
        return
    if loop.text("on_failure") == "retry" or any(
        use.slot.kind == "with" and use.slot.of_loop and _hands_over(use, element, view) for use in element.uses
    ):
        return
    summary = view.callee(element.reference).summary if element.reference is not None else None
    if summary is not None and not _EARLIER.isdisjoint(summary.loop_variables):
        return
    message = (
        "The next iteration cannot see earlier results; pass `{{loop.last.output}}` or `{{loop.history}}` in `with`"
    )
    yield draft(element.piece, field.entry.key.span, message)


def _hands_over(use: Use, element: Element, view: View) -> bool:
    """A misspelt variable (WF503) counts as the one that is meant."""
    if use.name in _EARLIER:
        return True
    name, dot, _ = use.name.partition(".")
    return bool(dot) and (name in element.node.provides or meant(use, element, view) in _EARLIER)


@rule("WF707", "policy-does-not-fit", Severity.HINT, on="element", local=True, about=LOOP)
def policy_does_not_fit(element: Element) -> Iterator[Draft]:
    """Loop that sounds like network work but does not retry, or like critical work but continues after a
    failure.

    Bad::
        loops:
          - name: fetch_pages
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            on_failure: continue
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - name: fetch_pages
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            on_failure: retry
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    loop = element.loop
    if loop is None or element.reference is None:
        return
    policy = loop.get("on_failure")
    if policy is not None and (policy.entry.merged or policy.value not in policy.key.choices):
        return
    words = {word.casefold() for word in _WORDS.split(f"{element.name}/{element.reference.text}")}
    value = policy.value if policy is not None else None
    span = policy.entry.key.span if policy is not None else element.label_span
    network, critical = sorted(words & _NETWORK), sorted(words & _CRITICAL)
    if network and value != "retry":
        message = f"`{network[0]}` sounds like network work; `on_failure: retry` repeats it after temporary failures"
        yield draft(element.piece, span, message)
    elif critical and value == "continue":
        message = f"`{critical[0]}` sounds like critical work; with `on_failure: continue` a failure goes unnoticed"
        yield draft(element.piece, span, message)


@rule("WF710", "nested-limits", Severity.INFORMATION, on="element", about=LOOP)
def nested_limits(element: Element, view: View) -> Iterator[Draft]:
    """Nested refine loops that may run the innermost workflow more than 50 times.

    Bad::
        loops:
          - {name: outer, workflow: inner, max_iterations: 10, until: "The reply contains READY"}
        #- inner.yaml
        loops:
          - {name: polish, workflow: draft, max_iterations: 6, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: outer, workflow: inner, max_iterations: 3, until: "The reply contains READY"}
        #- inner.yaml
        loops:
          - {name: polish, workflow: draft, max_iterations: 6, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    field = element.loop.get("max_iterations") if element.loop is not None else None
    if field is None or field.entry.merged or not isinstance(field.value, int):
        return
    runs = view.innermost_runs(element)
    if runs is not None and runs > NESTED and runs > field.value:
        inner = runs // max(1, field.value)
        message = f"Nested loops: the innermost workflow may run {field.value} × {inner} = {runs} times"
        yield draft(element.piece, field.entry.key.span, message)


@rule("WF711", "may-be-empty", Severity.INFORMATION, on="element", profile="pedantic", about=USES)
def may_be_empty(element: Element, view: View) -> Iterator[Draft]:
    """Result of a loop with `on_failure: continue`: it is empty if every iteration fails.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: continue}
        steps:
          - {name: print_it, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: halt}
        steps:
          - {name: print_it, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    told: set[str] = set()
    for use in own_uses(element):
        known = view.producer(use.name)
        if known is None or known.owner in told or known.owner == element.name or not known.goes_on:
            continue
        told.add(known.owner)
        message = f"`{shortened(use.name)}` is empty if every iteration of `{shortened(known.owner)}` fails"
        yield draft(element.piece, placeholder(use), message)
