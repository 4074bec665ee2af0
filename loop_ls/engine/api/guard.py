"""Who may speak to the engine: programs of this machine that hold the token, and no web page.

Runs before every route, so that a new route cannot forget it. `/health` alone needs no token; it
says nothing secret.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from loop_ls.engine.api.answers import refusal

OPEN = frozenset({"/health"})

_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


class Guard:
    """`touched` hears of every request that was let through."""

    def __init__(self, app: ASGIApp, token: str, touched: Callable[[], None] = lambda: None) -> None:
        self._app, self._token, self._touched = app, token.encode(), touched

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        problem = self._problem(scope["path"], headers)
        if problem is not None:
            await refusal(*problem)(scope, receive, send)
            return
        self._touched()
        await self._app(scope, receive, send)

    def _problem(self, path: str, headers: Headers) -> tuple[str, str] | None:
        """A page of a browser can reach this port under a name of its own: Host and Origin tell."""
        if not _HOST.fullmatch(headers.get("host", "")):
            return "forbidden", "The engine answers only to 127.0.0.1 and localhost."
        origin = headers.get("origin")
        if origin is not None and not _ORIGIN.fullmatch(origin):
            return "forbidden", f"The engine does not answer pages of {origin[:100]}."
        if path in OPEN or self._knows_token(headers.get("authorization", "")):
            return None
        return "unauthorized", "A token is needed: `Authorization: Bearer TOKEN`, as in engine.json of the data folder."

    def _knows_token(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)
