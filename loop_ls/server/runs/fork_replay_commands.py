"""Commands that make something of a run: fork, replay, approve, its history, and trying a condition.

Like `runs`, this room runs nothing: it finds the engine that has the run and passes typed answers through.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from loop_ls.features.runs.transcript import transcript
from loop_ls.server.command_answers import Answer, refused
from loop_ls.server.documents.show_document import show_text
from loop_ls.server.runs import consent
from loop_ls.server.runs.engine_connection import LIMIT, refusal

if TYPE_CHECKING:
    from loop_ls.client.session import EngineClient
    from loop_ls.server.context import Context

Json = dict[str, Any]
#: A judge may think as long as a model does.
_JUDGE = 300.0


async def fork(context: Context, argument: Json) -> Answer:
    """`loopLs.fork`: what was finished before `iteration` is taken, the rest is paid for."""
    if not context.session.trusted:
        return _untrusted()
    run_id, given, runs = argument["runId"], {"origin": "editor"} | _named(argument, "loop"), context.runs.get()
    shown = runs.questions.agreed(context.session, argument)

    async def ask(client: EngineClient, agreed: Answer | None) -> Answer:
        proof = {} if agreed is None else {"consent": client.agree(agreed)}
        return runs.questions.noted(await client.fork(run_id, argument.get("iteration"), **given, **proof))

    answer = await runs.ask_home(run_id, lambda client: ask(client, shown))
    if answer.get("code") == "consent_required" and await _agreed(context, answer):
        asked = answer
        answer = await runs.ask_home(run_id, lambda client: ask(client, asked))
    return await _followed(context, run_id, answer)


async def replay(context: Context, argument: Json) -> Answer:
    """`loopLs.replay`: recorded answers against the file as it is in the editor."""
    run_id, given = argument["runId"], {"origin": "editor"}
    uri = argument.get("uri")
    if uri is not None:
        opened = context.session.find(uri) or context.session.loaded(uri)
        if opened is None:
            return refused("not_found", f"`{uri}` is not open and cannot be read.")
        given = context.runs.get().request(opened, {})
    answer = await context.runs.get().ask_home(run_id, lambda client: client.replay(run_id, given))
    return await _followed(context, run_id, answer)


async def approve(context: Context, argument: Json) -> Answer:
    run_id = argument["runId"]
    decision = (argument.get(name) for name in ("loopId", "approved", "decision", "feedback"))
    given = tuple(decision)
    return await context.runs.get().ask_home(run_id, lambda client: client.approve(run_id, *given))


async def take_in(context: Context, argument: Json) -> Answer:
    """`loopLs.import`: what was exported, here or elsewhere, comes into the record of a folder (of the first,
    unless `uri` says which); it is shown and never goes on."""
    folder = context.runs.get().default_folder(argument.get("uri"))
    try:
        client = await context.runs.get().engine_of(folder)
        return await asyncio.wait_for(client.take_in(argument["run"]), LIMIT)
    except Exception as error:
        return refusal(error)


async def history(context: Context, argument: Json) -> Answer:
    """`loopLs.history`: all of it or a part; with `prompts` what the models were asked there, with `show` also
    as a document in the editor."""
    run_id, place = argument["runId"], argument.get("place")
    part = {"place": place, "after": argument.get("afterSeq"), "until": argument.get("untilSeq")}
    part["cut"] = argument.get("cut")
    answer = await context.runs.get().ask_home(run_id, lambda client: client.history(run_id, **part))
    if answer.get("ok") and argument.get("prompts") is True:
        asked = await context.runs.get().ask_home(run_id, lambda client: client.prompts(run_id, place))
        answer["prompts"] = asked.get("prompts") if asked.get("ok") else None
        answer["noPrompts"] = None if asked.get("ok") else asked.get("message")
    if answer.get("ok") and argument.get("show") is True:
        whole = str((answer.get("state") or {}).get("runId") or run_id)  # it may have been shortened
        data = await context.runs.get().data_folder(whole)
        answer["path"] = await show_text(context.client, data, whole, "transcript", transcript(answer))
    return answer


async def test_until(context: Context, argument: Json) -> Answer:
    """`loopLs.testUntil`: the text in the editor counts, saved or not."""
    session = context.session
    if not session.trusted:
        return _untrusted()
    opened = session.find(argument["uri"]) or session.loaded(argument["uri"])
    if opened is None:
        return refused("not_found", f"`{argument['uri']}` is not open and cannot be read.")
    runs = context.runs.get()
    request = runs.request(opened, {}) | _named(argument, "loop", "output", "runId", "times", "mock")

    async def ask(client: EngineClient, agreed: Answer | None) -> Answer:
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


async def _agreed(context: Context, answer: Answer) -> bool:
    return not context.session.settles_answers and await consent.allowed(context.client, answer)


async def _followed(context: Context, run_id: str, answer: Answer) -> Answer:
    if answer.get("ok"):
        await context.runs.get().follow(run_id, str(answer["runId"]))
    return answer


def _named(argument: Json, *names: str) -> Json:
    return {name: argument[name] for name in names if argument.get(name) is not None}


def _untrusted() -> Answer:
    hint = "Trust the workspace, then try it again."
    return refused("not_trusted", "This workspace is not trusted, so nothing in it is run.", hint)
