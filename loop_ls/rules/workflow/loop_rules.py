"""The keys of a loop, at top level and inside a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from loop_ls.formats.common.typed_mapping import Block
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Site, draft, entry_span, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.execution_rules import lacks, missing_or_empty, outside_its_list
from loop_ls.rules.workflow.step_rules import dash

LOOPS = ("loop", "step loop")


def mode_of(block: Block) -> Literal["refine", "iterate"] | None:
    """The mode of a loop; None for an unknown or faulty one, about which nothing else is said."""
    field = block.get("mode")
    if field is None or not (field.value or field.faults):
        return "refine"
    match field.value:
        case "refine":
            return "refine"
        case "iterate":
            return "iterate"
        case _:
            return None


@rule("WF401", "loop-without-name", Severity.ERROR, on="loop", local=True, missing=True)
def loop_without_name(site: Site) -> Iterator[Draft]:
    """Top-level loop without a name. A loop inside a step takes the name of its step.

    Bad::
        loops:
          - workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
        steps:
          - {name: print, run: "Print {{input}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if lacks(site, "name"):
        yield site.found(entry_span(site.block), "Missing loop `name`")


@also("WF401", on="document", missing=True)
def empty_entry(view: View) -> Iterator[Draft]:
    """A dash of `loops` with nothing behind it."""
    for piece in view.blank_items():
        if piece.section == "loops":
            yield draft(piece, dash(piece), "Empty loop: add `name` and `workflow`")


@rule("WF402", "loop-without-workflow", Severity.ERROR, on=LOOPS, local=True, missing=True)
def loop_without_workflow(site: Site) -> Iterator[Draft]:
    """Loop without the workflow to repeat.

    Bad::
        loops:
          - {name: polish, max_iterations: 3, until: "The reply contains READY"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if lacks(site, "workflow"):
        yield site.found(
            site.label, f"{missing_or_empty(site, 'workflow')} in {_this(site)}: set the workflow to repeat"
        )


def _this(site: Site) -> str:
    name = site.element.name if site.element is not None else ""
    return f"loop `{name}`" if name else "this loop"


@rule("WF403", "loop-without-limit", Severity.ERROR, on=LOOPS, local=True, fixes=(Tier.REVIEW,))
def loop_without_limit(site: Site) -> Iterator[Draft]:
    """Missing `max_iterations`, or a value below 1.

    Nothing else keeps a condition that is never met from costing money forever. Typical limits are 3 for
    polishing, 5 for development, 10 for exploration.

    Bad::
        loops:
          - {name: polish, workflow: draft, until: "The reply contains READY"}
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
    limit = site.block.integer("max_iterations")
    if field is not None and limit is not None and limit < 1:
        yield site.found(value_span(field), "`max_iterations` must be 1 or more")


def limits(site: Site) -> tuple[Fix, ...]:
    chosen = ((3, "polishing"), (5, "development"), (10, "exploration"))
    return tuple(
        builders.set_key(
            site.piece, site.block, "max_iterations", str(number), f"Limit to {number} (suits {what})", Tier.REVIEW
        )
        for number, what in chosen
    )


@rule("WF404", "unknown-loop-mode", Severity.ERROR, on=LOOPS, local=True, fixes=(Tier.SAFE,))
def unknown_loop_mode(site: Site) -> Iterator[Draft]:
    """`mode` that is neither `refine` nor `iterate`.

    Bad::
        loops:
          - {name: polish, workflow: draft, mode: repeat, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, mode: refine, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    yield from outside_its_list(site, "mode")


@rule("WF405", "loop-without-condition", Severity.ERROR, on=LOOPS, local=True, missing=True)
def loop_without_condition(site: Site) -> Iterator[Draft]:
    """Refine loop without `until`: nothing ends it early.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3}
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
    if mode_of(site.block) == "refine" and lacks(site, "until"):
        yield site.found(
            site.label, f"{missing_or_empty(site, 'until')} in {_this(site)}: set the condition that ends it"
        )


@rule("WF406", "loop-without-items", Severity.ERROR, on=LOOPS, local=True, missing=True)
def loop_without_items(site: Site) -> Iterator[Draft]:
    """Iterate loop without `items`.

    Bad::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, max_iterations: 50}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, items: "{{input}}", max_iterations: 50}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    if mode_of(site.block) == "iterate" and lacks(site, "items"):
        yield site.found(site.label, f"{missing_or_empty(site, 'items')} in {_this(site)}: set the list of items")


@rule("WF407", "key-of-other-mode", Severity.WARNING, on=LOOPS, local=True)
def key_of_other_mode(site: Site) -> Iterator[Draft]:
    """Key without effect in this mode: `until` in iterate, `items` or `min_success_rate` in refine.

    Bad::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, items: "{{input}}", max_iterations: 50}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    mode = mode_of(site.block)
    idle = {"iterate": ("until",), "refine": ("items", "min_success_rate"), None: ()}[mode]
    for name in idle:
        field = site.block.get(name)
        if field is not None and not field.entry.merged:
            message = f"`{name}` has no effect in a loop of mode `{mode}`"
            yield site.found(field.entry.key.span, message, tags=UNNECESSARY)


