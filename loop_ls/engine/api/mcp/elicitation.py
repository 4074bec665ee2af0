"""Questions that only a person may answer, passed on to the person of an MCP client that can ask (elicitation).

Newer clients get the question as the result of the tool call, and call again with what the person said, so that no
connection has to stay; older ones are asked while the call goes on.
"""

from __future__ import annotations

from mcp import types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from loop_ls.engine.api.mcp.agent_tools import AskPerson, Loops, ToolRefusal, give
from loop_ls.text.json_value import JsonObject

#: From this version of the protocol on, a question is the result of a call.
AS_RESULT = "2026-07-28"


async def ask_person(
    context: ServerRequestContext[object], params: types.CallToolRequestParams, loops: Loops, asked: AskPerson
) -> tuple[str, bool] | types.InputRequiredResult:
    """What the model is told, and whether that is a refusal; or the question for the client to ask."""
    session, waiting = context.session, asked.waiting
    if not _can_ask(session.client_capabilities):
        return asked.told, True
    key = f"answer-{waiting['runId']}-{waiting.get('id', '')}"
    if context.protocol_version >= AS_RESULT:
        said = (params.input_responses or {}).get(key)
        if said is None:
            return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=_form(asked))})
    elif session.can_send_request:
        form = _form(asked)
        try:
            said = await session.elicit_form(form.message, form.requested_schema, context.request_id)
        except MCPError:
            return asked.told, True
    else:
        return asked.told, True
    if not isinstance(said, types.ElicitResult) or said.action != "accept" or not said.content:
        return f"Your user has not answered: loop {waiting['runId']} keeps waiting.", True
    given: JsonObject = {name: str(said.content.get(name) or "") for name in ("answer", "text")}
    try:
        return await give(loops, waiting["runId"], {**given, "question": waiting.get("id", "")}), False
    except ToolRefusal as refusal:
        return str(refusal), True


def _can_ask(capabilities: types.ClientCapabilities | None) -> bool:
    """A client that names no kind of questions takes forms."""
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _form(asked: AskPerson) -> types.ElicitRequestFormParams:
    waiting = asked.waiting
    about = waiting.get("context", "")
    options = waiting["answers"]
    answer: JsonObject = {
        "type": "string",
        "title": "Answer",
        "oneOf": [{"const": one["answer"], "title": one["title"]} for one in options],
    }
    fields: JsonObject = {"answer": answer}
    if any(one["text"] for one in options):
        fields["text"] = {"type": "string", "title": "Feedback"}
    schema: dict[str, object] = {"type": "object", "properties": fields, "required": ["answer"]}
    message = f"{waiting['text']}\n\n{about}" if about else waiting["text"]
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)
