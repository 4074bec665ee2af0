"""Names, modes and policies of steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.formats.workflow.keys import MODES
from loop_ls.formats.workflow.placeholder_syntax import RESERVED, is_name
from loop_ls.index.disk.skill_files import skill_path
from loop_ls.index.element import Element
from loop_ls.rules.docs.phrases import line_break, listed, shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Site, Spot, draft, entry_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.execution_rules import lacks, outside_its_list
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Sequence
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

_NOTHING_SAID = pattern(
    r"(?:step|test|task|item|node|action|job|thing)[_-]?\d+|step|tmp|temp|foo|bar|baz|thing|[a-z]?[_-]?\d*",
    re.IGNORECASE,
)


@rule("WF201", "step-without-name", Severity.ERROR, on="step", local=True, missing=True)
def step_without_name(site: Site) -> Iterator[Draft]:
    """Step without a name.

    Other steps wait for it and use its result by its name.

    Bad::
        steps:
          - run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            run: "Greet {{input}}"
    """
    if lacks(site, "name"):
        yield site.found(entry_span(site.block), "Missing step `name`")


@also("WF201", on="document", missing=True)
def empty_entry(view: View) -> Iterator[Draft]:
    """A dash of `steps` with nothing behind it."""
    for piece in view.blank_items():
        if piece.section == "steps":
            yield draft(piece, dash(piece), "Empty step: add `name` and what it does")


def dash(piece: Piece) -> Span:
    line = next((number for number, text in enumerate(piece.lines) if text.lstrip().startswith("-")), 0)
    column = piece.lines[line].find("-")
    return Span(Position(line, max(0, column)), Position(line, max(0, column) + 1))


@rule("WF202", "name-used-twice", Severity.ERROR, on="element")
def name_used_twice(element: Element, view: View) -> Iterator[Draft]:
    """Duplicate name of a step, loop or accumulated output.

    A name is a variable; with two owners it is unclear whose result `{{name}}` is.

    Bad::
        steps:
          - name: draft
            run: "Write about {{input}}"
          - name: draft
            run: "Write again about {{input}}"
          - name: final
            needs: [draft]
            run: "Polish {{draft}}"
    Good::
        steps:
          - name: draft
            run: "Write about {{input}}"
          - name: second_draft
            needs: [draft]
            run: "Write again, better than {{draft}}"
    """
    names = [element.name] if element.name else []
    if element.accumulate is not None:
        names.append(element.accumulate.text)
    for name in dict.fromkeys(names):
        places = view.places(name)
        for definition in places[1:]:
            if definition.element is element:
                spot = Spot(places[0].element.piece, places[0].span)
                yield _taken(element, name, definition.kind, definition.span, spot)


def _taken(element: Element, name: str, kind: str, span: Span, spot: Spot) -> Draft:
    what = "variable" if kind == "accumulate" else kind
    return draft(
        element.piece,
        span,
        lambda line_of: f"Duplicate {what} name `{shortened(name)}`; first used on line {line_of(spot)}",
        related=((spot, f"`{shortened(name)}` is first defined here"),),
    )


@rule("WF203", "step-without-mode", Severity.ERROR, on="step", local=True, missing=True)
def step_without_mode(site: Site) -> Iterator[Draft]:
    """Step that does nothing: it has none of `run`, `template`, `loop`, `consensus`, `rag` and
    `embeddings`, or its `run` is empty.

    Bad::
        steps:
          - name: greet
            temperature: 0.5
    Good::
        steps:
          - name: greet
            temperature: 0.5
            run: "Greet {{input}}"
    """
    if not modes(site.block) and not any(mode in unknown.meant for unknown in site.block.unknown for mode in MODES):
        yield site.found(site.label, f"Step has nothing to do; add {listed(MODES)}")


def modes(block: Block) -> list[Field]:
    """The mode keys that count, in written order: an empty `run` and empty mappings do not."""
    return [field for field in block.fields.values() if field.key.name in MODES and _counts(field)]


def _counts(field: Field) -> bool:
    if field.empty:
        return False
    return not isinstance(field.value, str) or field.value.strip() != ""


@rule("WF204", "several-modes", Severity.ERROR, on="step", local=True)
def several_modes(site: Site) -> Iterator[Draft]:
    """Step that does two things.

    A step must have exactly one of `run`, `template`, `loop`, `consensus`, `rag` and `embeddings`.

    Bad::
        steps:
          - name: both
            run: "Summarise {{input}}"
            template: {name: summary}
        #- summary.yaml
        steps:
          - {name: shorten, run: "Say something short"}
    Good::
        steps:
          - name: once
            run: "Summarise {{input}}"
    """
    written = modes(site.block)
    if len(written) < 2 or written[1].entry.merged:
        return
    first, second = written[0], written[1]
    names = listed([field.key.name for field in written], "and")
    yield site.found(
        second.entry.key.span,
        f"Conflicting keys {names}: a step can do only one thing",
        related=((site.at(first.entry.key.span), f"`{first.key.name}` is here"),),
        fixes=tuple(
            builders.remove_key(site.piece, site.block, field.entry, Tier.REVIEW)
            for field in (second, first)
            if not field.entry.merged
        ),
    )


@rule("WF206", "reserved-name", Severity.WARNING, on="element", local=True)
def reserved_name(element: Element) -> Iterator[Draft]:
    """Step, loop or accumulated output named `input`, `env`, `loop` or `step`.

    These names are reserved in `{{ }}`, so the result would not be available.

    Bad::
        steps:
          - name: loop
            run: "Greet {{input}}"
    Good::
        steps:
          - name: loop_plan
            run: "Greet {{input}}"
    """
    if element.name in RESERVED and element.name_span is not None:
        yield draft(element.piece, element.name_span, _reserved(element.name))
    if element.accumulate is not None and element.accumulate.text in RESERVED:
        yield draft(element.piece, element.accumulate.span, _reserved(element.accumulate.text))


def _reserved(name: str) -> str:
    return f"Reserved name `{name}`: `{{{{{name}}}}}` has another meaning; choose another name"


@rule("WF209", "unknown-step-policy", Severity.ERROR, on="step", local=True, fixes=(Tier.SAFE,), about="on_failure")
def unknown_step_policy(site: Site) -> Iterator[Draft]:
    """`on_failure` of a step that is not `halt`, `continue` or `retry`.

    Bad::
        steps:
          - name: greet
            on_failure: ignore
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            on_failure: continue
            run: "Greet {{input}}"
    """
    yield from outside_its_list(site, "on_failure")


@rule("WF210", "retries-without-retry", Severity.INFORMATION, on="step", local=True, about="max_retries")
def retries_without_retry(site: Site) -> Iterator[Draft]:
    """`max_retries` without `on_failure: retry`.

    The number has no effect then.

    Bad::
        steps:
          - name: greet
            max_retries: 2
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            on_failure: retry
            max_retries: 2
            run: "Greet {{input}}"
    """
    field = site.own("max_retries")
    policy = site.block.get("on_failure")
    if field is None or field.empty or (policy is not None and (policy.faults or policy.value == "retry")):
        return
    message = "`max_retries` has no effect without `on_failure: retry`"
    yield site.found(field.entry.key.span, message, tags=UNNECESSARY)


@also("WF210", on="step", local=True, profile="compat", about="on_failure")
def retry_of_a_step(site: Site) -> Iterator[Draft]:
    field = site.own("on_failure")
    if field is not None and field.value == "retry":
        yield site.found(field.entry.key.span, "mcp-cli treats `on_failure: retry` of a step as `halt`")


@rule("WF211", "meaningless-name", Severity.HINT, on="element", local=True, profile="pedantic")
def meaningless_name(element: Element) -> Iterator[Draft]:
    """Unclear name, such as `step1`, `a` or `test2`.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: step1, run: "Outline {{input}}"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: outline, run: "Outline {{input}}"}
    """
    if element.kind == "step" and element.name_span is not None and _NOTHING_SAID.fullmatch(element.name):
        message = f"Unclear name `{element.name}`: use one that describes what the step does"
        yield draft(element.piece, element.name_span, message)


@rule("WF215", "unused-result", Severity.HINT, on="element", missing=True)
def unused_result(element: Element, view: View) -> Iterator[Draft]:
    """Step whose result is never used.

    It costs a call and changes nothing. Steps with servers or skills are not reported: their tools may have
    other effects.

    Bad::
        steps:
          - name: weather
            run: "Guess the weather in {{input}}"
          - name: greet
            run: "Greet {{input}}"
    Good::
        steps:
          - name: weather
            run: "Guess the weather in {{input}}"
          - name: greet
            needs: [weather]
            run: "Greet {{input}}, mention {{weather}}"
    """
    if element.kind != "step" or element.name_span is None or not _is_readable(element.block):
        return
    if view.is_mentioned(element.name, element) or _loop_is_used(element, view) or view.gives_result(element):
        return
    if not _may_have_effects(element, view):
        message = f"The result of step `{shortened(element.name)}` is never used"
        yield draft(element.piece, element.name_span, message, tags=UNNECESSARY)


def _is_readable(step: Block) -> bool:
    """Whether it can be told what the step does: where not, another rule asks for that, and its result is no matter."""
    written = modes(step)
    return bool(written) and not written[0].faults


def _loop_is_used(element: Element, view: View) -> bool:
    """Whether the step is a loop that is read through its accumulated outputs or through `loop.*`."""
    if element.loop is None:
        return False
    if element.accumulate is not None and view.is_mentioned(element.accumulate.text, element):
        return True
    return view.loop_is_read(element)


def _may_have_effects(element: Element, view: View) -> bool:
    embeddings = element.block.block("embeddings")
    if embeddings is not None and embeddings.has("output_file"):
        return True
    if element.reference is not None:
        summary = view.callee(element.reference).summary
        return summary is None or summary.has_tools
    for key in ("servers", "skills"):
        own = element.block.get(key)
        if own is not None and (own.faults or own.value):
            return True
        if own is None and view.default(key):
            return True
    return False


@rule("WF217", "name-not-usable", Severity.WARNING, on="element", local=True, fixes=(Tier.SAFE,))
def name_not_usable(element: Element) -> Iterator[Draft]:
    """Step name that cannot be used in `{{ }}`: it contains a space, a brace or a dot, or starts with a
    digit.

    Use letters, digits, `_` and `-`, starting with a letter or `_`.

    Bad::
        steps:
          - name: first draft
            run: "Write about {{input}}"
    Good::
        steps:
          - name: first-draft
            run: "Write about {{input}}"
    """
    if element.name_span is not None and element.name.strip() and ("." in element.name or not is_name(element.name)):
        ends = line_break(element.name)
        why = ends or ": use letters, digits, `_` and `-`, starting with a letter"
        fix = builders.on_one_line(element.piece, element.block.fields["name"].node) if ends else ()
        message = f"`{shortened(element.name)}` cannot be used as `{{{{…}}}}`{why}"
        yield draft(element.piece, element.name_span, message, fixes=fix)


@rule("WF216", "equal-to-default", Severity.HINT, on="step", profile="pedantic", fixes=(Tier.SAFE, Tier.REVIEW))
def equal_to_default(site: Site, view: View) -> Iterator[Draft]:
    """Key of a step that repeats the value from `execution`.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
          temperature: 0.4
        steps:
          - {name: greeting, temperature: 0.4, run: "Greet {{input}}"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
          temperature: 0.4
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    """
    for field in site.own_fields():
        written = not field.empty and field.value is not None
        if written and field.value == view.default(field.key.name):
            message = f"`{field.key.name}` repeats the value from `execution`"
            # A provider or a model of its own keeps a step from the list of `execution`.
            tier = Tier.REVIEW if field.key.name in ("provider", "model") else Tier.SAFE
            fix = builders.remove_key(site.piece, site.block, field.entry, tier)
            yield site.found(field.entry.key.span, message, fixes=(fix,), tags=UNNECESSARY)


@rule("WF218", "unknown-skill", Severity.WARNING, on=("execution", "step"), about="skills")
def unknown_skill(site: Site, view: View) -> Iterator[Draft]:
    """Skill without a file `skills/NAME/SKILL.md` in the workspace folder.

    The step runs without it, unless the settings have a server named `skills`. Not reported if the workspace has no
    folder `skills`, because other tools keep skills elsewhere.

    Bad::
        steps:
          - {name: write, skills: [no-such-skill], run: "Write about {{input}}"}
    Good::
        steps:
          - {name: write, run: "Write about {{input}}"}
    """
    field = None if view.has_server("skills") else site.own("skills")
    items = field.node.items if field is not None and isinstance(field.node, Sequence) else ()
    for item in [one for one in items if one is not None]:
        name = text_of(item)
        if name and "{{" not in name and view.lacks_skill(name):
            yield site.found(
                item.span, f"Unknown skill `{shortened(name)}`; there is no `{shortened(skill_path(name))}`"
            )
