"""Name, version, description and the blocks of a workflow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.formats.common.scalars import is_null
from loop_ls.formats.common.typed_mapping import Field
from loop_ls.formats.workflow.keys import WORKFLOW
from loop_ls.index.top_level import Top
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import LINE_1, Draft, Spot, draft, node_span, value_span
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.execution_rules import is_blank
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence
from loop_ls.syntax.nodes import Node, Scalar
from loop_ls.text.pattern import pattern

_SEMVER = pattern(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?", re.ASCII)
_SECTIONS = ("steps", "loops")
_SNAKE = pattern(r"[a-z_][a-z0-9_]*")


@also("WF005", on="document")
def repeated_top_level_key(view: View) -> Iterator[Draft]:
    first: dict[str, Top] = {}
    for top in view.tops():
        before = first.setdefault(top.name, top)
        if before is not top:
            yield _again(top, before)


def _again(top: Top, before: Top) -> Draft:
    spot = Spot(before.piece, before.entry.key.span)
    joined = top.name in _SECTIONS
    flow = top.piece.node is not None or before.piece.node is not None
    more = "; both are merged" if joined else ""
    return draft(
        top.piece,
        top.entry.key.span,
        lambda line_of: f"Duplicate key `{shortened(top.name)}`; first defined on line {line_of(spot)}{more}",
        related=((spot, "the first one" if joined else "the first one, which counts"),),
        fixes=(builders.merge_section(top.piece, before.piece, top.name),) if joined and not flow else (),
    )


@also("WF006", on="document")
def unknown_top_level_key(view: View) -> Iterator[Draft]:
    tops = view.tops()
    names = {top.name for top in tops}
    seen: set[str] = set()
    for top in tops:
        if top.unknown is None or top.name in seen:
            continue
        seen.add(top.name)
        better = renamed(top.unknown, names, WORKFLOW)
        fix = (builders.reword(top.piece, top.entry.key.span, better),) if better else ()
        yield draft(top.piece, top.entry.key.span, unknown_sentence(top.unknown, WORKFLOW), fixes=fix)


@also("WF007", on="document")
def section_that_is_no_list(view: View) -> Iterator[Draft]:
    for top in view.tops():
        if top.name in _SECTIONS and top.field is not None:
            for fault in top.field.faults:
                if not _is_null(fault.node):
                    yield draft(
                        top.piece,
                        node_span(fault.node),
                        f"`{top.name}` must be a list of mappings; start each entry with a dash",
                    )


def _is_null(node: Node) -> bool:
    """`steps: null` is an empty value, not one of the wrong type."""
    return isinstance(node, Scalar) and is_null(node)


@also("WF007", on="document")
def item_that_is_no_mapping(view: View) -> Iterator[Draft]:
    for piece, node in view.odd_items():
        yield draft(piece, node_span(node), f"Each entry of `{piece.section}` must be a mapping")


@also("WF009", on="document")
def empty_section(view: View) -> Iterator[Draft]:
    for top in view.empty_sections():
        yield draft(top.piece, top.entry.key.span, f"`{top.name}` is empty")


def _text(view: View, name: str) -> tuple[Top | None, Field | None, str | None]:
    """A top-level text: where it stands, and its value; None for a value that another rule judges, and for
    one whose key is only guessed."""
    top = view.top(name)
    field = None if top is None else top.field
    guessed = top is not None and top.unknown is not None
    value = field.value if field is not None and isinstance(field.value, str) and not guessed else None
    return top, field, value


def _absent(view: View, name: str) -> Spot | None:
    """What to mark when a text is missing or empty: its key, else line 1; None when it is there."""
    top, _, value = _text(view, name)
    if top is not None:
        return Spot(top.piece, top.entry.key.span) if is_blank(value) else None
    return None if view.expects(name) else LINE_1


@rule("WF101", "missing-name", Severity.ERROR, on="document", missing=True)
def missing_name(view: View) -> Iterator[Draft]:
    """Missing `name`.

    Callers, lists and run records identify a workflow by its `name`; the file name does not matter.

    Bad::
        $schema: workflow/v2.0
        version: 1.0.0
        description: Nobody can call this one
        steps:
          - name: greet
            template: {name: greeting}
        #- greeting.yaml
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Say hello"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: Callers say flow
        steps:
          - name: greet
            template: {name: greeting}
        #- greeting.yaml
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Say hello"}
    """
    spot = _absent(view, "name")
    if spot is not None:
        yield Draft(spot, "Missing `name`: nothing can call this workflow")


@rule("WF102", "missing-version", Severity.ERROR, on="document", missing=True)
def missing_version(view: View) -> Iterator[Draft]:
    """Missing `version`.

    The version appears in lists and logs, and mcp-cli rejects a file without one.

    Bad::
        $schema: workflow/v2.0
        name: flow
        description: Which version is it
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: The first version
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    spot = _absent(view, "version")
    if spot is not None:
        yield Draft(spot, "Missing `version`; add one such as `1.0.0`")


