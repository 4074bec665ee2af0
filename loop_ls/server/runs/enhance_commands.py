"""The commands of enhance loops: `loopLs.enhance.*`, each about the newest loop of a document.

Switch and setup edit the settings file, through the editor where it has that file open; nothing else is
written here. Loops run in the engine, and what they ask of the editor is answered by `rounds`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.client.exported_texts import first_texts
from loop_ls.contract.run_view.parts import part
from loop_ls.contract.run_view.rounds import listed
from loop_ls.features.actions.settings_edits import NoPlace, with_value, without_value
from loop_ls.formats.settings.enhance import SETUP, Wrong, defaults, is_knob, knobs_as_written, taken
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.index.disk.projects import project_folder
from loop_ls.server.command_answers import refused
from loop_ls.server.documents import uris
from loop_ls.server.documents.replace_text import replace_text, replace_texts
from loop_ls.server.documents.show_document import show_text
from loop_ls.text.json_value import Json, JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument


#: When it is worth it, when not, and what it costs (2).
ADVICE = (
    "Use it for a workflow that mostly works but fails in ways you cannot pin down: it improves the "
    "structure of the workflow, not one output. Leave it off if the workflow works reliably, and for a "
    "task that runs only once. Each round costs one normal run, and each round except the last one "
    "planner answer: three rounds of $0.50 with a planner at $0.03 cost about $1.56. "
    "Set the cap to what you are willing to spend."
)


# -- loops ------------------------------------------------------------------------------------


async def start(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.enhance.start`: like a run of the whole workflow, whatever the switch says."""
    answer = await context.runs.get().start({**argument, "enhance": True})
    return {**answer, "state": {"state": "running_round", "round": 1}} if answer.get("ok") else answer


async def go_on(context: Context, argument: JsonObject) -> JsonObject:
    return await _choose(context, argument, "continue")


async def skip(context: Context, argument: JsonObject) -> JsonObject:
    return await _choose(context, argument, "skip")


async def stop(context: Context, argument: JsonObject) -> JsonObject:
    run_id = await _newest(context, text_field(argument, "uri"))
    if run_id is None:
        return _no_loop(text_field(argument, "uri"))
    answer = await context.runs.get().stop({"runId": run_id})
    return await status(context, argument) if answer.get("ok") else answer


async def status(context: Context, argument: JsonObject) -> JsonObject:
    return await _asked(context, argument, "status", await _newest(context, text_field(argument, "uri")))


async def timeline(context: Context, argument: JsonObject) -> JsonObject:
    """With `show`, also as a document in the editor."""
    run_id = await _newest(context, text_field(argument, "uri"))
    answer = await _asked(context, argument, "timeline", run_id)
    if run_id is not None and answer.get("ok") and argument.get("show") is True:
        data = await context.runs.get().data_folder(run_id)
        answer["path"] = await show_text(context.client, data, run_id, "timeline", str(answer["markdown"]))
    return answer


async def feedback(context: Context, argument: JsonObject) -> JsonObject:
    given: JsonObject = {name: argument[name] for name in ("text", "step", "negative") if name in argument}
    return await _said(context, argument, "feedback", given)


async def revert(context: Context, argument: JsonObject) -> JsonObject:
    """The texts that the first round ran come back, as one edit."""
    uri = text_field(argument, "uri")
    opened, run_id = context.session.find(uri), await _newest(context, uri)
    if run_id is None:
        return _no_loop(uri)
    if opened is None:
        return refused("wrong_status", "The file is not open, so it cannot be edited here.", "Open it first.")
    told = await context.runs.get().ask_home(run_id, lambda client: client.export(run_id))
    if not told.get("ok"):
        return told
    found = first_texts(part(told, "run"))
    if found is None:
        return refused("not_found", "The texts of the first round are not in the record.")
    held = {one: context.session.held(uris.from_path(one.path)) for one in found.files}
    held[found.files[0]] = opened
    now = {one: None if document is None else str(document.document.text) for one, document in held.items()}
    if why := found.refusal(now):
        return refused("wrong_status", why)
    changed: list[tuple[OpenDocument, str]] = []
    for one, document in held.items():
        if document is None:
            return refused("wrong_status", f"{one.path} cannot be read, so nothing was restored.")
        if one.text != now[one]:
            changed.append((document, one.text))
    label = "Enhance: restore round 1"
    if changed and (problem := await replace_texts(context.session, context.client, changed, label)):
        return refused("wrong_status", problem)
    return {"ok": True, "changed": bool(changed)}


async def _choose(context: Context, argument: JsonObject, choice: str) -> JsonObject:
    opened = context.session.find(text_field(argument, "uri"))
    held = {} if opened is None else {"text": str(opened.document.text)}
    return await _said(context, argument, "choose", {"choice": choice, **held})


