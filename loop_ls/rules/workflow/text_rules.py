"""Braces, tags and dollar signs in texts: what looks like a variable and is none."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.workflow.placeholder_syntax import RESERVED, is_name
from loop_ls.index.element import Element, Slot
from loop_ls.index.loop_variables import NAMES as LOOP_NAMES
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import Draft, Site, draft, node_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.own_entries import own_needs, own_slots, own_strays
from loop_ls.rules.engine.prefilter import DOLLARS, NEEDS, ODD_BRACES, SINGLE_BRACES, STRAYS, TAGS, single_braces
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.syntax.placeholders import Island, code_spans, environment_names, template_tags
from loop_ls.syntax.scalar_source_map import ScalarSourceMap
from loop_ls.text.pattern import pattern

_NAME_AND_MORE = pattern(r"\s*([^\W\d][\w-]*(?:\.[\w-]+)*)\s+\S")
_NAME_AND_DOTS = pattern(r"\s*([^\W\d][\w-]*)\.[\w.-]*\s*")
_CAPITALS = pattern(r"[A-Z_][A-Z0-9_]*")


@rule("WF504", "expression", Severity.WARNING, on="element", about=ODD_BRACES)
def expression(element: Element, view: View) -> Iterator[Draft]:
    """Expression, filter, index or comparison inside `{{ }}`, or a name with one dot too many.

    Expressions are not supported. The braces reach the model as written; let the model or an earlier step
    do it.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input | upper}}"}
    Good::
        steps:
          - {name: greet, run: "Greet {{input}} in capitals"}
    """
    for slot in own_slots(element):
        for island in slot.islands:
            if island.name is not None or _is_condition(slot, island):
                continue
            if _has_dot_too_many(island, view):
                message = f"`{{{{{shortened(island.raw)}}}}}` stays as text: a name is missing after a dot"
                yield draft(element.piece, island.span, message)
            elif _is_attempt(island, view):
                message = f"`{{{{{shortened(island.raw)}}}}}` stays as text: expressions are not supported in braces"
                yield draft(element.piece, island.span, message)


def _has_dot_too_many(island: Island, view: View) -> bool:
    """`{{env.}}`, `{{draft..text}}`; other texts with dots, such as `{{.Names}}`, are none of ours."""
    named = _NAME_AND_DOTS.fullmatch(island.raw)
    return named is not None and (named[1] in RESERVED or view.known(named[1]) is not None)


def _is_attempt(island: Island, view: View) -> bool:
    if island.kind == "expression":
        return True
    named = _NAME_AND_MORE.match(island.raw) if island.kind == "other" else None
    return named is not None and _is_known(named[1], view)


def _is_known(name: str, view: View) -> bool:
    head, _, rest = name.partition(".")
    if head == "env":
        return view.has_env(rest)
    return head in ("input", "loop", "step") or view.known(name) is not None


def _is_condition(slot: Slot, island: Island) -> bool:
    """`${{ x == "v" }}` in an `if` is a comparison, and WF213 speaks of other operators there."""
    condition = slot.condition
    return condition is not None and (condition.kind == "compare" or bool(condition.unsupported))


@rule("WF505", "template-tag", Severity.WARNING, on="element", local=True, about=TAGS)
def template_tag(element: Element) -> Iterator[Draft]:
    """Template tag, such as `{% if ... %}` or `{# ... #}`.

    Template tags are not supported: the model reads the tag as text, and both branches of it.

    Bad::
        steps:
          - name: greet
            run: |
              {% if input %}
              Greet {{input}}.
    Good::
        steps:
          - name: greet
            if: "{{input}}"
            run: |
              Greet {{input}}.
    """
    for slot in own_slots(element):
        told: set[int] = set()
        for tag in template_tags(element.piece.lines, slot.scalar):
            line = tag.span.start.line
            if line not in told:
                told.add(line)
                message = f"`{shortened(tag.raw)}` is sent to the model as text: template tags are not supported"
                yield draft(element.piece, tag.span, message)


@rule("WF508", "environment-variable", Severity.INFORMATION, on="element", local=True, about=DOLLARS)
def environment_variable(element: Element) -> Iterator[Draft]:
    """`${NAME}` or `$NAME` in a text other than a value of `env`.

    Only values of `env` are expanded from environment variables; elsewhere the text stays as written.
    Inline code and fenced code blocks are not checked.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input}} from ${HOST_NAME}"}
    Good::
        env: {HOST: "${HOST_NAME}"}
        steps:
          - {name: greet, run: "Greet {{input}} from {{env.HOST}}"}
    """
    for slot in own_slots(element):
        for found in environment_names(element.piece.lines, slot.scalar):
            if not found.code and _CAPITALS.fullmatch(found.name):
                written = f"${{{found.name}}}" if found.braced else f"${found.name}"
                message = f"`{written}` stays as text here; set it in `env` and use `{{{{env.{found.name}}}}}`"
                yield draft(element.piece, found.span, message)


@rule("WF509", "placeholder-not-filled", Severity.WARNING, on="element", local=True, about=STRAYS)
def placeholder_not_filled(element: Element) -> Iterator[Draft]:
    """Placeholder in a field that does not support variables, such as a name, a model or `workflow`.

    Bad::
        steps:
          - {name: greet, model: "{{input}}", run: "Greet whoever comes"}
    Good::
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    for stray in own_strays(element):
        if stray.island.name is not None:
            yield draft(element.piece, stray.island.span, not_filled(stray.key.name, stray.island))


