"""The engine as the person behind a request may use it: what the agent tools work with inside the engine."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from loop_ls.contract.answers import (
    Answered,
    ChangesDone,
    CheckedFile,
    Controlled,
    DefinitionList,
    FileEstimate,
    Inbox,
    NewRun,
    Refusal,
    RunChanges,
    RunList,
    RunStatus,
)
from loop_ls.contract.endings import POSSIBLE
from loop_ls.engine.api.mcp.agent_tools import ToolHistory
from loop_ls.engine.api.route import person_of
from loop_ls.engine.api.routes.authoring_routes import file_checks_of
from loop_ls.engine.api.routes.loops import engine_of
from loop_ls.engine.api.routes.start_by_name import started
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.enhance.speaker import Speaker
from loop_ls.engine.projections.history import iterations
from loop_ls.engine.runs.answerer import set_said_by
from loop_ls.text.json_value import JsonObject


class OwnLoops:
    """Fills `agent_tools.Loops`."""

    def __init__(self, request: Request) -> None:
        self._request, self._engine, self._person = request, engine_of(request), person_of(request)
        self._speaker = Speaker(self._person.user, "mcp")
        set_said_by(self._person.user, "mcp")

    async def start(self, argument: JsonObject) -> NewRun | Refusal:
        if not self._person.has("editor"):
            return _forbidden("Starting a loop needs the role `editor`.")
        catalogue = self._request.app.state.catalogue
        return cast("NewRun | Refusal", await started(self._engine, catalogue, argument, self._person.user))

    async def control(self, verb: str, run_id: str) -> Controlled | Refusal:
        if run_id.lower() == "all" and self._person.has("editor"):
            return await self._all(verb)
        return await self._forbids(run_id, "Controlling a loop") or await self._engine.control(verb, run_id)

    async def enhance(self, verb: str, run_id: str, given: JsonObject) -> JsonObject | Refusal:
        if verb != "timeline" and (refusal := await self._forbids(run_id, "Controlling a loop")):
            return refusal
        return cast("JsonObject | Refusal", await self._engine.enhance(verb, run_id, given, self._speaker))

    async def _all(self, verb: str) -> Controlled:
        rows: list[RunStatus] = []
        for state in self._engine.live:
            if self._person.controls(state.user) and state.status in POSSIBLE[verb]:  # type: ignore[index]
                answer = await self._engine.control(verb, state.run_id)
                rows += answer["runs"] if answer["ok"] else []
        return {"ok": True, "runs": rows}

    async def inbox(self, after: int | None) -> Inbox | Refusal:
        return await self._engine.inbox(after)

    async def answer(self, run_id: str, given: JsonObject) -> Answered | Refusal:
        return await self._forbids(run_id, "Answering a loop") or await self._engine.answer(run_id, given)

    async def changes(self, run_id: str) -> RunChanges | Refusal:
        return await self._engine.changes(run_id)

    async def decide_changes(self, run_id: str, decision: str) -> ChangesDone | Refusal:
        refusal = await self._forbids(run_id, "Deciding on changes")
        return refusal or await self._engine.decide_changes(run_id, decision)

    async def _forbids(self, run_id: str, doing: str) -> Refusal | None:
        """Why this person may not do that to a run. None where they may, and for a run that there is not: the engine
        says so itself."""
        if not self._person.has("editor"):
            return _forbidden(f"{doing} needs the role `editor`.")
        answer = await self._engine.state(run_id)
        if answer["ok"] and not self._person.controls(answer["state"].get("user")):
            return _forbidden(f"Run {answer['state']['runId']} belongs to another user.")
        return None

    async def runs(self) -> RunList | Refusal:
        return await self._engine.runs(limit=1000)

    async def history(self, run_id: str) -> ToolHistory | Refusal:
        answer = await self._engine.state(run_id)
        if not answer["ok"]:
            return answer
        found = answer["state"]["runId"]
        told = await self._engine.iteration_events(found)
        if not told["ok"]:
            return told
        return {"ok": True, "state": answer["state"], "history": iterations(found, told["events"])}

    async def definitions(self) -> DefinitionList:
        found = await self._request.app.state.catalogue()
        return {"ok": True, "definitions": found, "count": len(found)}

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal:
        if not self._person.has("editor"):
            return _forbidden("Checking a file needs the role `editor`.")
        return await file_checks_of(self._request).check(path, text)

    async def estimate(self, path: str, name: str | None) -> FileEstimate | Refusal:
        if not self._person.has("editor"):
            return _forbidden("Estimating a file needs the role `editor`.")
        return await file_checks_of(self._request).estimate(path, name)


def _forbidden(message: str) -> Refusal:
    return Refused("forbidden", message, "Use another token.").answer()
