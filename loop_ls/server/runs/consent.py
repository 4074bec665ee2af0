"""Asks once whether programs may be started and where texts and keys may go, in editors that can ask.

The engine decides what needs consent and remembers it by hash; this only shows it and passes it on.
"""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types as lsp

from loop_ls.server.client import Client, Refused
from loop_ls.server.command_answers import Answer

logger = logging.getLogger(__name__)

ALLOW = "Allow and run"
#: A person may take this long.
_LIMIT = 600.0


def lines(answer: Answer) -> list[str]:
    """One line for each program and endpoint, as a person has to judge them."""
    programs = [f"runs: {' '.join(map(str, argv))}" for argv in answer.get("programs") or ()]
    return programs + [_endpoint(one) for one in answer.get("endpoints") or () if isinstance(one, dict)]


def _endpoint(endpoint: dict[str, Any]) -> str:
    where = endpoint.get("host") or endpoint.get("url") or endpoint.get("provider") or "an endpoint"
    if variable := endpoint.get("variable"):
        return f"sends texts and the key in {variable} to {where}"
    return f"sends texts to {where}"


async def allowed(client: Client, answer: Answer) -> bool:
    """What the person says. Silence, and an editor that cannot ask, is no."""
    if not client.facts.message_request:
        return False
    message = "\n".join(["This run needs your consent once.", *lines(answer)])
    params = {
        "type": lsp.MessageType.Warning,
        "message": message,
        "actions": [{"title": ALLOW}, {"title": "Cancel"}],
    }
    try:
        chosen = await client.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, params, _LIMIT)
    except (Refused, TimeoutError) as error:
        logger.info("Nobody gave consent: %s", error)
        return False
    return isinstance(chosen, dict) and chosen.get("title") == ALLOW
