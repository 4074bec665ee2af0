"""Socket.IO for loops of assistants: start, stop, approve, and what happens; for all loops: what waits, and answers.

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
from loop_ls.contract.validation import problem_of
from loop_ls.engine.api.routes.agents import ASKED, NO_LOOP, NOT_PERMITTED
from loop_ls.engine.api.sockets.socket_events import Message, error, messages, standing
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.disconnect_teardown import SOCKET, DisconnectTeardown, started_over_sockets
from loop_ls.engine.assistants.errors import classified
from loop_ls.engine.assistants.event_mapping import EventMapper, LoopEvent
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.users import OWNER, Person
from loop_ls.engine.runs.answerer import saying
from loop_ls.engine.runs.inbox import TOLD
from loop_ls.formats.registry import ASSISTANT
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field, plain_object, text_field

log = logging.getLogger(__name__)

Answer = JsonObject
Identify = Callable[[str], Person | None]
PATH = "/socket.io"
#: Of the id that a client names, so much is looked for and told back.
LONGEST_ID = 200
#: Facts that a socket is told which comes back.
MOST_MISSED = 5_000


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
        self._told = 0  # the position up to which sockets were told what happened

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
        server.on("loop:answer", self._answer)
        server.on("loop:inbox", self._inbox)
        self._told = int(self._assistants.engine.status["position"])
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
        told = self._told
        if (after := as_object(auth).get("after")) is not None:
            await self._catch_up(sid, person, after, told)
        for run in self._assistants.engine.live:
            if run.format == ASSISTANT and run.user == person.user:
                for message in standing(run):
                    await self._send(sid, message)
        if as_object(auth).get("inbox") is True:
            await self._server.enter_room(sid, _inbox_of(person.user))
            await self._send(sid, await self._waiting(person.user))
        return True

    async def _catch_up(self, sid: str, person: Person, after: Json, told: int) -> None:
        """What happened above the position that the socket saw last, as if it had been here. Too much of it, or no
        position: what stands now has to do."""
        if not isinstance(after, int) or after < 0:
            return
        engine, mapper, facts = self._assistants.engine, EventMapper(), list[JsonObject]()
        while after < told and len(facts) < MOST_MISSED:
            page = await engine.events(None, after)
            if not page["ok"] or not page["events"]:
                break
            facts += page["events"]
            after = int_field(facts[-1], "position") or told
        if len(facts) >= MOST_MISSED:
            return
        for fact in facts:
            run_id = text_field(fact, "runId")
            if run_id not in mapper.runs and fact["kind"] != "run_started":
                known = await engine.state(run_id)
                if known["ok"] and known["state"]["format"] == ASSISTANT:
                    mapper.know(known["state"])
            for event in mapper.hear(fact):
                if event.run.user == person.user:
                    for message in messages(event):
                        await self._send(sid, message)

    async def _waiting(self, user: str | None) -> Message:
        """What waits for a user, in loops of any kind."""
        answer = await self._assistants.engine.inbox()
        rows = answer["waiting"] if answer["ok"] else []
        mine = [one for one in rows if one.get("user") == user]
        return Message("loop:inbox", {"waiting": cast("Json", mine), "position": self._told})

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
                with saying(person.user, "socket"):
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

    async def _answer(self, sid: str, *given: object) -> JsonObject:
        """`{runId, answer, text?, question?}` -> what an answer over HTTP is told, as the acknowledgement."""
        body = as_object(given[0]) if len(given) == 1 else {}
        person, engine = self._person(sid), self._assistants.engine
        run_id = text_field(body, "runId")[:LONGEST_ID]
        known = await engine.state(run_id)
        if person is None or not person.has("editor"):
            return plain_object(Refused("forbidden", NOT_PERMITTED).answer())
        if not known["ok"]:
            return plain_object(known)
        if not person.controls(known["state"].get("user")):
            told = f"Run {known['state']['runId']} belongs to another user."
            return plain_object(Refused("forbidden", told).answer())
        if problem := problem_of("Answer", body, "`loop:answer`"):
            return plain_object(Refused("bad_argument", problem.message).answer())
        with saying(person.user, "socket"):
            return plain_object(await engine.answer(run_id, body))

    async def _inbox(self, sid: str, *given: object) -> JsonObject:
        """`{after?}` -> what waits for this user, with what happened since that position."""
        person = self._person(sid)
        if person is None:
            return plain_object(Refused("forbidden", "Authentication required.").answer())
        after = int_field(as_object(given[0]), "after") if len(given) == 1 else None
        answer = await self._assistants.engine.inbox(after)
        if not answer["ok"]:
            return plain_object(answer)
        answer["waiting"] = [one for one in answer["waiting"] if one.get("user") == person.user]
        if "missed" in answer:
            answer["missed"] = [one for one in answer["missed"] if one.get("user") == person.user]
        return plain_object(answer)

    async def _nothing(self, agent: str) -> Message:
        known = await self._assistants.find(agent)
        return error(agent, "PROCESS_ERROR", NO_LOOP if known else f"Agent not found: `{agent}`.")

    # -- what happens ------------------------------------------------------------------------------

    async def _tell(self) -> None:
        """Every event of every loop to the sockets of its user, and the end of a stop to who stopped it."""
        mapper = EventMapper(self._assistants.engine.live)
        async for position, fact in self._assistants.engine.subscribe():
            try:
                heard = list(mapper.hear(fact))
                for told in heard:
                    await self._tell_one(told)
                self._told = position or self._told
                for user in {told.run.user for told in heard}:
                    await self._send(_inbox_of(user), Message("loop:position", {"position": self._told}))
                if fact["kind"] in TOLD:
                    await self._tell_waiting(text_field(fact, "runId"))
            except Exception:  # one event that cannot be told must not keep the others from being heard
                log.exception("An event of a loop was not sent to its sockets.")

    async def _tell_one(self, told: LoopEvent) -> None:
        rooms = {_room(told.run.user)}
        if told.event == "stopped":
            rooms |= self._actors.pop(told.run.run_id, set())
        await self._let_go()
        for message in messages(told):
            for room in rooms:
                await self._send(room, message)

    async def _tell_waiting(self, run_id: str) -> None:
        """A person may have to do something, or no longer: to the sockets of the user whose run it is."""
        known = await self._assistants.engine.state(run_id)
        if known["ok"]:
            await self._let_go()
            message = await self._waiting(known["state"].get("user"))
            await self._send(_inbox_of(known["state"].get("user")), message)

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


def _inbox_of(user: str | None) -> str:
    """The sockets of a user that want to know what waits, too."""
    return f"inbox:{OWNER if user is None else user}"


def _bearer(scope: Scope) -> str:
    headers = dict(scope.get("headers") or ())
    scheme, _, given = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _imported() -> Any:
    import socketio

    return socketio