@rule("WF408", "unknown-loop-policy", Severity.ERROR, on=LOOPS, local=True, fixes=(Tier.SAFE,))
def unknown_loop_policy(site: Site) -> Iterator[Draft]:
    """`on_failure` of a loop that is not `halt`, `continue` or `retry`.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: skip}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: halt}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    yield from outside_its_list(site, "on_failure")


@rule("WF409", "retry-without-number", Severity.WARNING, on=LOOPS, local=True, profile="compat")
def retry_without_number(site: Site) -> Iterator[Draft]:
    """`on_failure: retry` of a loop without `max_retries`.

    loop-ls retries three times; mcp-cli rejects the loop.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: retry}
        steps:
          - {name: print, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            on_failure: retry
            max_retries: 3
        steps:
          - {name: print, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    field, retries = site.own("on_failure"), site.block.get("max_retries")
    if field is None or field.value != "retry" or (retries is not None and retries.faults):
        return
    if (site.block.integer("max_retries") or 0) < 1 and not (retries is None and site.block.meant("max_retries")):
        yield site.found(field.entry.key.span, "mcp-cli rejects `retry` without `max_retries`; loop-ls uses 3")


@rule("WF410", "retry-key-without-retry", Severity.INFORMATION, on=LOOPS, local=True)
def retry_key_without_retry(site: Site) -> Iterator[Draft]:
    """`max_retries` or `retry_delay` of a loop without `on_failure: retry`.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", retry_delay: 5s}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            on_failure: retry
            retry_delay: 5s
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    policy = site.block.get("on_failure")
    if policy is not None and (policy.faults or policy.value == "retry"):
        return
    for name in ("max_retries", "retry_delay"):
        field = site.own(name)
        if field is not None and not field.empty:
            message = f"`{name}` has no effect without `on_failure: retry`"
            yield site.found(field.entry.key.span, message, tags=UNNECESSARY)


@rule("WF411", "success-rate-out-of-range", Severity.ERROR, on=LOOPS, local=True)
def success_rate_out_of_range(site: Site) -> Iterator[Draft]:
    """`min_success_rate` outside 0 to 1: it is a fraction, not a percentage.

    Bad::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            min_success_rate: 80
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            min_success_rate: 0.8
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    field, rate = site.own("min_success_rate"), site.block.number("min_success_rate")
    if field is not None and rate is not None and not 0 <= rate <= 1:
        yield site.found(value_span(field), "`min_success_rate` must be from 0 to 1, e.g. 0.8")


@rule("WF412", "parallel-refine", Severity.WARNING, on=LOOPS, local=True)
def parallel_refine(site: Site) -> Iterator[Draft]:
    """`parallel: true` on a refine loop, where each iteration builds on the previous one.

    loop-ls ignores it; mcp-cli starts all iterations at once and never checks the condition.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", parallel: true}
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
    field = site.own("parallel")
    if field is not None and field.value is True and mode_of(site.block) == "refine":
        yield site.found(
            field.entry.key.span, "`parallel` has no effect in a refine loop: each iteration builds on the previous one"
        )


@rule("WF413", "parallel-without-workers", Severity.WARNING, on="step loop", local=True)
def parallel_without_workers(site: Site) -> Iterator[Draft]:
    """`parallel: true` without `max_workers` in a loop inside a step.

    loop-ls runs 3 at a time; mcp-cli rejects the workflow.

    Bad::
        steps:
          - name: each_line
            loop: {workflow: draft, mode: iterate, items: "{{input}}", max_iterations: 50, parallel: true}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        steps:
          - name: each_line
            loop:
              workflow: draft
              mode: iterate
              items: "{{input}}"
              max_iterations: 50
              parallel: true
              max_workers: 3
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    field = site.own("parallel")
    if field is None or field.value is not True or mode_of(site.block) != "iterate":
        return
    workers = site.block.get("max_workers")
    if workers is None or workers.empty:
        yield site.found(
            field.entry.key.span, "mcp-cli requires `max_workers` with `parallel: true` here; loop-ls uses 3"
        )


@rule("WF414", "idle-workers", Severity.WARNING, on=LOOPS, local=True)
def idle_workers(site: Site) -> Iterator[Draft]:
    """`max_workers` of a loop without `parallel: true`, or outside 1 to 100.

    Bad::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            max_workers: 4
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            parallel: true
            max_workers: 4
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    field, workers = site.own("max_workers"), site.block.integer("max_workers")
    if field is None or workers is None:
        return
    parallel = site.block.get("parallel")
    if parallel is None or not (parallel.value or parallel.faults):
        yield site.found(field.entry.key.span, "`max_workers` has no effect without `parallel: true`")
    elif not 1 <= workers <= 100:
        yield site.found(field.entry.key.span, "`max_workers` must be from 1 to 100")
