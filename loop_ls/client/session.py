"""The engine's operations over HTTP, answering the objects of every surface: verbs and paths are the contract's.

A refusal, a lost connection and an engine that is gone are answers (`{ok: False, code, message, hint}`),
not exceptions: callers show them as they are.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar, cast, overload
from urllib.parse import quote

from loop_ls.client import follow
from loop_ls.client.consent import agreed
from loop_ls.client.engine_location import EngineUnavailable, Handover, read_handover
from loop_ls.client.refusal import refusal
from loop_ls.contract.endings import ENDED
from loop_ls.contract.operations import OPERATIONS
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    import httpx

    from loop_ls.contract.answers import (
        Agreed,
        Answered,
        Approved,
        ChangesDone,
        Controlled,
        DefinitionList,
        Deleted,
        Done,
        EngineStatus,
        EngineStopping,
        EnhanceStatus,
        EnhanceTimeline,
        EventPage,
        Exported,
        Graph,
        Health,
        History,
        Imported,
        Inbox,
        LoopList,
        Metrics,
        NewRun,
        Noted,
        OneArtifact,
        PageCode,
        PromptList,
        Refusal,
        RunArtifacts,
        RunChanges,
        RunList,
        ShownLoop,
        Started,
        StateAnswer,
        Verdicts,
        ViewPage,
    )
    from loop_ls.contract.requests import Scope

T = TypeVar("T")
Control = Literal["pause", "resume", "stop"]
Fields = Mapping[str, object]

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 30.0
#: Less than the server keeps a quiet connection (5 s): it must never close one that we are about to use.
KEPT_SECONDS = 3.0
#: Iterations that are asked for at once where all are wanted: the engine answers others in between.
HISTORY_PAGE = 100
#: What a path ends in where it names something of a run.
_PART = re.compile(r"\{\w+:path\}")
JSON = {"Content-Type": "application/json"}


class EngineClient:
    """One engine of one data folder. Made by `connect` or `find`; close it with `aclose`.

    When the engine was restarted, the next call finds the new one through the hand-over file;
    `revive` is what `connect` does to start one that is gone: for a call that does something, and
    while somebody listens to one that vanished.
    """

    def __init__(
        self,
        folder: Path,
        handover: Handover,
        revive: Callable[[], Awaitable[Handover]] | None = None,
    ) -> None:
        self.folder, self.handover, self._revive = folder, handover, revive
        self.name = "cli"  # of the surface that speaks here; an editor adds what nobody else knows
        self._http: httpx.AsyncClient | None = None
        self._closing = asyncio.Event()
        self._renewing = asyncio.Lock()

    # -- runs ---------------------------------------------------------------------------------

    async def start(self, args: Fields) -> Started | Refusal:
        """`{root, path|uri, target, input, parameters, maxIterations, mock, consent, origin, detach}`
        -> `{ok, runId}`."""
        return await self.call("start", body=args)

    async def agree_only(self, args: Fields) -> Agreed | Refusal:
        """A start that starts nothing, but asks for the same consent."""
        return await self.call("start", body={**args, "agreeOnly": True})

    async def control(self, verb: Control, run_id: str) -> Controlled | Refusal:
        """`run_id` may be `all`."""
        return await self.call(verb, run_id)

    async def stop(self, run_id: str) -> Controlled | Refusal:
        """`run_id` or `all` -> `{ok, runs: [{runId, status}]}`."""
        return await self.call("stop", run_id)

    async def pause(self, run_id: str) -> Controlled | Refusal:
        return await self.call("pause", run_id)

    async def resume(self, run_id: str) -> Controlled | Refusal:
        return await self.call("resume", run_id)

    async def approve(
        self,
        run_id: str,
        loop_id: str | None,
        approved: bool | None,
        decision: str | None = None,
        feedback: str | None = None,
    ) -> Approved | Refusal:
        """Answer what a run asks a person -> `{ok, resolved}`; `decision` may be `revise` or
        `restore`."""
        body = {"loopId": loop_id, "approved": approved, "decision": decision, "feedback": feedback}
        return await self.call("approve", run_id, body=body)

    async def inbox(self, after: int | None = None) -> Inbox | Refusal:
        """Everything that waits for a person -> `{ok, waiting, position}`, with `missed` above a position."""
        return await self.call("inbox", query={"after": after})

    async def answer(self, run_id: str, given: Fields) -> Answered | Refusal:
        """`{answer, text?, question?}`: answer whatever a run waits for, with one of the answers of the inbox
        -> `{ok, runId, kind, answer}`."""
        return await self.call("answer", run_id, body=given)

    async def note(self, run_id: str, text: str) -> Noted | Refusal:
        """Say something to a run: it is in its next prompt, once -> `{ok, runId, notes}`."""
        return await self.call("note", run_id, body={"text": text})

    async def changes(self, run_id: str) -> RunChanges | Refusal:
        """What a run changed in its worktree -> `{ok, files, diff, commits}`."""
        return await self.call("changes", run_id)

    async def decide_changes(self, run_id: str, decision: str) -> ChangesDone | Refusal:
        """`apply`, `keep` or `discard` what a run changed in its worktree -> `{ok, decision}`."""
        return await self.call("decide_changes", run_id, body={"decision": decision})

    async def restore(self, run_id: str, iteration: int, loop: str | None = None) -> ChangesDone | Refusal:
        """Let the branch of a run be what it was after an iteration -> `{ok, commit}`."""
        return await self.call("restore", run_id, body={"iteration": iteration, "loop": loop})

    async def status(self, run_id: str) -> StateAnswer | Refusal:
        """`{ok, state: RunState}`. Ids may be shortened everywhere."""
        return await self.call("status", run_id)

    async def runs(
        self, status: str | None = None, uri: str | None = None, limit: int | None = None
    ) -> RunList | Refusal:
        """`{ok, runs: [RunState]}`, newest first."""
        query = {"status": status, "uri": uri, "limit": limit}
        answer: LoopList | Refusal = await self.call("runs", query=query)
        return {"ok": True, "runs": [row["state"] for row in answer["loops"]]} if answer["ok"] else answer

    async def events(
        self, run_id: str, after: int = 0, limit: int | None = None, cut: int | None = None
    ) -> EventPage | Refusal:
        """Facts of one run with `seq` above `after` -> `{ok, events, next}`. `cut`: texts no longer than this."""
        return await self.call("events", run_id, query={"after": after, "limit": limit, "cut": cut})

    async def history(self, run_id: str, **part: object) -> History | Refusal:
        """`{ok, loop, history: [iteration], count}` with outputs, questions and answers; `place`, `after`, `until`
        and `cut` give a part of it."""
        if part.keys() & {"place", "after", "until", "limit"}:
            return await self.call("history", run_id, query=part)
        whole: History | Refusal = await self.call("history", run_id, query={**part, "limit": HISTORY_PAGE})
        if not whole["ok"]:
            return whole
        further = whole["next"]
        while further is not None:
            query = {**part, "limit": HISTORY_PAGE, "after": further}
            page: History | Refusal = await self.call("history", run_id, query=query)
            if not page["ok"]:
                return page
            whole["history"] += page["history"]
            whole["stages"] += page["stages"]
            further = page["next"]
        return {**whole, "count": len(whole["history"]), "next": None}

    async def view(self, run_id: str, after: int = 0, limit: int | None = None) -> ViewPage | Refusal:
        """`{ok, state, seq, rows, rounds?, nodes?, more?}`: what is shown of a run and new after fact `after`."""
        return await self.call("view", run_id, query={"after": after, "limit": limit})

    async def graph(self, run_id: str, place: str | None = None) -> Graph | Refusal:
        """`{ok, nodes}`: the steps and loops of a run, and what waits for what; at `place` those of its round."""
        return await self.call("graph", run_id, query={"place": place})

    async def show(self, run_id: str) -> ShownLoop | Refusal:
        """`{ok, loop, state, iteration, stages}`: a loop with its latest iteration."""
        return await self.call("show", run_id)

    async def metrics(self, run_id: str) -> Metrics | Refusal:
        """Counts, durations and cost of a loop."""
        return await self.call("metrics", run_id)

    async def prompts(self, run_id: str, place: str | None = None) -> PromptList | Refusal:
        """`{ok, prompts: [{place, purpose, provider, model, prompt}]}`: what was asked, at `place` or inside it."""
        return await self.call("prompts", run_id, query={"place": place})

    async def artifacts(self, run_id: str, scope: Scope | None = None) -> RunArtifacts | Refusal:
        """`{ok, artifacts, todos, sprints, memories}`: what stages wrote down; artifacts without their texts."""
        return await self.call("artifacts", run_id, query={"scope": scope})

    async def artifact(self, run_id: str, artifact: str) -> OneArtifact | Refusal:
        """`{ok, artifact, content}`: one artifact, by its id, the beginning of it or its title."""
        if artifact in ("", ".", ".."):
            return refusal("not_found", f"Run {run_id} has no artifact `{artifact}`.")
        return await self.call("artifact", run_id, part=artifact)

    async def definitions(self) -> DefinitionList | Refusal:
        """`{ok, definitions, count}`: what the engine's workspace has that can be started by name."""
        return await self.call("definitions")

    async def delete(self, run_id: str) -> Deleted | Refusal:
        """`{ok, deleted, id}`; `all`: those that have ended."""
        return await self.call("delete", run_id)

    async def fork(self, run_id: str, iteration: int | None = None, **given: str | bool) -> NewRun | Refusal:
        """`{ok, runId}`: finished iterations before `iteration` (of `loop`) are taken, not paid again."""
        body = {**given, **({} if iteration is None else {"iteration": iteration})}
        return await self.call("fork", run_id, body=body)

    async def replay(self, run_id: str, args: Fields | None = None) -> NewRun | Refusal:
        """`{ok, runId}`: the recorded answers against the files as they are now, or `{uri, root, texts}`."""
        return await self.call("replay", run_id, body=args)

    async def export(self, run_id: str) -> Exported | Refusal:
        """`{ok, run}`: all of a run as one JSON object."""
        return await self.call("export", run_id)

    async def take_in(self, run: JsonObject) -> Imported | Refusal:
        """`{ok, runId, known}`: add an exported run to the record."""
        return await self.call("take_in", body=run)

    async def test_until(self, args: JsonObject) -> Verdicts | Refusal:
        """`{root, path|uri, loop, output|runId, times?}` -> `{ok, verdicts, agreement, judge, costUsd}`."""
        return await self.call("test_until", body=args)

    @overload
    async def enhance(self, run_id: str, verb: Literal["status"]) -> EnhanceStatus | Refusal: ...

    @overload
    async def enhance(self, run_id: str, verb: Literal["timeline"]) -> EnhanceTimeline | Refusal: ...

    @overload
    async def enhance(self, run_id: str, verb: str, given: Fields | None = None) -> Done | Refusal: ...

    async def enhance(self, run_id: str, verb: str, given: Fields | None = None) -> Done | Refusal:
        """`status` and `timeline` ask an enhance loop; with `given`, something is said to it: `acknowledge`, `choose`,
        `feedback`."""
        return await self.call(f"enhance_{verb}", run_id, body=given)

    async def health(self) -> Health | Refusal:
        """The health document of the engine."""
        return await self.call("health")

    # -- agreeing -----------------------------------------------------------------------------

    def agree(self, answer: Fields) -> str:
        """Proof that the owner has agreed to what `consent_required` showed: the `consent` of the next try. Only for
        surfaces on which a person has just said yes; empty where this is not the owner's data folder."""
        return agreed(self.folder, answer)

    # -- listening ----------------------------------------------------------------------------

    def follow(
        self,
        after: int | None = None,
        run_id: str | None = None,
        on_connection: Callable[[bool], None] | None = None,
    ) -> AsyncIterator[JsonObject]:
        """Events of all runs (or one) as they happen, each once and in order, across reconnections.

        `after` is a position (`event["position"]`, or `position` of `engine_status`); None begins
        now. `text` events have no position: they are live only. Ends when the client is closed.
        `on_connection` hears False when the engine is lost and True when it is back.
        """
        return follow.follow(self, after, run_id, on_connection)

    async def to_the_end(self, after: int, run_id: str) -> AsyncIterator[JsonObject]:
        """Events of one run after a position, its last one included."""
        async for event in self.follow(after, run_id):
            yield event
            if event["kind"] in ENDED:
                return

    # -- the engine itself --------------------------------------------------------------------

    async def engine_status(self) -> EngineStatus | Refusal:
        """`{ok, engine: {version, protocol, pid, port, dataDir, startedAt, running, listeners, position}}`."""
        return await self.call("engine_status")

    async def page_code(self, role: str | None = None) -> PageCode | Refusal:
        """`{ok, code, path, expiresInSeconds}`: lets one browser in to the engine's page."""
        return await self.call("page_code", body={"role": role})

    async def engine_stop(self, now: bool = False) -> EngineStopping | Refusal:
        """The engine leaves (it is gone from the hand-over file when this answers); unfinished runs
        go on when it is started again. Calls in flight have some seconds; `now`: they are cut."""
        return await self.call("engine_stop", body={"now": True} if now else {})

    async def aclose(self) -> None:
        self._closing.set()
        await self._drop()

    @property
    def closing(self) -> asyncio.Event:
        """Set when the client is being closed; whoever listens ends."""
        return self._closing

    async def __aenter__(self) -> EngineClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # -- transport ----------------------------------------------------------------------------

    async def call(
        self,
        name: str,
        run_id: str | None = None,
        *,
        part: str = "",
        body: Fields | None = None,
        query: Fields | None = None,
    ) -> T | Refusal:
        """An operation of `contract.operations` by its name; `run_id` where its path has one, and `part` where the path
        ends in what is asked for of the run. The type of the answer
        is the one that the table names: whoever asks says it.

        A word that would lead to another path of the engine is the id of no run."""
        operation = OPERATIONS[name]
        if "{id}" not in operation.path:
            path = operation.path
        elif run_id in (None, "", ".", "..") or "/" in run_id:
            return refusal("not_found", f"Unknown run `{run_id or ''}`.", "See `loop-ls runs`.")
        else:
            path = operation.path.replace("{id}", quote(_sound(run_id), safe=""))
            path = _PART.sub(lambda _: quote(_sound(part), safe=""), path)
        given = {} if body is None and operation.request is not None else body
        return cast("T | Refusal", await self._send(operation.method, path, body=given, query=query))

    async def _send(
        self, method: str, path: str, *, body: object = None, query: Fields | None = None
    ) -> JsonObject | Refusal:
        """One exchange. A call that cannot have reached the engine is made once more with the one of now, and so is one
        that only reads, where the engine died before it answered: nobody asks for a list again by hand.

        Only what does something starts an engine again: a list that refreshes itself must not bring one
        back that a person has just stopped."""
        import httpx

        params = {name: _sound(str(value)) for name, value in (query or {}).items() if value is not None}
        # Escapes, not UTF-8: half of a character pair may come from an editor, and must not end its command.
        content = None if body is None else json.dumps(body).encode()
        for last in (False, True):
            try:
                http = await self.http()
                response = await http.request(
                    method, path, content=content, params=params, headers=JSON if content else None
                )
                return _answer(response.status_code, response.content)
            except EngineUnavailable as gone:
                return gone.answer()
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if last or not await self.renew(revive=method != "GET"):
                    return _lost(error)
            except httpx.TransportError as error:
                if last or method != "GET" or isinstance(error, httpx.TimeoutException):
                    return _lost(error)
                await self.renew(revive=False)
        raise AssertionError("the second exchange answers")

    async def http(self) -> httpx.AsyncClient:
        """The connections to the engine. Loopback needs neither proxy nor certificates."""
        if self._http is None:
            httpx = await asyncio.to_thread(import_module, "httpx")
            self._http = httpx.AsyncClient(
                base_url=self.handover.url,
                headers={"Authorization": f"Bearer {self.handover.shown_token}", "Loop-Ls-Client": self.name},
                timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
                limits=httpx.Limits(keepalive_expiry=KEPT_SECONDS),
                trust_env=False,
                verify=False,
            )
        return self._http

    async def renew(self, *, revive: bool = True) -> bool:
        """Look for the engine again (it may have been restarted), start it where that is wanted.
        Whether there is one."""
        async with self._renewing:
            found = read_handover(self.folder)
            if found is None or found == self.handover:
                if not revive or self._revive is None or self._closing.is_set():
                    return False
                try:
                    found = await self._revive()
                except EngineUnavailable:
                    return False
            await self._drop()
            self.handover = found
            return True

    async def _drop(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()


def _answer(status: int, content: bytes) -> JsonObject | Refusal:
    """The engine's answer as every surface knows it, whatever the envelope on the way."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return refusal("engine_not_ready", f"The engine returned an unreadable response ({status}).")
    if status < 400:
        return {"ok": True, **body}
    details = body.get("details")
    return {
        **(details if isinstance(details, dict) else {}),
        **refusal(str(body.get("code") or "engine_not_ready"), str(body.get("error")), str(body.get("hint") or "")),
    }


def _lost(error: Exception) -> Refusal:
    said = str(error) or type(error).__name__
    return refusal(
        "engine_not_ready",
        f"The engine is not responding ({said}).",
        "The next run starts it again; see `loop-ls engine status`.",
    )


def _sound(text: str) -> str:
    """What an address can hold: half of a character pair becomes a question mark, and is the id of nothing."""
    return text.encode("utf-8", "replace").decode("utf-8")
