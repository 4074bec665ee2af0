"""The files of the page, which hold no data and need no token: what they show, they ask for with one.

The script and its style are built from `vscode-client/src/browser` by `npm run build` and lie in the package.
"""

from __future__ import annotations

import functools
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

UI = "/ui"
_FOLDER = Path(__file__).parent / "built"
_TYPES = {
    "page.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
#: Address -> file. Nothing else is read.
FILES = {f"{UI}/{'' if name == 'page.html' else name}": name for name in _TYPES}
OPEN = frozenset({UI, *FILES})

#: Scripts and styles are ours alone, texts are never made into either, and nothing is sent elsewhere.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


@functools.cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


async def _file(request: Request) -> Response:
    name = FILES[request.url.path]
    return Response(_content(name), media_type=_TYPES[name], headers=HEADERS)


async def _to_page(request: Request) -> Response:
    return RedirectResponse(f"{UI}/", 308, HEADERS)


ROUTES = (Route(UI, _to_page), *(Route(path, _file) for path in FILES))
