"""Hover: what a key, value, variable, reference, loop or `needs` entry means where it stands.

`hover(workspace, document, at, settings)` answers None where there is nothing to tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.contract.amounts import count
from loop_ls.features.anchors import anchor_at
from loop_ls.features.answers import Hover, ShownRun
from loop_ls.features.complete.describe import parameter_text
from loop_ls.features.complete.items.callees import workflow_text
from loop_ls.features.docs.condition import condition_text
from loop_ls.features.docs.element import element_text, loop_facts
from loop_ls.features.docs.key import key_text
from loop_ls.features.docs.provider import model_text, provider_text
from loop_ls.features.docs.variable import last_run_text, unknown_text, variable_text
from loop_ls.features.hover.effective_value import counts_here
from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.node_at import NodeAt, look_at
from loop_ls.features.lookup.pieces import element_at
from loop_ls.features.text.humanize import duration, listed
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.settings.model import Settings
from loop_ls.formats.workflow.keys import WORKFLOW
from loop_ls.index.document import Document
from loop_ls.index.scope import scope_at
from loop_ls.index.workspace import Workspace
from loop_ls.rules.docs.phrases import not_saved
from loop_ls.syntax.nodes import Alias
from loop_ls.text.markdown import code, fenced, in_braces
from loop_ls.text.position import Position, Span


def hover(
    workspace: Workspace,
    document: Document,
    at: Position,
    settings: Settings | None = None,
    runs: Sequence[ShownRun] = (),
    all_known: bool = True,
) -> Hover | None:
    """`runs` are those of this file, the latest last; `all_known` says whether all files have been read."""
    return support_of(document).hover(workspace, document, at, settings or workspace.settings, runs, all_known)


def hover_workflow(
    workspace: Workspace,
    document: Document,
    at: Position,
    settings: Settings,
    runs: Sequence[ShownRun],
    all_known: bool,
) -> Hover | None:
    look = look_at(document, at)
    if look is None:
        return _dash(workspace, document, at) or _anchor(document, at)
    if not (all_known or _is_known(workspace, look)):
        return None
    text = _text(workspace, look, settings, runs)
    return Hover(look.place, text) if text else _anchor(document, at)


def _dash(workspace: Workspace, document: Document, at: Position) -> Hover | None:
    """The dash of a step or loop stands for all of it."""
    if not document.is_workflow or not 0 <= at.line < len(document.text.lines):
        return None
    line = document.text.lines[at.line]
    dash = len(line) - len(line.lstrip(" "))
    if not line.startswith("-", dash) or not dash <= at.column <= dash + 1:
        return None
    first = at.line if line[dash + 1 :].strip() else at.line + 1
    element = element_at(document, first)
    if element is None or document.absolute(element.piece, element.span).start.line != first:
        return None
    return Hover(Span(Position(at.line, dash), Position(at.line, dash + 1)), element_text(workspace, document, element))


def _is_known(workspace: Workspace, look: NodeAt) -> bool:
    """Whether a reference leads to a file that has been read; of another one nothing can be said."""
    value = look.field.value if look.on_reference and look.field is not None else None
    return not isinstance(value, str) or workspace.resolve(look.document, value).document is not None


def _text(workspace: Workspace, look: NodeAt, settings: Settings, runs: Sequence[ShownRun]) -> str | None:
    if look.use is not None and look.element is not None:
        return _variable(workspace, look, runs)
    if look.need is not None:
        return _need(workspace, look)
    if look.alias is not None:
        return _alias(look.document, look.alias, look.place.start)
    if look.pair is not None:
        return _pair(workspace, look)
    if look.field is None:
        return None
    return _key(workspace, look) if look.on_key else _value(workspace, look, settings)


def _alias(document: Document, alias: Alias, at: Position) -> str:
    """What the alias stands for, as it is written at its anchor."""
    head = f"**{code('*' + alias.name)}** — alias of {code('&' + alias.name)}"
    anchor = anchor_at(document, at)
    if alias.target is None or anchor is None:
        return f"{head}, which is not in this file"
    return f"{head}\n\n{fenced(anchor.written(document), 'yaml')}"


def _anchor(document: Document, at: Position) -> Hover | None:
    """What an anchor marks, where it is written."""
    anchor = anchor_at(document, at)
    if anchor is None or anchor.at is None or not anchor.at.contains(at):
        return None
    used = f"used {count(len(anchor.aliases), 'time')} as {code('*' + anchor.name)}"
    text = f"**{code('&' + anchor.name)}** — anchor, {used}\n\n{fenced(anchor.written(document), 'yaml')}"
    return Hover(anchor.at, text)


# -- variables and names --------------------------------------------------------------------------


def _variable(workspace: Workspace, look: NodeAt, runs: Sequence[ShownRun]) -> str:
    assert look.use is not None and look.element is not None
    scope = scope_at(workspace, look.document, look.element, look.use.slot)
    name = look.use.name
    variable = scope.look_up(name)
    if variable is None:
        return unknown_text(name, scope, workspace.callers(look.document))
    text, last = variable_text(variable, scope.in_loop), last_run_text(variable, runs)
    return text if last is None else f"{text}\n\n{last}"


def _need(workspace: Workspace, look: NodeAt) -> str | None:
    assert look.need is not None
    element = look.document.element(look.need.name)
    if element is None:
        return f"Unknown step or loop {code(look.need.name)}."
    return element_text(workspace, look.document, element)


def _pair(workspace: Workspace, look: NodeAt) -> str | None:
    """An entry of `with` or `env`; values have nothing to tell besides their variables."""
    pair = look.pair
    assert pair is not None
    if not look.on_key:
        return None
    if look.element is None:
        readers = [element.name for element in look.document.mentioning(f"env.{pair.name}") if element.name]
        read = f"Used in {listed([code(name) for name in readers[:8]])}." if readers else "Unused in this file."
        return f"**{in_braces('env.' + pair.name)}** — constant of this file\n\n{read}"
    callee = workspace.callee(look.document, look.element.reference)
    if callee is None:
        return f"**{code(pair.name)}** — argument"
    used = pair.name in callee.parameters or bool(callee.mentioning(pair.name))
    if not used:
        return f"**{code(pair.name)}** — argument\n\n{code(callee.name or '?')} has no variable of this name."
    return parameter_text(callee, pair.name)


# -- keys -----------------------------------------------------------------------------------------


def _shape(look: NodeAt) -> Shape:
    return look.block.shape if look.block is not None else WORKFLOW


def _key(workspace: Workspace, look: NodeAt) -> str:
    assert look.field is not None
    key = look.field.key
    parts = [key_text(key, _shape(look))]
    if (here := counts_here(look)) is not None:
        parts.append(here)
    element = look.element
    if element is None or element.loop is None:
        return "\n\n".join(parts)
    if key.name == "loop" or (look.block is element.loop and key.name in ("max_iterations", "workflow")):
        parts += loop_facts(workspace, look.document, element)
    return "\n\n".join(parts)


# -- values ---------------------------------------------------------------------------------------


def _value(workspace: Workspace, look: NodeAt, settings: Settings) -> str | None:
    field = look.field
    assert field is not None
    key, value = field.key, field.value
    if look.on_reference and isinstance(value, str):
        return _reference(workspace, look.document, value)
    if look.on_name and look.element is not None:
        return element_text(workspace, look.document, look.element)
    if look.on_name:
        return workflow_text(workspace, look.document) + _called(workspace, look.document)
    if look.on_accumulate and isinstance(value, str):
        variable = scope_at(workspace, look.document, None).look_up(value)
        return variable_text(variable) if variable is not None else None
    match key.offers:
        case "providers" if isinstance(value, str):
            return provider_text(value, settings)
        case "models" if isinstance(value, str):
            provider = look.block.text("provider") if look.block is not None else None
            return model_text(provider or "", value, settings)
        case _:
            return _plain_value(workspace, look, key)


def _plain_value(workspace: Workspace, look: NodeAt, key: Key) -> str | None:
    field = look.field
    assert field is not None
    value = field.value
    if key.type is Type.DURATION and isinstance(value, int | float):
        return f"{duration(value)}\n\n{key_text(key, _shape(look))}"
    if key.name == "until" and look.element is not None and isinstance(value, str):
        return condition_text(workspace, look.document, look.element, value)
    if key.name == "if" or key.choices or key.type in (Type.BOOLEAN, Type.INTEGER, Type.NUMBER):
        return _key(workspace, look)
    return None


def _reference(workspace: Workspace, document: Document, text: str) -> str:
    found = workspace.resolve(document, text)
    if found.unsaved:
        return f"{not_saved(code(text))}."
    if found.document is None:
        near = (
            f" Did you mean {listed([code(key) for key in found.suggestions[:3]], 'or')}?" if found.suggestions else ""
        )
        return f"Unknown workflow {code(text)}.{near}"
    hidden = f"\n\nIt takes precedence over {code(found.hidden)} in the root folder here." if found.hidden else ""
    return workflow_text(workspace, found.document) + hidden


def _called(workspace: Workspace, document: Document) -> str:
    calls = workspace.callers(document)
    if not calls:
        return ""
    names = list(dict.fromkeys(code(call.document.name or "?") for call in calls))
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    shown = ", ".join(names[:6]) if more else listed(names)
    return f"\n\nCalled in {count(len(calls), 'place')}, by {shown}{more}"
