"""The command behind a form for an assistant's loop: reads the fields, and writes those that changed.

The file is edited through the editor that shows it; saving it is that editor's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.contract.run_view.parts import part
from loop_ls.formats.registry import ASSISTANT
from loop_ls.server.command_answers import refused
from loop_ls.server.documents.replace_text import replace_text
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.formats.assistant.parts import AssistantParts
    from loop_ls.server.context import Context
    from loop_ls.server.documents.session import OpenDocument


async def assistant_setup(context: Context, argument: JsonObject) -> JsonObject:
    """`{uri, name?, values?}`: what holds, what would hold by default, and what of the values is not taken."""
    from loop_ls.features.actions import loop_setup

    opened = context.session.find(text_field(argument, "uri"))
    if opened is None:
        return refused("wrong_status", "The file is not open, so it cannot be edited here.", "Open it first.")
    if opened.document.format != ASSISTANT:
        return refused("bad_argument", f"`{text_field(argument, 'uri').rpartition('/')[2]}` contains no assistants.")
    there = [one for one in opened.document.whole.assistants if one.name]
    one = _meant(there, text_field(argument, "name") or None)
    if one is None:
        listed = ", ".join(f"`{each.key}`" for each in there)
        return refused("not_found", "Unknown assistant.", f"It has {listed}." if listed else "")
    values = loop_setup.loop_values(one)
    given = {name: value for name, value in part(argument, "values").items() if name in loop_setup.FIELDS}
    wanted = {**values, **given}
    problems = loop_setup.loop_problems(wanted) if given else []
    changed = False
    if given and not problems and wanted != values:
        new = loop_setup.with_loop(opened.document, one.key, wanted)
        changed = new != str(opened.document.text)
        if changed and (why := await replace_text(context.session, context.client, opened, new, f"Loop of {one.name}")):
            return refused("wrong_status", why)
        values = wanted
    return {
        "ok": True,
        "key": one.key,
        "name": one.name,
        "assistants": [_listed(opened, each) for each in there],
        "fields": list(loop_setup.FIELDS),
        "values": values,
        "defaults": loop_setup.DEFAULTS,
        "problems": problems,
        "changed": changed,
    }


def _meant(there: list[AssistantParts], name: str | None) -> AssistantParts | None:
    if name is None:
        return there[0] if there else None
    return next((one for one in there if name in (one.key, one.name)), None)


def _listed(opened: OpenDocument, one: AssistantParts) -> JsonObject:
    part = one.get("name")
    assert part is not None
    line = opened.document.absolute(part.piece, part.entry.key.span).start.line
    return {"key": one.key, "name": one.name, "enabled": one.enabled, "line": line}
