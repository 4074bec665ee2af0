"""Code actions, and their edits when one is chosen: always against the text as it is then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified

from loop_ls.features.actions.code_actions import actions, fix_all
from loop_ls.features.actions.extract_workflow import extract
from loop_ls.features.actions.inline_loop import loop_places
from loop_ls.features.actions.suppress import ignoring
from loop_ls.features.actions.toggle_loop import loop_switch
from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.features.lenses.as_actions import lens_actions
from loop_ls.features.lenses.enhance import preview
from loop_ls.features.lenses.lenses import lenses
from loop_ls.rules.engine.finding import Tier
from loop_ls.server.diagnostics.convert import Setting, diagnostic
from loop_ls.server.documents.workspace_edit import up_to_date, workspace_edit
from loop_ls.server.routes.requests import about
from loop_ls.text.json_value import JsonObject
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.session import OpenDocument


def on_actions(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    span, only, opened = asked.range(params), _only(params.get("context")), asked.opened
    offered = [*_offered(opened, span, only), *_of_runs(context, opened, span.start, only)]
    return [_written(context, opened, action, span) for action in offered]


def resolve(context: Context, action: JsonObject) -> JsonObject:
    data = action.get("data")
    if not isinstance(data, dict) or not isinstance(uri := data.get("uri"), str):
        return action
    opened = context.session.find(uri)
    edit = None if opened is None else _resolved(context, opened, data)
    if edit is None:
        raise JsonRpcContentModified(f"`{action.get('title')}` no longer applies to the text")
    return {**action, "edit": edit}


def _resolved(context: Context, opened: OpenDocument, data: JsonObject) -> JsonObject | None:
    def chosen() -> tuple[Edits, str] | None:
        action = _same(opened, data)
        return None if action is None or action.edits is None else (action.edits(), action.creates)

    found = up_to_date(context.session, context.publisher, chosen, lambda one: one[0] if one is not None else ())
    if found is None:
        return None
    return workspace_edit(context.session, context.client.facts, found[0], creates=found[1])


def _only(context: object) -> list[str]:
    """The kinds that the client wants; none: all."""
    kinds = context.get("only") if isinstance(context, dict) else None
    return [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []


def _offered(opened: OpenDocument, span: Span, only: Sequence[str]) -> Iterator[Action]:
    """Nothing is looked for that is not wanted: on each save editors ask for one kind, of the whole file."""
    document, findings = opened.document, opened.findings
    if _wanted(ActionKind.QUICKFIX, only):
        yield from actions(document, findings, span)
    if _wanted(ActionKind.FIX_ALL, only):
        everything = fix_all(document, findings, opened.workspace)
        if everything is not None:
            yield everything
    if _wanted(ActionKind.EXTRACT, only):
        yield from extract(opened.workspace, document, span.start, os.path.lexists)
    if _wanted(ActionKind.REWRITE, only):
        yield from loop_places(document, span.start)
        yield from loop_switch(document, span.start)
    if _wanted(ActionKind.QUICKFIX, only):
        yield from ignoring(document, findings, span)


def _of_runs(context: Context, opened: OpenDocument, cursor: Position, only: Sequence[str]) -> Iterator[Action]:
    views = context.runs.views(opened)
    if _wanted(ActionKind.PREVIEW, only):
        yield from preview(opened.document, views)
    if _wanted(ActionKind.RUN, only) and not context.client.facts.draws_lenses:
        yield from lens_actions(lenses(opened.workspace, opened.document, views), cursor)


def _wanted(kind: ActionKind, only: Sequence[str]) -> bool:
    """`only` names kinds and stands for their sub-kinds too. Fixing everything is never a mere suggestion."""
    if not only:
        return kind is not ActionKind.FIX_ALL
    return any(not wanted or kind.value == wanted or kind.value.startswith(wanted + ".") for wanted in only)


def _written(context: Context, opened: OpenDocument, action: Action, span: Span) -> JsonObject:
    client = context.client.facts
    title = action.title if action.tier is Tier.SAFE else f"{action.title} (review)"
    if not client.action_literals:
        return _as_command(action, title)
    found: JsonObject = {"title": title, "kind": action.kind.value}
    if action.preferred:
        found["isPreferred"] = True
    if action.findings:
        session = context.session
        setting = Setting(opened.uri, session.places(opened.document), session.places_of, client)
        found["diagnostics"] = [diagnostic(opened.findings[index], setting) for index in action.findings]
    if action.command is not None:
        found["command"] = {"title": title, "command": action.command.name, "arguments": [action.command.argument]}
    if action.edits is None:
        return found
    if client.action_resolve:
        found["data"] = {
            "uri": opened.uri,
            "title": action.title,
            "kind": action.kind.value,
            "version": opened.document.version,
            "at": [*span.start, *span.end],
        }
    else:
        edits = up_to_date(context.session, context.publisher, action.edits, lambda one: one)
        found["edit"] = workspace_edit(context.session, context.client.facts, edits, creates=action.creates)
    return found


def _as_command(action: Action, title: str) -> JsonObject:
    """For clients from before code actions had edits: they can only be shown what a command does."""
    command = action.command
    return {
        "title": title,
        "command": "" if command is None else command.name,
        "arguments": [] if command is None else [command.argument],
    }


def _same(opened: OpenDocument, data: JsonObject) -> Action | None:
    """The action that was shown, for the text as it is now."""
    at = data.get("at")
    if not isinstance(at, list) or len(at) != 4 or not all(isinstance(number, int) for number in at):
        return None
    span = Span(Position(at[0], at[1]), Position(at[2], at[3]))
    if data.get("version") != opened.document.version:
        # The place may have moved: its title names what it is about.
        span = Span(Position(0, 0), opened.document.text.end)
    alike = [
        action
        for action in _offered(opened, span, [str(data.get("kind"))])
        if action.title == data.get("title") and action.kind.value == data.get("kind")
    ]
    return alike[0] if alike else None