async def _said(context: Context, argument: JsonObject, verb: str, given: JsonObject) -> JsonObject:
    run_id = await _newest(context, text_field(argument, "uri"))
    if run_id is None:
        return _no_loop(text_field(argument, "uri"))
    answer = await context.runs.get().ask_home(run_id, lambda client: client.enhance(run_id, verb, given))
    return await status(context, argument) if answer.get("ok") else answer


async def _asked(context: Context, argument: JsonObject, verb: str, run_id: str | None) -> JsonObject:
    if run_id is None:
        return _no_loop(text_field(argument, "uri"))
    return await context.runs.get().ask_home(run_id, lambda client: client.enhance(run_id, verb))


async def _newest(context: Context, uri: str) -> str | None:
    answer = await context.runs.get().recent({"uri": uris.real(uri)})
    loops = [one for one in listed(answer.get("runs")) if one.get("format") == "enhance"] if answer.get("ok") else []
    return str(loops[0]["runId"]) if loops else None


# -- settings ---------------------------------------------------------------------------------


async def enable(context: Context, argument: JsonObject) -> JsonObject:
    """`{uri, enabled, overrides?}`: the switch of one workflow, and its own knobs."""
    session = context.session
    opened = session.held(text_field(argument, "uri"))
    key = None if opened is None else opened.workspace.key(opened.document)
    if opened is None or key is None:
        return refused("not_found", f"`{text_field(argument, 'uri')}` is not a workflow with a name.")
    right, wrong = taken(part(argument, "overrides"))
    if wrong:
        return refused("bad_argument", _listed(wrong))
    changes: list[tuple[tuple[str, ...], Json]] = [(("enabled",), argument["enabled"] or None)]
    changes += [((name,), None if value == defaults().get(name) else value) for name, value in right.items()]
    path = ("enhance", "workflows", key)
    answer = await _write(context, opened, [((*path, *name), value) for name, value in changes])
    context.refresh.lenses()  # the switch stands on the first line
    return answer


async def setup(context: Context, argument: JsonObject) -> JsonObject:
    """`{values?}`: what holds, what would hold by default, and what of the values is not taken."""
    values = part(argument, "values")
    unknown = [Wrong(name, f"unknown setting of enhance loops: `{name}`") for name in values if not is_knob(name)]
    right, wrong = taken(values)
    opened = next(iter(context.session.open.values()), None)
    folder = context.runs.get().default_folder(text_field(argument, "uri") or None)
    if right:
        answer = await _write(context, opened, [(("enhance", name), value) for name, value in right.items()], folder)
        if not answer.get("ok"):
            return answer
    settings = opened.workspace.settings if opened is not None and opened.folder is folder else folder.settings
    section = {**(settings.raw.get("enhance") or {}), **right}
    return {
        "ok": True,
        "values": knobs_as_written(section),
        "defaults": defaults(),
        "fields": list(SETUP),
        "problems": [{"name": one.name, "message": one.message} for one in (*unknown, *wrong)],
        "advice": ADVICE,
    }


async def _write(
    context: Context,
    opened: OpenDocument | None,
    changes: list[tuple[tuple[str, ...], Json]],
    folder: Folder | None = None,
) -> JsonObject:
    """Set values of the settings file, or take them out (None)."""
    folder = folder or (opened.folder if opened is not None else None)
    if folder is None or folder.path is None:
        return refused("wrong_status", "No folder is open, so there are no settings to change.", "Open a folder.")
    near = Path(opened.document.path).parent if opened is not None and opened.folder is folder else folder.path
    path = Path(project_folder(near) or folder.path, SETTINGS_NAME)
    shown = context.session.find(uris.from_path(path))
    try:
        before = str(shown.document.text) if shown is not None else await asyncio.to_thread(_read, path)
    except (OSError, UnicodeDecodeError) as error:
        return refused("wrong_status", f"{SETTINGS_NAME} cannot be read: {error}.", "Fix the file first.")
    text = before
    try:
        for keys, value in changes:
            text = without_value(text, keys) if value is None else with_value(text, keys, value)
    except NoPlace as no_place:
        return refused("file_has_errors", f"{SETTINGS_NAME} cannot be changed: {no_place}.", "Fix the file first.")
    if text != before:
        if shown is not None:
            if problem := await replace_text(context.session, context.client, shown, text, "Settings of enhance loops"):
                return refused("wrong_status", problem)
        else:
            try:
                await asyncio.to_thread(path.write_bytes, text.encode())
            except OSError as error:
                return refused("wrong_status", f"{path} cannot be written: {error.strerror or error}.")
            folder.read_settings()
    return {"ok": True, "path": str(path), "changed": text != before}


def _read(path: Path) -> str:
    try:
        with path.open("r", encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _listed(wrong: tuple[Wrong, ...]) -> str:
    return "; ".join(one.message for one in wrong) + "."


def _no_loop(uri: str) -> JsonObject:
    name = uri.rpartition("/")[2]
    return refused("not_found", f"`{name}` has no enhance loop.", "Start one with `loopLs.enhance.start`.")
