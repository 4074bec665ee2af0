"""How a page of a browser is let in and goes: a code for whoever has a token, a token of its own for a code."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.operations import ROLES
from loop_ls.engine.api.answers import BadRequest, refusal
from loop_ls.engine.api.page.codes import CODE_SECONDS, Codes
from loop_ls.engine.api.page.files import UI
from loop_ls.engine.api.route import Handler, person_of, read_body
from loop_ls.engine.core.users import TokenRefused, Tokens

HEADERS = {"cache-control": "no-store"}


async def code(request: Request) -> Response:
    """For the page of whoever asks, with their role or less. A page lets no other page in."""
    body, person = await read_body(request), person_of(request)
    if person.page:
        return refusal("forbidden", "A page cannot create a sign-in code.", "Run `loop-ls ui`.")
    role = next((one for one in ROLES if one == (body.get("role") or person.role)), person.role)
    if not person.has(role):
        return refusal("forbidden", f"This needs the role `{role}`; the token has the role `{person.role}`.")
    codes: Codes = request.app.state.codes
    made = codes.make(replace(person, role=role))
    told = {"ok": True, "code": made, "path": f"{UI}/#code={made}", "expiresInSeconds": CODE_SECONDS}
    return JSONResponse(told, headers=HEADERS)


async def sign_in(request: Request) -> Response:
    """The code is gone with this, whatever becomes of the token."""
    body = await read_body(request)
    codes: Codes = request.app.state.codes
    person = codes.take(str(body["code"]))
    if person is None:
        told = "Invalid code: it is unknown, expired or already used."
        return refusal("forbidden", told, "Run `loop-ls ui` for a new one.")
    try:
        made, text = _tokens(request).create_for_page(person)
    except TokenRefused as refused:
        return refusal("forbidden", str(refused), "Run `loop-ls ui` for a new one.")
    told_of = {"user": made.name, "role": made.role, "expiresAt": made.expires_at}
    return JSONResponse({"ok": True, "token": text, **told_of}, headers=HEADERS)


async def sign_out(request: Request) -> Response:
    """Of a page: no other token is revoked this way."""
    if not person_of(request).page:
        return refusal("forbidden", "Only a page in a browser can sign out.", "See `loop-ls engine token revoke`.")
    _tokens(request).forget(request.headers["authorization"].partition(" ")[2].strip())
    return JSONResponse({"ok": True})


def _tokens(request: Request) -> Tokens:
    tokens: Tokens | None = request.app.state.tokens
    if tokens is None:
        raise BadRequest("engine_not_ready", "This engine has no tokens.")
    return tokens


HANDLERS: dict[str, Handler] = {"page_code": code, "page_sign_in": sign_in, "page_sign_out": sign_out}
