"""Whether a file can be read at all, and whether it is what it wants to be."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.workflow.keys import SCHEMA
from loop_ls.index.top_level import Top
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import LINE_1, Draft, Site, Spot, draft, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.syntax.merge_conflicts import CODE as CONFLICT
from loop_ls.syntax.nodes import Scalar
from loop_ls.text.fault import Fault

#: Faults that every further line repeats, and those of them that a file says once.
_EVERYWHERE = ("tab", "odd-blank", "too-many-aliases")

#: Faults of a whole document that hide what stands below them.
_ENDS = ("second-document", "directive")


@rule("WF001", "syntax", Severity.ERROR, on="tree", local=True, fixes=(Tier.SAFE,))
def syntax(site: Site) -> Iterator[Draft]:
    """Invalid YAML: an unclosed quote or bracket, a tab, wrong indentation.

    The rest of the file is still checked as far as possible, so that one slip causes one finding. Missing
    keys are not reported until this is fixed.

    Bad::
        steps:
          - name: greet
            run: "Greet {{input}}
    Good::
        steps:
          - name: greet
            run: "Greet {{input}}"
    """
    told = False
    for fault in site.piece.faults:
        if told and fault.code == "indentation":
            continue  # what follows from the first slip
        told = True
        once = fault.code if fault.code in _EVERYWHERE else ""
        yield site.found(fault.span, fault.message, fixes=_mending(site, fault))._replace(once=once)


def _mending(site: Site, fault: Fault) -> tuple[Fix, ...]:
    match fault.code:
        case "odd-blank":
            return (builders.plain_blanks(),)
        case "quotes-needed":
            return (builders.quote_whole(site.piece, fault.span),)
        case _:
            return ()


@also("WF001", on=("document", "root"))
def syntax_of_the_whole(view: View) -> Iterator[Draft]:
    for fault in view.faults():
        if fault.code not in _ENDS and fault.code != CONFLICT:
            yield Draft(Spot(None, fault.span), fault.message)


@rule("WF002", "no-schema", Severity.WARNING, on="lookalike")
def no_schema(view: View) -> Iterator[Draft]:
    """File that looks like a workflow, but has no `$schema`.

    Without `$schema: workflow/v2.0` the file is silently skipped, and nothing else is checked.

    Bad::
        name: flow
        version: 1.0.0
        description: Forgot to say what it is
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: Says what it is
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    schema, name = view.top("$schema"), view.top("name")
    if schema is not None and schema.field is not None and schema.piece.node is not None:
        written = schema.field.value if isinstance(schema.field.value, str) else ""
        message = f"Unknown workflow schema `{shortened(written)}`; use `{SCHEMA}`"
        yield draft(schema.piece, value_span(schema.field), message)
    elif name is not None:
        message = f"Missing `$schema: {SCHEMA}`: this file looks like a workflow, but is skipped"
        meant = next((top for top in view.tops() if _is_schema(top)), None)
        fix = builders.add_schema(SCHEMA)
        if meant is not None:
            title = "Rename this key to `$schema`"
            fix = builders.replace(meant.piece, meant.entry.key.span, "$schema", title, Tier.REVIEW)
        yield draft(name.piece, name.entry.key.span, message, fixes=(fix,))


def _is_schema(top: Top) -> bool:
    """`schema: workflow/v2.0` and the like: the right value behind a key that is nearly right."""
    node = top.entry.value
    return nearest(top.name, ("$schema",)) is not None and isinstance(node, Scalar) and node.text == SCHEMA


@rule("WF003", "no-mapping", Severity.ERROR, on="root")
def no_mapping(view: View) -> Iterator[Draft]:
    """Workflow whose root is not a mapping of keys.

    Bad::
        - $schema: workflow/v2.0
          name: flow
          version: 1.0.0
          steps:
            - {name: greet, run: "Greet {{input}}"}
    Good::
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: A mapping
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    kind = {"sequence": "a list", "scalar": "a text", "empty": "empty"}.get(view.root_kind(), "no mapping")
    yield Draft(LINE_1, f"A workflow must be a mapping of keys, not {kind}")


@rule("WF004", "second-document", Severity.WARNING, on=("document", "root"))
def second_document(view: View) -> Iterator[Draft]:
    """Second YAML document in one file: everything below the `---` is ignored.

    Bad::
        steps:
          - {name: greet, run: "Greet {{input}}"}
        ---
        name: leftover
    Good::
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    for fault in view.faults():
        if fault.code in _ENDS:
            yield Draft(Spot(None, fault.span), fault.message)


@rule("WF010", "merge-conflict", Severity.ERROR, on=("document", "root", "lookalike"), fixes=(Tier.REVIEW,))
def merge_conflict(view: View) -> Iterator[Draft]:
    """Unresolved merge conflict.

    The lines `<<<<<<<`, `=======` and `>>>>>>>`, and `|||||||` above the common ancestor, are treated as
    blank, so that the rest of the file is still checked; the text between them is not. A file with a
    conflict does not run.

    Bad::
        steps:
        <<<<<<< HEAD
          - {name: greet, run: "Greet {{input}} warmly"}
        =======
          - {name: greet, run: "Greet {{input}} coldly"}
        >>>>>>> colder
    Good::
        steps:
          - {name: greet, run: "Greet {{input}} warmly"}
    """
    for fault in view.faults():
        if fault.code == CONFLICT:
            yield Draft(Spot(None, fault.span), fault.message, fixes=builders.resolved_conflict(fault))
