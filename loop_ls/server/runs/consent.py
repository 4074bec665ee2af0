"""Asks once whether programs may be started and where texts and keys may go, in editors that can ask.

The engine decides what needs consent and remembers it by hash; this shows it, and proves that a person said yes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from lsprotocol import types as lsp

from loop_ls.server.client import Client, Refused
from loop_ls.server.documents.session import Session
from loop_ls.text.json_value import JsonObject, plain_object

logger = logging.getLogger(__name__)

ALLOW = "Allow and run"
#: A person may take this long.
_LIMIT = 600.0
#: Questions that wait for an answer; older ones are forgotten.
_MOST = 100


class Questions:
    """What the person at this editor was asked to agree to and has not answered yet, by the number of the question.
    An editor that shows it itself comes back with the number, which nobody else was told."""

    def __init__(self) -> None:
        self._asked: dict[str, JsonObject] = {}

    def noted(self, given: Mapping[str, object]) -> JsonObject:
        """The answer of a start, kept where it is a question."""
        answer = plain_object(given)
        if answer.get("code") == "consent_required" and isinstance(nonce := answer.get("nonce"), str):
            self._asked[nonce] = answer
            while len(self._asked) > _MOST:
                del self._asked[next(iter(self._asked))]
        return answer

    def agreed(self, session: Session, argument: JsonObject) -> JsonObject | None:
        """The question that a command says yes to; None where it says yes to nothing that this editor showed."""
        given = argument.get("consent")
        return self._asked.pop(given, None) if session.settles_answers and isinstance(given, str) else None


def lines(answer: JsonObject) -> list[str]:
    """One line for each thing that the run may do, as a person has to judge it."""
    listed = answer.get("capabilities")
    return [f"It {one}." for one in listed] if isinstance(listed, list) else []


async def allowed(client: Client, answer: JsonObject) -> bool:
    """What the person says. Silence, and an editor that cannot ask, is no."""
    if not client.facts.message_request:
        return False
    message = "\n".join(["This run needs your permission once.", *lines(answer)])
    params: JsonObject = {
        "type": lsp.MessageType.Warning,
        "message": message,
        "actions": [{"title": ALLOW}, {"title": "Cancel"}],
    }
    try:
        chosen = await client.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, params, _LIMIT)
    except (Refused, TimeoutError) as error:
        logger.info("No permission given: %s", error)
        return False
    return isinstance(chosen, dict) and chosen.get("title") == ALLOW
