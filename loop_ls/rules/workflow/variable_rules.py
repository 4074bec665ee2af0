"""Variables that do not exist, or not as they are written."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.workflow.placeholder_syntax import RAG_PARTS, RESERVED
from loop_ls.index.element import Element, Use
from loop_ls.index.loop_variables import NAMES as LOOP_NAMES
from loop_ls.rules.docs.phrases import counted, listed, shortened
from loop_ls.rules.engine.call_facts import Call
from loop_ls.rules.engine.context import Draft, draft
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.own_entries import own_uses, placeholder, unknown_severity
from loop_ls.rules.engine.prefilter import PATHS, USES
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.until.rewrites import without
from loop_ls.rules.workflow.dotted_names import meant, with_a_dot
from loop_ls.rules.workflow.loop_places import exists, places_of


def _severity(use: Use) -> Severity | None:
    """In a strict field an unknown variable fails the run."""
    return Severity.ERROR if use.strict else None


@rule("WF501", "misspelt-variable", Severity.WARNING, on="element", fixes=(Tier.SAFE,), about=USES)
def misspelt_variable(element: Element, view: View) -> Iterator[Draft]:
    """Unknown variable that looks like a typo of an existing one.

    An unknown variable stays in the prompt as written, braces included. In `with`, `items`, `until` and
    `rag.query` it fails the run.

    Bad::
        steps:
          - {name: requirements, run: "List requirements for {{input}}"}
          - {name: plan, needs: [requirements], run: "Plan for {{requirments}}"}
    Good::
        steps:
          - {name: requirements, run: "List requirements for {{input}}"}
          - {name: plan, needs: [requirements], run: "Plan for {{requirements}}"}
    """
    for use in own_uses(element):
        if "." in use.name or use.name in RESERVED:
            continue
        better = misspelt(use.name, view, element)
        if better is not None:
            message = f"Unknown variable `{shortened(use.name)}`; did you mean `{better}`?"
            yield draft(
                element.piece, placeholder(use), message, _severity(use), fixes=_replaced(element, use, better, view)
            )


def misspelt(name: str, view: View, element: Element) -> str | None:
    """The variable that an unknown simple name was meant to be; None for known and for free names. It is
    never the result of the element that uses it."""
    if view.known(name) is not None:
        return None
    near = view.near_variable(name)
    callers = view.callers()
    if callers.give(name):
        return None
    calls = callers.calls
    if near and near != element.name:
        return near
    slips = {found for call in calls if (found := nearest(name, sorted(call.supplies))) is not None}
    # One caller may have misspelt it (WF602); several that agree have not.
    return slips.pop() if len(calls) > 1 and len(slips) == 1 and not callers_slip(name, calls) else None


def callers_slip(name: str, calls: tuple[Call, ...]) -> bool:
    """Whether some call leaves a parameter out without any argument that is nearly called so."""
    return any(nearest(name, sorted(call.supplies)) is None for call in calls)


def _replaced(element: Element, use: Use, name: str, view: View) -> tuple[Fix, ...]:
    """None where it would close a circle: the step of that name waits for this one (WF303)."""
    fix = builders.replace(element.piece, use.name_span, name, f"Change to `{name}`")
    known = view.producer(name)
    if known is not None and view.waits_for(known.owner, element):
        return ()
    if known is None or element.kind != "step" or any(need.name == known.owner for need in element.needs):
        return (fix,)
    if view.depends_explicitly(element, known.owner) and not view.default("parallel"):
        return (fix,)
    return (builders.also_needed(fix, element, known.owner),)


@rule("WF502", "parameter", Severity.INFORMATION, on="document", fixes=(Tier.REVIEW,))
def parameter(view: View) -> Iterator[Draft]:
    """Variable that is not defined in this file, so it becomes a parameter.

    Every caller of the workflow must pass it in `with`. Silent if some workflow calls this one and all
    calls pass the variable. A name that is used only in `until` is an error unless a caller passes it: such
    a condition is never met, and a condition needs no variable.

    Bad::
        steps:
          - {name: invite, run: "Invite {{guest}} to {{input}}"}
    Good::
        steps:
          - {name: invite, run: "Invite {{guest}} to {{input}}"}
        #- caller.yaml
        steps:
          - name: ask
            template: {name: flow, with: {guest: Ada, input: "{{input}}"}}
    """
    for name in view.parameters():
        callers = view.callers()
        missing = tuple(call for call in callers.without(name) if nearest(name, sorted(call.supplies)) is None)
        found = view.first_use(name)
        if found is None or (callers.calls and not missing):
            continue
        element, use = found
        if misspelt(name, view, element) is not None:
            continue
        if use.slot.kind == "until" and is_judged_text(element, use, view):
            continue  # WF702
        if view.only_in_until(name) and len(missing) == len(callers.calls):
            message = f"`{shortened(name)}` is not defined, so this condition is never met; did you mean `loop.output`?"
            message += " No variable is needed: the judge sees the output"
            fixes = _without(element, use, view)
            yield draft(element.piece, placeholder(use), message, Severity.ERROR, fixes=fixes)
            continue
        yield draft(element.piece, placeholder(use), _taken_as_parameter(name, missing, with_a_dot(name, view)))


def _taken_as_parameter(name: str, missing: tuple[Call, ...], better: str | None) -> str:
    start = f"`{shortened(name)}` is not defined in this file, so it becomes a parameter"
    if better is not None:
        return f"{start}; did you mean `{better}`?"
    if not missing:
        return f"{start}; no workflow calls this one yet"
    files = list(dict.fromkeys(call.path for call in missing))
    more = f" and {counted(len(files) - 3, 'other')}" if len(files) > 3 else ""
    return f"{start}; {listed(files[:3], 'and')}{more} {'does' if len(files) == 1 else 'do'} not pass it"


def _without(element: Element, use: Use, view: View) -> tuple[Fix, ...]:
    return without(element, use, view.callee(element.reference).summary if element.reference is not None else None)


@rule("WF503", "no-nested-access", Severity.WARNING, on="element", fixes=(Tier.SAFE, Tier.REVIEW), about=PATHS)
def no_nested_access(element: Element, view: View) -> Iterator[Draft]:
    """Unknown variable with a dot.

    All values are strings: there is no `{{input.key}}`, `{{x.result}}` or `{{x.output}}`. Pass the whole
    text and let the model read it, or pass the part through `with`.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input.name}}"}
    Good::
        steps:
          - {name: greet, run: "Greet the person named in {{input}}"}
    """
    for use in own_uses(element):
        found = _nested(use, element, view)
        if found is None:
            continue
        message, better = found
        if use.slot.kind == "until" and better is not None and better.startswith("loop."):
            message = f"{message} No variable is needed: the judge sees the output"
            fix = _without(element, use, view)
        else:
            fix = _replaced(element, use, better, view) if better and _is_there(better, element, use, view) else ()
        yield draft(element.piece, placeholder(use), message, unknown_severity(use), fixes=fix)


def _is_there(name: str, element: Element, use: Use, view: View) -> bool:
    """Whether a name can be written here without a finding: a `loop.*` needs a loop that has it (WF506, WF507)."""
    return name not in LOOP_NAMES or exists(name, places_of(element, use, view))


def _nested(use: Use, element: Element, view: View) -> tuple[str, str | None] | None:
    """Why a name does not exist, and what to write instead."""
    name = use.name
    head, dot, rest = name.partition(".")
    if not dot:
        return _reserved_alone(head) if head in RESERVED - {"input"} else None
    if view.known(name) is not None or _is_rag_part(name, view):
        return None
    match head:
        case "env":
            return _nested_constant(name, rest, view)
        case "loop":
            return _unknown_loop_variable(use, element, view) if name not in LOOP_NAMES else None
        case "step":
            return _after_step(name, rest, view)
        case "input":
            return f"Unknown variable `{shortened(name)}`: `{{{{input}}}}` is a string without fields", None
        case _:
            return _after_name(use, head, rest, element, view)


def _unknown_head(use: Use, element: Element, view: View) -> tuple[str, str | None]:
    """A name whose first word is nothing: nobody can supply it, since parameters are simple names."""
    better = meant(use, element, view)
    start = f"Unknown variable `{shortened(use.name)}`"
    if better is None:
        head = use.name.partition(".")[0]
        return f"{start}: `{shortened(head)}` is not a step, a loop or another source of variables here", None
    if better == "input":
        return f"{start}; did you mean `input`? It is a string without fields", None
    return f"{start}; did you mean `{better}`?", better


def _reserved_alone(head: str) -> tuple[str, str | None]:
    example = {"env": "env.KEY", "loop": "loop.iteration", "step": "step.name"}[head]
    return f"`{{{{{head}}}}}` is not a variable; use one of its fields, such as `{{{{{example}}}}}`", None


def _is_rag_part(name: str, view: View) -> bool:
    owner, _, part = name.rpartition(".")
    known = view.known(owner) if part in RAG_PARTS else None
    return known is not None and known.mode == "rag"


def _nested_constant(name: str, rest: str, view: View) -> tuple[str, str | None] | None:
    if view.has_env(rest):
        return None
    first = rest.partition(".")[0]
    if not view.has_env(first):
        return None  # WF511
    return f"Unknown variable `{name}`: constants are strings without fields", f"env.{first}"


def _unknown_loop_variable(use: Use, element: Element, view: View) -> tuple[str, str | None]:
    if use.name.startswith("loop.item."):
        return f"Unknown variable `{use.name}`: an item has no fields; use `{{{{loop.current}}}}`", None
    better = meant(use, element, view)
    hint = f"; did you mean `{better}`?" if better else ""
    return f"Unknown loop variable `{shortened(use.name)}`{hint}", better


def _after_step(name: str, rest: str, view: View) -> tuple[str, str | None] | None:
    if view.known(rest) is not None:
        return None
    owner, _, part = rest.rpartition(".")
    if _is_rag_part(rest, view):
        return f"Unknown variable `{name}`; use `{rest}`", rest
    if view.known(owner) is not None:
        return f"Unknown variable `{name}`: a result is a string without `.{part}`", None
    near = view.near_variable(rest)
    better = f"step.{near}" if near and near != "input" else near
    hint = f"; did you mean `{better}`?" if better else ""
    return f"Unknown step or loop `{shortened(rest)}`{hint}", better


def _after_name(use: Use, head: str, rest: str, element: Element, view: View) -> tuple[str, str | None] | None:
    name, known = use.name, view.known(head)
    if known is None:
        callers = view.callers()
        if callers.give(name):
            return None
        if callers.give(head) or head in view.parameters():
            return f"Unknown variable `{shortened(name)}`: the argument `{head}` is a string without fields", None
        return _unknown_head(use, element, view)
    if known.mode == "rag":
        part = nearest(rest, sorted(RAG_PARTS))
        hint = f"; did you mean `{head}.{part}`?" if part else f"; expected {listed(sorted(RAG_PARTS))}"
        return f"Unknown variable `{shortened(name)}`{hint}", f"{head}.{part}" if part else None
    if rest in ("result", "output") and head in element.node.provides:
        return _own_output(use, element)
    if rest in ("result", "output"):
        return f"Unknown variable `{shortened(name)}`; the result is `{{{{{head}}}}}`", head
    return f"Unknown variable `{shortened(name)}`: the result of `{head}` is a string without fields", None


def _own_output(use: Use, element: Element) -> tuple[str, str | None]:
    """`{{l.output}}` in the loop `l` itself."""
    start = f"Unknown variable `{shortened(use.name)}`"
    if element.loop_mode != "refine" or not use.slot.of_loop:
        return f"{start}: `{shortened(element.name)}` has no result before it has run", None
    better = "loop.output" if use.slot.kind == "until" else "loop.last.output"
    return f"{start}; did you mean `{better}`?", better


@rule("WF511", "unknown-constant", Severity.WARNING, on="element", fixes=(Tier.SAFE,), about=PATHS)
def unknown_constant(element: Element, view: View) -> Iterator[Draft]:
    """Constant that is not in `env` of this file.

    Only the file's own `env` counts: not that of a caller, and not the process environment.

    Bad::
        env: {TONE: warm}
        steps:
          - {name: greet, run: "Greet {{input}} in a {{env.TONE}} way, {{env.LENGTH}}"}
    Good::
        env: {TONE: warm, LENGTH: short}
        steps:
          - {name: greet, run: "Greet {{input}} in a {{env.TONE}} way, {{env.LENGTH}}"}
    """
    for use in own_uses(element):
        head, dot, key = use.name.partition(".")
        if head != "env" or not dot or view.has_env(key) or view.known(use.name) is not None:
            continue
        if view.has_env(key.partition(".")[0]):
            continue  # WF503
        better = view.near_env(key)
        hint = f"; did you mean `env.{better}`?" if better else ""
        fix = _replaced(element, use, f"env.{better}", view) if better else ()
        message = f"Unknown constant `{shortened(key)}`: not in `env` of this file{hint}"
        yield draft(element.piece, placeholder(use), message, unknown_severity(use), fixes=fix)


@rule("WF510", "own-result", Severity.ERROR, on="element", local=True, about=USES)
def own_result(element: Element) -> Iterator[Draft]:
    """Step that uses its own result, which does not exist before it has run.

    In a loop, use `{{loop.last.output}}` for the previous output.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input}} better than {{greet}}"}
    Good::
        steps:
          - {name: greet, run: "Greet {{input}}"}
          - {name: better, needs: [greet], run: "Greet {{input}} better than {{greet}}"}
    """
    for use in own_uses(element):
        if is_own_result(element, use) and use.slot.kind != "until":
            way = "; the previous output is `{{loop.last.output}}`" if use.slot.of_loop else ""
            message = f"`{shortened(element.name)}` uses its own result, which does not exist before it has run{way}"
            yield draft(element.piece, placeholder(use), message)


def is_judged_text(element: Element, use: Use, view: View) -> bool:
    """Whether a variable in `until` stands for what the judge sees anyway: `loop.*`, the loop's own
    result, or that of the workflow it calls (WF702)."""
    name = use.name.removeprefix("step.")
    if use.name.startswith("loop.") or name in element.node.provides:
        return True
    if element.reference is None or view.known(name) is not None or name in RESERVED:
        return False
    summary = view.callee(element.reference).summary
    return summary is not None and name in (*summary.names, summary.name)


def is_own_result(element: Element, use: Use) -> bool:
    name = use.name.removeprefix("step.")
    if name in element.node.provides:
        return True
    owner, _, part = name.rpartition(".")
    return part in RAG_PARTS and owner == element.name != "" and element.mode == "rag"