@rule("WF103", "missing-description", Severity.INFORMATION, on="document", missing=True)
def missing_description(view: View) -> Iterator[Draft]:
    """Missing `description`.

    People choose a workflow from a list by its description, and so do models that may call it.

    Bad::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: Greets whoever is named
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    spot = _absent(view, "description")
    if spot is None:
        return
    name = view.top("name")
    if spot is LINE_1 and name is not None:
        spot = Spot(name.piece, name.entry.key.span)
    yield Draft(spot, "Missing `description`; it is shown in lists, and models choose workflows by it")


@rule("WF104", "no-steps", Severity.ERROR, on="document", missing=True)
def no_steps(view: View) -> Iterator[Draft]:
    """Empty workflow: neither `steps` nor `loops` has an entry.

    Bad::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: Nothing to do
        steps: []
    Good::
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    if view.has_entries():
        return
    fields = [top.field for top in view.tops() if top.name in _SECTIONS]
    if any(not _is_null(fault.node) for field in filter(None, fields) for fault in field.faults):
        return  # WF007
    top = view.top("steps")
    spot = LINE_1 if top is None else Spot(top.piece, top.entry.key.span)
    yield Draft(spot, "Empty workflow: add an entry to `steps` or `loops`")


@rule("WF105", "loops-only", Severity.WARNING, on="document", profile="compat", missing=True)
def loops_only(view: View) -> Iterator[Draft]:
    """Workflow with loops but no steps.

    It runs in loop-ls, and the last loop gives its result; mcp-cli rejects the file.

    Bad::
        loops:
          - name: polish
            workflow: draft
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
    top = view.top("loops")
    if top is not None and view.has_entries() and not view.has_steps():
        yield draft(top.piece, top.entry.key.span, "mcp-cli rejects a workflow with `loops` but no `steps`")


@rule("WF114", "no-semver", Severity.INFORMATION, on="document")
def no_semver(view: View) -> Iterator[Draft]:
    """Version that is not MAJOR.MINOR.PATCH.

    Any string is accepted, but tools that compare versions expect three numbers and an optional suffix.

    Bad::
        $schema: workflow/v2.0
        name: flow
        version: 1.0
        description: Half a version
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0-beta.1
        description: A whole version
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    match _text(view, "version"):
        case Top() as top, Field() as field, str(value) if value.strip() and not _SEMVER.fullmatch(value):
            message = f"Invalid version `{shortened(value)}`; use MAJOR.MINOR.PATCH, e.g. `1.0.0`"
            yield draft(top.piece, value_span(field), message)


@rule("WF115", "name-differs", Severity.HINT, on="document")
def name_differs(view: View) -> Iterator[Draft]:
    """Name that is not snake_case, or that differs from the file name.

    Callers use the name, and people look for a file with the same name. `-` for `_` and capitals do not
    matter.

    Bad::
        $schema: workflow/v2.0
        name: tidy_notes
        version: 1.0.0
        description: The file is called flow
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: The file is called flow too
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    top, field, value = _text(view, "name")
    if top is None or field is None or value is None or is_blank(value):
        return
    stem = view.stem()
    if stem is not None and _plain(stem) != _plain(value):
        yield draft(
            top.piece, value_span(field), f"Workflow `{shortened(value)}` is in a file named `{shortened(stem)}`"
        )
    elif not _SNAKE.fullmatch(value):
        yield draft(top.piece, value_span(field), f"`{shortened(value)}` is not in snake_case")


def _plain(name: str) -> str:
    return name.replace("-", "_").casefold()
