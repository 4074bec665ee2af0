"""Commands that make something of a run: fork, replay, approve, its history, and trying a condition.

Like `runs`, this room runs nothing: it finds the engine that has the run and passes typed answers through.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from loop_ls.contract.run_view.parts import part
from loop_ls.features.runs.transcript import transcript
from loop_ls.server.command_answers import refused
from loop_ls.server.documents.show_document import show_text
from loop_ls.server.runs import consent
from loop_ls.server.runs.engine_connection import LIMIT, refusal
from loop_ls.text.json_value import JsonObject, int_field, plain_object, text_field

if TYPE_CHECKING:
    from loop_ls.client.session import EngineClient
    from loop_ls.server.context import Context

#: A judge may think as long as a model does.
_JUDGE = 300.0


async def fork(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.fork`: what was finished before `iteration` is taken, the rest is paid for."""
    if not context.session.trusted:
        return _untrusted()
    run_id, runs = text_field(argument, "runId"), context.runs.get()
    given = {"origin": "editor"} | {
        name: value for name in ("loop", "at", "prompt") if (value := text_field(argument, name))
    }
    shown = runs.questions.agreed(context.session, argument)

    async def ask(client: EngineClient, agreed: JsonObject | None) -> JsonObject:
        proof = {} if agreed is None else {"consent": client.agree(agreed)}
        return runs.questions.noted(await client.fork(run_id, int_field(argument, "iteration"), **(given | proof)))

    answer = await runs.ask_home(run_id, lambda client: ask(client, shown))
    if answer.get("code") == "consent_required" and await _agreed(context, answer):
        asked = answer
        answer = await runs.ask_home(run_id, lambda client: ask(client, asked))
    return await _followed(context, run_id, answer)


