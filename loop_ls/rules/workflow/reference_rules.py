"""Calls of other workflows: references, arguments, circles."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.typed_mapping import Pair
from loop_ls.index.element import Element, Reference
from loop_ls.rules.docs.phrases import counted, line_break, listed, not_saved, shortened
from loop_ls.rules.engine.call_facts import Summary
from loop_ls.rules.engine.context import Draft, draft, node_span, value_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.prefilter import CALL
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.syntax.nodes import Mapping, Sequence, resolved
from loop_ls.text.position import Span


def call_of(element: Element) -> Reference | None:
    """The call that is written in an element, with a reference in it."""
    reference = element.reference
    if reference is None or not reference.text.strip() or reference.field is None or reference.field.entry.merged:
        return None
    return reference if element.block.node.span.covers(reference.block.node.span) else None


def mark(reference: Reference) -> Span:
    return value_span(reference.field) if reference.field is not None else reference.span


def written_arguments(reference: Reference) -> Iterator[Pair]:
    field = reference.block.get("with")
    if field is not None and not field.entry.merged:
        yield from (pair for pair in reference.arguments or () if not pair.entry.merged)


@rule("WF601", "unknown-workflow", Severity.ERROR, on="element", fixes=(Tier.SAFE,), about=CALL)
def unknown_workflow(element: Element, view: View) -> Iterator[Draft]:
    """Unknown workflow.

    References use the `name` of a workflow, never its file name. A bare name is looked up in the caller's
    folder, then in the root; `folder/name` is relative to the root. An unsaved file cannot be called.

    Bad::
        steps:
          - name: improve
            template: {name: drafts, with: {input: "{{input}}"}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    Good::
        steps:
          - name: improve
            template: {name: draft, with: {input: "{{input}}"}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    reference = call_of(element)
    if reference is None:
        return
    callee = view.callee(reference)
    if callee.key is not None:
        return
    if ends := line_break(reference.text):
        fix = builders.on_one_line(element.piece, reference.field.node if reference.field is not None else None)
        message = f"Unknown workflow `{shortened(reference.text)}`{ends}"
        yield draft(element.piece, mark(reference), message, fixes=fix)
        return
    if callee.unsaved:
        yield draft(element.piece, mark(reference), not_saved(f"`{shortened(reference.text)}`"))
        return
    found = tuple(key for key in callee.suggestions if not view.is_self(key))  # WF604
    hint = f"; did you mean `{shortened(found[0])}`?" if found else ""
    is_file = reference.text.endswith((".yaml", ".yml")) or reference.text.startswith(("./", "../"))
    names = " (use the name, not the file)" if is_file else ""
    message = f"Unknown workflow `{shortened(reference.text)}`{names}{hint}"
    fix = tuple(builders.reword(element.piece, mark(reference), key) for key in found[:3])
    yield draft(element.piece, mark(reference), message, fixes=fix)


@rule("WF602", "argument-not-used", Severity.WARNING, on="element", fixes=(Tier.SAFE,), about=CALL)
def argument_not_used(element: Element, view: View) -> Iterator[Draft]:
    """Argument that the called workflow never uses.

    A workflow uses an argument as `{{key}}`, or as part of `{{input}}` if `with` has no `input` of its own.
    If the name is close to a parameter that the call leaves out, that one is probably meant.

    Bad::
        steps:
          - name: make_card
            template: {name: card, with: {title: "{{input}}", colour: blue}}
        #- card.yaml
        steps:
          - {name: print, run: "Print a card with the title {{title}}"}
    Good::
        steps:
          - name: make_card
            template: {name: card, with: {title: "{{input}}"}}
        #- card.yaml
        steps:
          - {name: print, run: "Print a card with the title {{title}}"}
    """
    for reference, summary in _called(element, view):
        whole_input = summary.reads_input and (reference.iterates or reference.argument("input") is None)
        slips = slips_of(reference, summary)
        for pair in written_arguments(reference):
            if pair.name in slips:
                better = slips[pair.name]
                message = f"`{summary.name}` has no parameter `{shortened(pair.name)}`; did you mean `{better}`?"
                fix = builders.reword(element.piece, pair.entry.key.span, better)
                yield draft(element.piece, pair.entry.key.span, message, fixes=(fix,))
                continue
            if pair.name in summary.reads or whole_input or pair.name in ("env", "loop", "step"):
                continue
            message = f"`{summary.name}` never uses `{shortened(pair.name)}`"
            yield draft(element.piece, pair.entry.key.span, message)


def slips_of(reference: Reference, summary: Summary) -> dict[str, str]:
    """Arguments that are nearly the name of a parameter which the call leaves out, each with that name."""
    missing = [name for name in summary.parameters if not reference.supplies(name)]
    found: dict[str, str] = {}
    for pair in reference.arguments or ():
        if pair.name not in summary.reads and (better := nearest(pair.name, missing)) is not None:
            found[pair.name] = better
            missing.remove(better)
    return found


def _called(element: Element, view: View) -> Iterator[tuple[Reference, Summary]]:
    """The call that is written in an element, where it means a workflow."""
    reference = call_of(element)
    summary = None if reference is None else view.callee(reference).summary
    if reference is not None and summary is not None:
        yield reference, summary


@rule("WF603", "argument-missing", Severity.WARNING, on="element", about=CALL)
def argument_missing(element: Element, view: View) -> Iterator[Draft]:
    """Missing argument for a parameter of the called workflow.

    Bad::
        steps:
          - name: invite
            template: {name: letter, with: {guest: "{{input}}"}}
          - name: invite_again
            needs: [invite]
            template: {name: letter, with: {guest: "{{invite}}", place: Lisbon}}
        #- letter.yaml
        steps:
          - name: write
            run: "Write to {{guest}} in {{place}}"
    Good::
        steps:
          - name: invite
            template: {name: letter, with: {guest: "{{input}}", place: Lisbon}}
        #- letter.yaml
        steps:
          - name: write
            run: "Write to {{guest}} in {{place}}"
    """
    for reference, summary in _called(element, view):
        meant = slips_of(reference, summary).values()  # WF602 tells of them
        missing = [name for name in summary.parameters if not reference.supplies(name) and name not in meant]
        if missing:
            message = f"Missing {listed(missing[:5], 'and')}: `{summary.name}` needs it, but this call does not pass it"
            yield draft(element.piece, mark(reference), message)


@rule("WF604", "calls-itself", Severity.ERROR, on="element", about=CALL)
def calls_itself(element: Element, view: View) -> Iterator[Draft]:
    """Workflow that calls itself, directly or through others.

    Such a run ends only at the depth limit. If there is an `if` on the way it may end earlier, and this is
    only an information.

    Bad::
        steps:
          - name: again
            template: {name: flow, with: {input: "{{input}}"}}
    Good::
        steps:
          - name: once
            template: {name: draft, with: {input: "{{input}}"}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    reference = call_of(element)
    if reference is None:
        return
    circle = view.circle(element)
    if circle is None:
        return
    way = " → ".join(f"`{key}`" for key in circle.keys)
    may_end = circle.guarded
    message = f"Workflow calls itself: {way}" + ("; an `if` may end the recursion" if may_end else "")
    yield draft(element.piece, mark(reference), message, Severity.INFORMATION if may_end else None)


@rule("WF605", "key-used-twice", Severity.ERROR, on="document")
def key_used_twice(view: View) -> Iterator[Draft]:
    """Duplicate workflow name in one folder.

    Only one of them can be called. The key of a workflow is its folder, relative to the workflow root, and
    its `name`.

    Bad::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: The second of two
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
        #- a_flow.yaml
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: The first of two
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        steps:
          - {name: greet, run: "Greet {{input}}"}
        #- a_flow.yaml
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    other = view.twin()
    top = view.top("name")
    if other is not None and top is not None and top.field is not None:
        message = f"Duplicate workflow name, also in `{other}`: only one of the two can be called"
        yield draft(top.piece, value_span(top.field), message)


@rule("WF606", "two-matches", Severity.INFORMATION, on="element", about=CALL)
def two_matches(element: Element, view: View) -> Iterator[Draft]:
    """Bare name that matches a workflow next to the caller and one in the root. The neighbor is used.

    Bad::
        #- tools/caller.yaml
        steps:
          - name: shorten
            template: {name: draft, with: {input: "{{input}}"}}
        #- tools/draft.yaml
        steps:
          - {name: write, run: "Shorten {{input}}"}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    Good::
        #- tools/caller.yaml
        steps:
          - name: shorten
            template: {name: tools/draft, with: {input: "{{input}}"}}
        #- tools/draft.yaml
        steps:
          - {name: write, run: "Shorten {{input}}"}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    reference = call_of(element)
    if reference is None:
        return
    callee = view.callee(reference)
    if callee.shadowed is not None:
        message = f"This calls `{callee.key}`; there is also a `{callee.shadowed}` in the root folder"
        yield draft(element.piece, mark(reference), message)


@also("WF606", on="element", profile="compat", replaces=True, about=CALL)
def two_matches_elsewhere(element: Element, view: View) -> Iterator[Draft]:
    for found in two_matches(element, view):
        yield found._replace(message=f"{found.message}, which mcp-cli calls instead", severity=Severity.WARNING)


@rule("WF607", "no-input", Severity.WARNING, on="element", about=CALL)
def no_input(element: Element, view: View) -> Iterator[Draft]:
    """Template without arguments, although the called workflow uses `{{input}}`.

    The input of the caller is not passed automatically: `{{input}}` is empty there.

    Bad::
        steps:
          - name: improve
            template: {name: draft}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    Good::
        steps:
          - name: improve
            template: {name: draft, with: {input: "{{input}}"}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    for reference, summary in _called(element, view):
        if reference.kind != "template" or reference.arguments or not summary.reads_input:
            continue
        given = reference.block.get("with")
        if given is None and reference.block.meant("with"):
            continue
        if given is None or not given.faults:
            message = f"Missing `input`: `{summary.name}` reads `{{{{input}}}}`; pass it in `with`"
            yield draft(element.piece, mark(reference), message)


@rule("WF608", "input-is-no-text", Severity.ERROR, on="element", local=True, about=CALL)
def input_is_no_text(element: Element) -> Iterator[Draft]:
    """Argument `input` that is a list or a mapping; it must be a string.

    Bad::
        steps:
          - name: improve
            template: {name: draft, with: {input: ["{{input}}", "and more"]}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    Good::
        steps:
          - name: improve
            template: {name: draft, with: {input: "{{input}} and more"}}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    reference = element.reference
    if reference is None:
        return
    for pair in written_arguments(reference):
        if pair.name == "input" and pair.node is not None and isinstance(resolved(pair.node), Sequence | Mapping):
            kind = "a list" if isinstance(resolved(pair.node), Sequence) else "a mapping"
            yield draft(element.piece, node_span(pair.node), f"`input` must be a string, not {kind}")


@rule("WF609", "callee-has-errors", Severity.WARNING, on="element", about=CALL)
def callee_has_errors(element: Element, view: View) -> Iterator[Draft]:
    """Call of a workflow that has errors and cannot run.

    Bad::
        steps:
          - name: call
            template: {name: broken}
        #- broken.yaml
        steps:
          - {name: greet, temperature: 0.5}
    Good::
        steps:
          - name: call
            template: {name: whole}
        #- whole.yaml
        steps:
          - {name: greet, run: "Say hello"}
    """
    reference = call_of(element)
    if reference is None:
        return
    callee = view.callee(reference)
    if callee.key is None or callee.is_caller:
        return
    errors = view.errors_of(callee.key)
    if errors:
        yield draft(element.piece, mark(reference), f"`{callee.key}` has {counted(errors, 'error')} and cannot run")


@rule("WF610", "argument-taken-over", Severity.WARNING, on="element", about=CALL)
def argument_taken_over(element: Element, view: View) -> Iterator[Draft]:
    """Argument with the name of a step or loop of the called workflow.

    Once that step has finished, the name means its result and no longer the argument.

    Bad::
        steps:
          - name: call
            template: {name: story, with: {input: "{{input}}", plot: "a journey"}}
        #- story.yaml
        steps:
          - {name: plot, run: "Find a plot for {{input}}"}
          - {name: tell, needs: [plot], run: "Tell {{plot}}"}
    Good::
        steps:
          - name: call
            template: {name: story, with: {input: "{{input}}"}}
        #- story.yaml
        steps:
          - {name: plot, run: "Find a plot for {{input}}"}
          - {name: tell, needs: [plot], run: "Tell {{plot}}"}
    """
    for reference, summary in _called(element, view):
        for pair in written_arguments(reference):
            if pair.name in summary.names:
                message = f"`{summary.name}` has a step or loop `{shortened(pair.name)}` that overrides this argument"
                yield draft(element.piece, pair.entry.key.span, message)


@rule("WF611", "loop-variables-for-template", Severity.INFORMATION, on="element", about=CALL)
def loop_variables_for_template(element: Element, view: View) -> Iterator[Draft]:
    """Template that calls a workflow which uses `loop.*`: only a loop provides these.

    Bad::
        steps:
          - name: call
            template: {name: round, with: {input: "{{input}}"}}
          - name: repeat
            needs: [call]
            loop: {workflow: round, max_iterations: 3, until: "The reply contains READY"}
        #- round.yaml
        steps:
          - {name: tell, run: "In round {{loop.iteration}} write READY below {{input}}"}
    Good::
        steps:
          - name: repeat
            loop: {workflow: round, max_iterations: 3, until: "The reply contains READY"}
        #- round.yaml
        steps:
          - {name: tell, run: "In round {{loop.iteration}} write READY below {{input}}"}
    """
    for reference, summary in _called(element, view):
        if reference.kind == "template" and summary.loop_variables:
            names = listed(summary.loop_variables[:3], "and")
            message = f"`{summary.name}` uses {names}, which is not available in a template"
            yield draft(element.piece, mark(reference), message)


@rule("WF612", "not-for-mcp-cli", Severity.WARNING, on="element", profile="compat", about=CALL)
def not_for_mcp_cli(element: Element, view: View) -> Iterator[Draft]:
    """Call that works in loop-ls but not in mcp-cli.

    mcp-cli never looks for a loop's workflow in the caller's folder, drops all arguments of a template
    except `input`, and passes the arguments of a loop in `{{input}}` instead of variables.

    Bad::
        steps:
          - name: make_card
            template: {name: card, with: {title: "{{input}}"}}
        #- card.yaml
        steps:
          - {name: print, run: "Print a card with the title {{title}}"}
    Good::
        steps:
          - name: make_card
            template: {name: card, with: {input: "{{input}}"}}
        #- card.yaml
        steps:
          - {name: print, run: "Print a card with the title {{input}}"}
    """
    reference = call_of(element)
    if reference is None:
        return
    callee = view.callee(reference)
    if callee.summary is None:
        return
    if reference.kind == "loop" and callee.by_folder:
        message = f"mcp-cli finds this workflow only as `{callee.key}`"
        yield draft(element.piece, mark(reference), message)
    for pair in written_arguments(reference):
        name = shortened(pair.name)
        if pair.name == "input":
            continue
        if reference.kind == "template":
            yield draft(element.piece, pair.entry.key.span, f"mcp-cli drops `{name}`: its templates pass only `input`")
        elif pair.name in callee.summary.reads:
            message = (
                f"mcp-cli does not fill in `{{{{{name}}}}}` in the called workflow: it passes loop arguments in `input`"
            )
            yield draft(element.piece, pair.entry.key.span, message)
