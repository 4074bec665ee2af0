"""`loop.*`: where it exists and what it is called."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.index.element import Element, Use
from loop_ls.index.loop_variables import ALIASES, NAMES
from loop_ls.rules.engine.context import Draft, draft
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.own_entries import own_uses, placeholder, unknown_severity
from loop_ls.rules.engine.prefilter import LOOP_VARIABLES
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.loop_places import Places, exists, in_iteration, places_of

#: The counterpart in the other mode, as far as there is one.
_OTHER_MODE = {
    "loop.iteration": {"with": "loop.index", "callee": "loop.index", "after": "loop.iterations"},
    "loop.iterations": {"after": "loop.iteration", "with": "loop.iteration", "callee": "loop.iteration"},
    "loop.index": {"with": "loop.iteration", "callee": "loop.iteration", "until": "loop.iteration"},
    "loop.current": {"with": "loop.last.output", "callee": "loop.last.output"},
}


def _loop_uses(element: Element) -> Iterator[Use]:
    return (use for use in own_uses(element) if use.name in NAMES)


@rule("WF506", "no-loop-here", Severity.WARNING, on="element", about=LOOP_VARIABLES)
def no_loop_here(element: Element, view: View) -> Iterator[Draft]:
    """Loop variable where no loop provides it.

    Loop variables are available in the `with`, `items` and `until` of a loop, in the workflow that a loop
    calls, and, some of them, in steps after the loop. `loop.last.output` and `loop.history` end with the
    loop; use `accumulate` to keep all outputs.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input}} for the {{loop.iteration}}th time"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, needs: [polish], run: "After {{loop.iteration}} rounds: {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for use in _loop_uses(element):
        if in_iteration(use):
            continue
        places = places_of(element, use, view)
        if exists(use.name, places) or _rename(use.name, places) is not None:
            continue
        after = any(where == "after" for _, where in places)
        if after:
            way = " Use `accumulate` to keep all outputs." if use.name == "loop.history" else ""
            message = f"`{use.name}` is not available after its loop.{way}".rstrip(".")
        else:
            message = (
                f"`{use.name}` is not available here: no loop runs before this {element.kind}, and none calls this file"
            )
        yield draft(element.piece, placeholder(use), message, unknown_severity(use))


@rule("WF507", "other-loop-variable", Severity.WARNING, on="element", fixes=(Tier.SAFE,), about=LOOP_VARIABLES)
def other_loop_variable(element: Element, view: View) -> Iterator[Draft]:
    """Loop variable that has another name in this kind of loop.

    Refine loops have `loop.iteration`, `loop.output`, `loop.last.output` and `loop.history`; iterate loops
    have `loop.index`, `loop.count`, `loop.current` and `loop.stats.*`. In the `with` of a refine loop
    `loop.output` is the previous output; `loop.last.output` makes that clear.

    Bad::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            with: {line: "{{loop.item}}"}
            max_iterations: 50
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{line}}"}
    Good::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            with: {line: "{{loop.current}}"}
            max_iterations: 50
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{line}}"}
    """
    for use in _loop_uses(element):
        places = places_of(element, use, view)
        if not places:
            continue
        if exists(use.name, places):
            if use.slot.of_loop and use.slot.kind == "with" and use.name == "loop.output":
                message = "This iteration has no output yet; `loop.output` is the output of the previous one here"
                yield _found(element, use, message, "loop.last.output", Severity.INFORMATION)
            continue
        better = _rename(use.name, places)
        if better is not None:
            alias = ALIASES.get(use.name) == better
            swap = f"Use `{better}` instead of `{use.name}`"
            message = swap if alias else f"`{use.name}` is not available in {_kind(places)}; use `{better}`"
            filled = alias and in_iteration(use)  # the engine fills these in all the same
            severity = None if filled else unknown_severity(use)
            yield _found(element, use, message, better, severity)
        elif in_iteration(use):
            message = f"`{use.name}` is not available in {_kind(places)}"
            yield _found(element, use, message, None, unknown_severity(use))


def _rename(name: str, places: Places) -> str | None:
    """What a loop variable is called at these places, if it has a counterpart there."""
    alias = ALIASES.get(name, "")
    if exists(alias, places):
        return alias
    for _, where in places:
        better = _OTHER_MODE.get(name, {}).get(where, "")
        if exists(better, places):
            return better
    return None


def _kind(places: Places) -> str:
    mode, where = places[0]
    article = "an" if mode == "iterate" else "a"
    return f"steps after {article} {mode} loop" if where == "after" else f"{article} {mode} loop"


def _found(element: Element, use: Use, message: str, better: str | None, severity: Severity | None) -> Draft:
    fix = (builders.replace(element.piece, use.name_span, better, f"Change to `{better}`"),) if better else ()
    return draft(element.piece, placeholder(use), message, severity, fixes=fix)


@rule("WF513", "which-loop", Severity.INFORMATION, on="element", about=LOOP_VARIABLES)
def which_loop(element: Element, view: View) -> Iterator[Draft]:
    """`loop.iteration` or `loop.output` in a step after several loops: it belongs to the loop that ended
    last.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
          - {name: shorten, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, needs: [polish, shorten], run: "{{polish}}, {{shorten}}: {{loop.iteration}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, needs: [polish], run: "{{polish}}: {{loop.iteration}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for use in _loop_uses(element):
        if use.slot.of_loop or use.name not in ("loop.iteration", "loop.output"):
            continue
        before = view.loops_before(element)
        if len(before) > 1:
            names = " and ".join(f"`{loop.name}`" for loop in before[:3])
            message = f"This step waits for several loops ({names}); `{use.name}` belongs to the one that ended last"
            yield draft(element.piece, placeholder(use), message)


@rule(
    "WF514", "first-round-lost", Severity.INFORMATION, on="element", local=True, profile="compat", about=LOOP_VARIABLES
)
def first_round_lost(element: Element) -> Iterator[Draft]:
    """`loop.last.output` or `loop.history` in `with`.

    In loop-ls both are empty in iteration 1; mcp-cli does not support them and loses that iteration, or
    never runs the loop at all.

    Bad::
        steps:
          - name: polish
            loop:
              workflow: draft
              with: {input: "{{input}} {{loop.last.output}}"}
              max_iterations: 3
              until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        steps:
          - name: polish
            loop:
              workflow: draft
              max_iterations: 3
              until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    for use in _loop_uses(element):
        if use.slot.of_loop and use.slot.kind == "with" and use.name in ("loop.last.output", "loop.history"):
            lost = "the first iteration" if use.name == "loop.last.output" else "every iteration"
            yield draft(element.piece, placeholder(use), f"mcp-cli does not support `{use.name}` and loses {lost}")
