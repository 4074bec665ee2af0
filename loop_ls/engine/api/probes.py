"""What Kubernetes and its kind ask a process: `/health` (is it alive) and `/ready` (does it take runs).

Open to whoever reaches the port, since probes come from other hosts and have no token: they say nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


def probes(is_alive: Callable[[], bool], why_not_ready: Callable[[], str]) -> ASGIApp:
    """`why_not_ready` is empty where it is ready."""

    def answer(path: str) -> tuple[int, dict[str, str]]:
        match path:
            case "/health":
                return (200, {"status": "ok"}) if is_alive() else (503, {"status": "stuck"})
            case "/ready":
                why = why_not_ready()
                return (503, {"status": why}) if why else (200, {"status": "ok"})
            case _:
                return 404, {"status": "expected /health or /ready"}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        status, told = answer(scope["path"])
        body = json.dumps(told).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return app