def not_filled(key: str, island: Island) -> str:
    return f"`{{{{{island.name}}}}}` stays as text: `{key}` does not support variables"


@rule("WF512", "braces", Severity.WARNING, on="element", local=True, fixes=(Tier.REVIEW,), about=ODD_BRACES)
def braces(element: Element) -> Iterator[Draft]:
    """Braces that are never closed, triple braces, or single braces around a variable with a dot.

    `{loop.output}` and `${env.TONE}` are sent as written.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input} warmly"}
    Good::
        steps:
          - {name: greet, run: "Greet {{input}} warmly"}
    """
    for slot in own_slots(element):
        for island in slot.islands:
            if island.kind == "triple":
                message = f"Triple braces around `{island.name}`: use two; the third stays as text"
                yield draft(element.piece, island.span, message)
            elif island.kind == "unclosed" and _looks_begun(slot, island):
                yield draft(element.piece, island.span, "`{{` is never closed; add `}}` after the name")


@also("WF512", on="element", about=SINGLE_BRACES)
def one_brace(element: Element, view: View) -> Iterator[Draft]:
    """`{loop.output}` and `${loop.output}`: the name of a variable that exists, in one pair of braces. Code in
    back-ticks is left alone, and so is every other text in braces."""
    for slot in own_slots(element):
        written = ScalarSourceMap(element.piece.lines, slot.scalar)
        code = code_spans(written.text)
        for start, end, name in single_braces(written.text):
            if not _is_variable(name, view) or any(first <= start < last for first, last in code):
                continue
            shown = shortened(written.text[start:end])
            if slot.kind == "until" and name.startswith("loop."):
                message = f"`{shown}` stays as text; remove it, the judge already sees the output"
                yield draft(element.piece, written.span(start, end), message)
                continue
            place, filled = written.span(start, end), f"{{{{{name}}}}}"
            fix = builders.replace(element.piece, place, filled, "Use two braces", Tier.REVIEW)
            message = f"`{shown}` stays as text; use two braces for a variable: `{{{{{name}}}}}`"
            yield draft(element.piece, place, message, fixes=(fix,))


def _is_variable(name: str, view: View) -> bool:
    head, _, rest = name.partition(".")
    match head:
        case "env":
            return view.has_env(rest)
        case "loop":
            return name in LOOP_NAMES
        case _:
            return view.known(rest) is not None


def _looks_begun(slot: Slot, island: Island) -> bool:
    """A name, or nothing more, stands behind the braces; `{{"a": 1` in a prompt is JSON."""
    behind = slot.scalar.text.rpartition("}}")[2].partition("{{")[2].lstrip(" \t")
    return behind == "" or behind[0].isalpha() or behind[0] in "_\r\n"


@rule("WF516", "argument-name", Severity.WARNING, on=("template", "loop", "step loop"), local=True, about="with")
def argument_name(site: Site) -> Iterator[Draft]:
    """Argument in `with` that is named `env`, `loop` or `step`, or that has an invalid name.

    The called workflow could not read it: the three names are reserved there, and a name may contain only
    letters, digits, `_` and `-`.

    Bad::
        steps:
          - name: ask
            template: {name: draft, with: {step: one, input: "{{input}}"}}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        steps:
          - name: ask
            template: {name: draft, with: {stage: one}}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    if site.own("with") is None:
        return
    for pair in site.block.pairs("with"):
        if pair.entry.merged:
            continue
        if pair.name in ("env", "loop", "step"):
            message = f"Reserved name `{pair.name}`: `{{{{{pair.name}}}}}` has another meaning in the called workflow"
            yield site.found(pair.entry.key.span, message)
        elif not is_name(pair.name):
            message = f"Invalid argument name `{shortened(pair.name)}`: use letters, digits, `_` and `-`"
            yield site.found(pair.entry.key.span, message)


@rule("WF517", "needs-not-used", Severity.WARNING, on="element", profile="pedantic", about=NEEDS)
def needs_not_used(element: Element, view: View) -> Iterator[Draft]:
    """Prompt without any placeholder, although the step waits for results that are used nowhere else.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write an essay from the outline"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: essay, needs: [outline], run: "Write an essay from {{outline}}"}
    """
    needs = own_needs(element)
    prompts = [slot for slot in own_slots(element) if slot.asks]
    if not needs or not prompts or any(slot.islands for slot in prompts):
        return
    if any(view.known(need.name) is None or view.is_used(need.name) for need in needs):
        return
    names = " and ".join(f"`{shortened(need.name)}`" for need in needs[:3])
    yield draft(element.piece, node_span(prompts[0].scalar), f"The prompt waits for {names} but does not use it")
