"""Who may speak to the engine: programs of this machine that hold a token, and no web page but its own.

Runs before every route, so that a new route cannot forget it. What may be seen without a token says
nothing secret.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from loop_ls.contract.operations import OPERATIONS
from loop_ls.engine.api.answers import STATUS, refusal
from loop_ls.engine.api.page import files
from loop_ls.engine.core.users import Person, Tokens

#: The page says its code in a body: who has none learns nothing.
OPEN = frozenset({"/health", "/openapi.json", OPERATIONS["page_sign_in"].path, *files.OPEN})
#: What browsers say of requests of our own page, and of addresses that a person typed.
_FROM_HERE = ("same-origin", "none")
#: Sockets say their token in their first message; a page of a browser cannot say it in a header.
SOCKETS = "/socket.io/"
#: Interfaces of another document, with its envelope.
AGENTS = "/api/agents/"
NOBODY = Person("", "viewer")

_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


class Guard:
    """`touched` hears of every request that was let through. Routes find who asks in `scope["person"]`
    and, as long as they go on, whether that still holds with `scope["still_known"]()`."""

    def __init__(
        self, app: ASGIApp, token: str, tokens: Tokens | None = None, touched: Callable[[], None] = lambda: None
    ) -> None:
        self._app, self._token, self._tokens, self._touched = app, token.encode(), tokens, touched

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" and not (scope["type"] == "websocket" and scope["path"].startswith(SOCKETS)):
            return
        headers = Headers(scope=scope)
        given = headers.get("authorization", "")
        person = self._person(given)
        problem = self._problem(scope["path"], headers, person)
        if problem is not None:
            await _refusal(scope, *problem)(scope, receive, send)
            return
        if person is not None or not scope["path"].startswith(SOCKETS):  # a socket counts once it has shown its token
            self._touched()
        scope["identify"] = lambda token: self._person(f"Bearer {token}")
        scope["person"], scope["still_known"] = person or NOBODY, lambda: self._person(given) is not None
        await self._app(scope, receive, send)

    def _problem(self, path: str, headers: Headers, person: Person | None) -> tuple[str, str] | None:
        """A page of a browser can reach this port under a name of its own: Host and Origin tell."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return "forbidden", "The engine accepts only the hosts 127.0.0.1 and localhost."
        for origin in headers.getlist("origin"):
            if not (_ORIGIN.fullmatch(origin) if path.startswith(SOCKETS) else _is_of(origin, hosts[0])):
                return "forbidden", f"The engine does not accept requests from pages of {origin[:100]}."
        if path not in files.OPEN and not path.startswith(SOCKETS):  # a link elsewhere may lead to the page
            for site in headers.getlist("sec-fetch-site"):
                if site not in _FROM_HERE:
                    return "forbidden", "The engine does not accept requests from other pages."
        if path in OPEN or person is not None:
            return None
        if path.startswith(SOCKETS) and "authorization" not in headers:
            return None  # its token comes with its first packet, before which nothing is sent to it
        return (
            "unauthorized",
            "Missing token: send `Authorization: Bearer TOKEN` with the token from engine.json in the data folder.",
        )

    def _person(self, header: str) -> Person | None:
        scheme, _, given = header.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given:
            return None
        if hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            return Person(None, "editor")
        return self._tokens.who(given) if self._tokens is not None else None


def _is_of(origin: str, host: str) -> bool:
    """Whether the page was loaded from this engine: another port of this machine is somebody else's."""
    return origin.lower() == f"http://{host}".lower()


def _refusal(scope: Scope, code: str, message: str) -> ASGIApp:
    if scope["type"] == "websocket":
        return _closed
    if scope["path"].startswith(AGENTS):
        said = "Authentication required" if code == "unauthorized" else message
        return JSONResponse({"success": False, "error": said}, STATUS[code])
    return refusal(code, message)


async def _closed(scope: Scope, receive: Receive, send: Send) -> None:
    """Before it was accepted: the client sees 403."""
    await send({"type": "websocket.close", "code": 1008})
