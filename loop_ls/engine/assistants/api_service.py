"""What the documented interfaces of assistants may ask, whatever they travel by: one registry for all.

HTTP and Socket.IO put their questions here and dress the answers. A loop is found by the id of its
assistant, whoever started it and from where.
"""

from __future__ import annotations

import asyncio
from typing import cast

from loop_ls.contract.answers import Approved, Controlled, NewRun, Refusal
from loop_ls.contract.run_state import PendingApproval, RunStateView
from loop_ls.engine.assistants.discovery import Assistants, Found
from loop_ls.engine.assistants.views import agent_id, last_state, loop_state, pending
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.users import OWNER, Person
from loop_ls.engine.events import RunState
from loop_ls.engine.protection.guard import MARK
from loop_ls.engine.service import Engine
from loop_ls.index.disk.uris import uri_of
from loop_ls.text.json_value import Json, JsonObject

Answer = JsonObject
#: So many runs are looked through for the last one of an assistant.
LOOK_BACK = 200


class AssistantService:
    """`assistants` None: the engine serves no workspace of its own, and knows the loops that run."""

    def __init__(self, engine: Engine, assistants: Assistants | None) -> None:
        self.engine, self._assistants = engine, assistants

    async def find(self, agent: str) -> Found | None:
        return None if self._assistants is None else await asyncio.to_thread(self._assistants.find, agent)

    def active(self, agent: str) -> RunState | None:
        """The loop of an assistant that goes on; one that was asked to stop is over."""
        return next(
            (
                state
                for state in reversed(self.engine.live)
                if state.format == "assistant"
                and (state.target or {}).get("name") == agent
                and state.status != "stopping"
            ),
            None,
        )

    async def start(
        self, found: Found, message: str, user: str | None, origin: str, mock: bool = False
    ) -> NewRun | Refusal:
        running = self.active(found.id)
        if running is not None:  # said before anybody is asked to agree to anything
            told = f"`{found.name}` already has a running loop: {running.run_id}."
            return Refused("already_running", told, "Stop it, or wait until it ends.").answer()
        request: JsonObject = {
            "root": found.root,
            "path": found.path,
            "target": {"kind": "assistant", "name": found.id},
            "message": message,
            "origin": origin,
            "mock": mock,
        }
        return cast("NewRun | Refusal", await self.engine.start(request, user))

    async def control(self, verb: str, run: RunState) -> Controlled | Refusal:
        return await self.engine.control(verb, run.run_id)

    async def approve(
        self, person: Person, run: RunState, loop_id: str, approved: bool, decision: Json, feedback: Json
    ) -> Approved | Refusal:
        """-> `{ok, resolved}`; a decision nobody waits for is `resolved: False`, with `told` where somebody else was
        faster. Where the extension is off only `approved` counts."""
        if not person.controls(run.user) and any(
            _is_about_gate(one) for one in run.asked if one.get("loopId") == loop_id
        ):
            told = f"An agent of `{run.user or OWNER}` touched protected files."
            return Refused("forbidden", told, "Only this user and admins can decide about them.").answer()
        if self._assistants is None or not await asyncio.to_thread(self._assistants.revise, run.path or ""):
            decision = feedback = None
        answer = await self.engine.approve(run.run_id, loop_id, approved, decision, feedback)
        if answer["ok"] or answer["code"] == "bad_argument":
            return answer
        if any(one.get("question") == loop_id for one in run.answers):
            return {"ok": True, "resolved": False, "told": answer["message"]}
        return {"ok": True, "resolved": False}

    async def status(self, agent: str) -> Answer:
        """`{agentId, active, state, pendingApproval, lastState}`."""
        active = self.active(agent)
        state = await self._state(active)
        return {
            "agentId": agent,
            "active": state is not None,
            "state": None if state is None else loop_state(state),
            "pendingApproval": None if state is None else pending(state),
            "lastState": await self._last(agent),
        }

    async def _state(self, active: RunState | None) -> RunStateView | None:
        if active is None:
            return None
        answer = await self.engine.state(active.run_id)
        return answer["state"] if answer["ok"] else None

    async def _last(self, agent: str) -> JsonObject | None:
        """The last loop of the assistant that has ended, with how it did."""
        found = await self.find(agent)
        uri = None if found is None else uri_of(found.path)
        answer = await self.engine.runs(uri=uri, limit=LOOK_BACK)
        for row in answer["runs"] if answer["ok"] else ():
            if row.get("format") == "assistant" and agent_id(row) == agent and row.get("endedAt"):
                whole = await self.engine.state(row["runId"])
                return last_state(whole["state"]) if whole["ok"] else None
        return None


def _is_about_gate(question: PendingApproval) -> bool:
    """Whether a person is asked what an agent did to protected files: no other user decides that."""
    return MARK in question.get("place", "")