async def replay(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.replay`: recorded answers against the file as it is in the editor."""
    run_id = text_field(argument, "runId")
    given: JsonObject = {"origin": "editor"}
    uri = text_field(argument, "uri") or None
    if uri is not None:
        opened = context.session.find(uri) or context.session.loaded(uri)
        if opened is None:
            return refused("not_found", f"`{uri}` is not open and cannot be read.")
        given = context.runs.get().request(opened, {})
    answer = await context.runs.get().ask_home(run_id, lambda client: client.replay(run_id, given))
    return await _followed(context, run_id, answer)


async def approve(context: Context, argument: JsonObject) -> JsonObject:
    run_id = text_field(argument, "runId")
    loop, decision, said = (text_field(argument, name) or None for name in ("loopId", "decision", "feedback"))
    approved = argument.get("approved")
    yes = approved if isinstance(approved, bool) else None
    return await context.runs.get().ask_home(run_id, lambda client: client.approve(run_id, loop, yes, decision, said))


async def answer(context: Context, argument: JsonObject) -> JsonObject:
    run_id = text_field(argument, "runId")
    given = {name: text_field(argument, name) for name in ("answer", "text", "question")}
    return await context.runs.get().ask_home(run_id, lambda client: client.answer(run_id, given))


async def note(context: Context, argument: JsonObject) -> JsonObject:
    run_id, text = text_field(argument, "runId"), text_field(argument, "text")
    return await context.runs.get().ask_home(run_id, lambda client: client.note(run_id, text))


async def changes(context: Context, argument: JsonObject) -> JsonObject:
    run_id = text_field(argument, "runId")
    return await context.runs.get().ask_home(run_id, lambda client: client.changes(run_id))


async def decide_changes(context: Context, argument: JsonObject) -> JsonObject:
    run_id, decision = text_field(argument, "runId"), text_field(argument, "decision")
    return await context.runs.get().ask_home(run_id, lambda client: client.decide_changes(run_id, decision))


async def restore(context: Context, argument: JsonObject) -> JsonObject:
    run_id, loop = text_field(argument, "runId"), text_field(argument, "loop") or None
    number = int_field(argument, "iteration") or 0
    return await context.runs.get().ask_home(run_id, lambda client: client.restore(run_id, number, loop))


async def take_in(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.import`: what was exported, here or elsewhere, comes into the record of a folder (of the first,
    unless `uri` says which); it is shown and never goes on."""
    folder = context.runs.get().default_folder(text_field(argument, "uri") or None)
    try:
        client = await context.runs.get().engine_of(folder)
        return plain_object(await asyncio.wait_for(client.take_in(part(argument, "run")), LIMIT))
    except Exception as error:
        return refusal(error)


async def history(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.history`: all of it or a part; with `prompts` what the models were asked there, with `show` also
    as a document in the editor."""
    run_id, place = text_field(argument, "runId"), text_field(argument, "place") or None
    bounds = {"place": place, "after": int_field(argument, "afterSeq"), "until": int_field(argument, "untilSeq")}
    bounds["cut"] = int_field(argument, "cut")
    answer = await context.runs.get().ask_home(run_id, lambda client: client.history(run_id, **bounds))
    if answer.get("ok") and argument.get("prompts") is True:
        asked = await context.runs.get().ask_home(run_id, lambda client: client.prompts(run_id, place))
        answer["prompts"] = asked.get("prompts") if asked.get("ok") else None
        answer["noPrompts"] = None if asked.get("ok") else asked.get("message")
    if answer.get("ok") and argument.get("show") is True:
        whole = str(part(answer, "state").get("runId") or run_id)  # it may have been shortened
        data = await context.runs.get().data_folder(whole)
        answer["path"] = await show_text(context.client, data, whole, "transcript", transcript(answer))
    return answer


async def artifact(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.artifact`: one text that a stage kept; with `show` also as a document in the editor."""
    run_id, wanted = text_field(argument, "runId"), text_field(argument, "artifact")
    answer = await context.runs.get().ask_home(run_id, lambda client: client.artifact(run_id, wanted))
    if answer.get("ok") and argument.get("show") is True:
        whole, id_ = str(answer["runId"]), text_field(part(answer, "artifact"), "id")
        data = await context.runs.get().data_folder(whole)
        answer["path"] = await show_text(context.client, data, whole, id_, text_field(answer, "content"))
    return answer


async def test_until(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.testUntil`: the text in the editor counts, saved or not."""
    session = context.session
    if not session.trusted:
        return _untrusted()
    opened = session.find(text_field(argument, "uri")) or session.loaded(text_field(argument, "uri"))
    if opened is None:
        return refused("not_found", f"`{text_field(argument, 'uri')}` is not open and cannot be read.")
    runs = context.runs.get()
    request = runs.request(opened, {}) | _named(argument, "loop", "output", "runId", "times", "mock")

    async def ask(client: EngineClient, agreed: JsonObject | None) -> JsonObject:
        proof = {} if agreed is None else {"consent": client.agree(agreed)}
        return runs.questions.noted(await asyncio.wait_for(client.test_until({**request, **proof}), _JUDGE))

    try:
        client = await runs.engine_of(opened.folder)
        answer = await ask(client, runs.questions.agreed(session, argument))
        if answer.get("code") == "consent_required" and await _agreed(context, answer):
            answer = await ask(client, answer)
    except Exception as error:
        return refusal(error)
    return answer


async def _agreed(context: Context, answer: JsonObject) -> bool:
    return not context.session.settles_answers and await consent.allowed(context.client, answer)


async def _followed(context: Context, run_id: str, answer: JsonObject) -> JsonObject:
    if answer.get("ok"):
        await context.runs.get().follow(run_id, str(answer["runId"]))
    return answer


def _named(argument: JsonObject, *names: str) -> JsonObject:
    return {name: argument[name] for name in names if argument.get(name) is not None}


def _untrusted() -> JsonObject:
    hint = "Trust the workspace, then try again."
    return refused("not_trusted", "This workspace is not trusted, so nothing in it can run.", hint)
