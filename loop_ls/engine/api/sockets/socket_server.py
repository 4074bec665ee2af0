"""Socket.IO for loops of assistants: start, stop, approve, and what happens.

Built when the first client comes: importing the server costs what the start of the engine may not. Whoever
connects needs a token; what the token may do is asked again for every event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from loop_ls.contract.answers import Refusal
from loop_ls.engine.api.routes.agents import ASKED, NO_LOOP, NOT_PERMITTED
from loop_ls.engine.api.sockets.socket_events import Message, error, messages
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.disconnect_teardown import SOCKET, DisconnectTeardown, started_over_sockets
from loop_ls.engine.assistants.errors import classified
from loop_ls.engine.assistants.event_mapping import EventMapper, LoopEvent, agent_of
from loop_ls.engine.core.users import OWNER, Person
from loop_ls.formats.registry import ASSISTANT
from loop_ls.text.json_value import Json, JsonObject, as_object, text_field

log = logging.getLogger(__name__)

Answer = JsonObject
Identify = Callable[[str], Person | None]
PATH = "/socket.io"
#: Of the id that a client names, so much is looked for and told back.
LONGEST_ID = 200


class Sockets:
    """An ASGI application. `listening` counts a socket as somebody who is there."""

    def __init__(
        self,
        assistants: AssistantService,
        teardowns: DisconnectTeardown,
        listening: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._assistants, self._teardowns, self._listening = assistants, teardowns, listening
        self._app: ASGIApp | None = None
        self._building = asyncio.Lock()
        self._server: Any = None
        self._people: dict[str, tuple[str, Identify]] = {}
        self._there: dict[str, ExitStack] = {}
        self._actors: dict[str, set[str]] = {}
        self._telling: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            async with self._building:
                self._app = self._app or await self._built()
        await self._app(scope, receive, send)

    def expect(self) -> None:
        """Those whose loops go on from an engine before this one have the grace time to come back, too."""
        for user in started_over_sockets(self._assistants.engine.live):
            self._teardowns.expect(user)

    async def aclose(self) -> None:
        await self._teardowns.aclose()
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        for stack in self._there.values():
            stack.close()
        if self._server is not None:
            await self._server.shutdown()
            # A poll that is open is answered by that; the end of the engine would else wait for it.
            for client in tuple(self._server.eio.sockets.values()):
                await client.close(wait=False)

    async def _built(self) -> ASGIApp:
        socketio = await asyncio.to_thread(_imported)
        # Pages are refused by the guard, which knows this machine's names.
        server = socketio.AsyncServer(async_mode="asgi", cors_allowed_origins="*")
        self._server = server
        server.on("connect", self._connect)
        server.on("disconnect", self._disconnect)
        for name, handler in (("start", self._start), ("stop", self._stop), ("approve", self._approve)):
            server.on(f"loop:{name}", self._guarded(handler))
        self._telling = asyncio.create_task(self._tell())
        app: ASGIApp = socketio.ASGIApp(server, socketio_path=PATH)
        return app

    # -- who is there ------------------------------------------------------------------------------

    async def _connect(self, sid: str, environ: Mapping[str, Scope], auth: object = None) -> bool:
        scope = environ["asgi.scope"]
        identify: Identify = scope["identify"]
        given = text_field(as_object(auth), "token") or _bearer(scope)
        person = identify(given)
        if person is None:
            import socketio

            raise socketio.exceptions.ConnectionRefusedError("Authentication required", {"status": 401})
        self._people[sid] = (given, identify)
        await self._server.enter_room(sid, _room(person.user))
        self._teardowns.came(person.user)
        stack = self._there[sid] = ExitStack()
        stack.enter_context(self._listening())
        stack.callback(self._teardowns.left, person.user)
        for run in self._assistants.engine.live:
            if run.format == ASSISTANT and run.user == person.user:
                waits = "waiting_approval" if run.asked else "running"
                await self._send(sid, Message("agent:status", {"agentId": agent_of(run.target), "status": waits}))
        return True

    async def _disconnect(self, sid: str, *_: object) -> None:
        self._people.pop(sid, None)
        stack = self._there.pop(sid, None)
        if stack is not None:
            stack.close()

    def _person(self, sid: str) -> Person | None:
        """As of now: a token that was taken away, or given less, counts as that at once."""
        known = self._people.get(sid)
        if known is None:
            return None
        given, identify = known
        return identify(given)

    # -- what clients ask --------------------------------------------------------------------------

    def _guarded(self, handler: Callable[..., Awaitable[Message | None]]) -> Callable[..., Awaitable[None]]:
        async def handle(sid: str, *given: object) -> None:
            """Whatever was sent with the event: no argument, several, or one of another type is no body."""
            body = given[0] if len(given) == 1 and isinstance(given[0], dict) else {}
            named = body.get("agentId")
            agent = named[:LONGEST_ID] if isinstance(named, str) else ""
            person = self._person(sid)
            if person is None or not person.has("editor"):
                no: Message | None = error(agent, "POLICY_ERROR", NOT_PERMITTED)
            else:
                no = await handler(sid, person, agent, body)
            if no is not None:
                await self._send(sid, no)

        return handle

    async def _start(self, sid: str, person: Person, agent: str, body: JsonObject) -> Message | None:
        found = await self._assistants.find(agent)
        if found is None:
            return error(agent, "PROCESS_ERROR", f"Agent not found: `{agent}`.")
        message = body.get("message")
        if not isinstance(message, str) or not message.strip():
            return error(agent, "PROCESS_ERROR", "`message` must be a non-empty string.")
        answer = await self._assistants.start(found, message, person.user, SOCKET, body.get("mock") is True)
        return None if answer["ok"] else _no_start(agent, answer)

    async def _stop(self, sid: str, person: Person, agent: str, body: JsonObject) -> Message | None:
        run = self._assistants.active(agent)
        if run is None:
            return await self._nothing(agent)
        if run.user != person.user:
            self._actors.setdefault(run.run_id, set()).add(_room(person.user))
        answer = await self._assistants.control("stop", run)
        return None if answer["ok"] else error(agent, "PROCESS_ERROR", str(answer["message"]))

    async def _approve(self, sid: str, person: Person, agent: str, body: JsonObject) -> Message | None:
        run = self._assistants.active(agent)
        if run is None:
            return await self._nothing(agent)
        loop_id, approved = body.get("loopId"), body.get("approved")
        if not isinstance(loop_id, str) or not isinstance(approved, bool):
            return error(agent, "PROCESS_ERROR", "`loopId` must be a string and `approved` must be true or false.")
        decided = approved, body.get("decision"), body.get("feedback")
        answer = await self._assistants.approve(person, run, loop_id, *decided)
        if answer["ok"]:
            return None
        kind = "POLICY_ERROR" if answer["code"] == "forbidden" else "PROCESS_ERROR"
        return error(agent, kind, str(answer["message"]))

    async def _nothing(self, agent: str) -> Message:
        known = await self._assistants.find(agent)
        return error(agent, "PROCESS_ERROR", NO_LOOP if known else f"Agent not found: `{agent}`.")

    # -- what happens ------------------------------------------------------------------------------

    async def _tell(self) -> None:
        """Every event of every loop to the sockets of its user, and the end of a stop to who stopped it."""
        mapper = EventMapper(self._assistants.engine.live)
        async for _, fact in self._assistants.engine.subscribe():
            try:
                for told in mapper.hear(fact):
                    await self._tell_one(told)
            except Exception:  # one event that cannot be told must not keep the others from being heard
                log.exception("An event of a loop was not told to its sockets.")

    async def _tell_one(self, told: LoopEvent) -> None:
        rooms = {_room(told.run.user)}
        if told.event == "stopped":
            rooms |= self._actors.pop(told.run.run_id, set())
        await self._let_go()
        for message in messages(told):
            for room in rooms:
                await self._send(room, message)

    async def _let_go(self) -> None:
        """Whose token was taken away hears no more."""
        for sid in [sid for sid in self._people if self._person(sid) is None]:
            await self._server.disconnect(sid)

    async def _send(self, room: str, message: Message) -> None:
        await self._server.emit(message.event, message.payload, room=room)


def _no_start(agent: str, answer: Refusal) -> Message:
    code, text = answer["code"], answer["message"]
    if code == "already_running":
        return error(agent, "RESOURCE_ERROR", text, code=code)
    if code == "consent_required":
        more = {name: cast("Json", value) for name, value in answer.items() if name in ASKED}
        return error(agent, "POLICY_ERROR", text, code=code, **more)
    return error(agent, classified(text), text, code=code)


def _room(user: str | None) -> str:
    return f"user:{OWNER if user is None else user}"


def _bearer(scope: Scope) -> str:
    headers = dict(scope.get("headers") or ())
    scheme, _, given = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _imported() -> Any:
    import socketio

    return socketio
