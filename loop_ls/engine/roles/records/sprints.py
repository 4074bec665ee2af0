"""Projects and sprints of role loops: light records with their status, and who may move it where.

A sprint that cannot be written stops no loop: whoever calls `Sprints` hears nothing of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

from loop_ls.contract.run_view.rounds import listed
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.roles.records.ids import sprint_id
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.records.tables import Row, Table
from loop_ls.text.json_value import JsonObject, text_field

logger = logging.getLogger(__name__)

Status = Literal["planned", "in_progress", "review", "complete", "rejected", "cancelled"]
#: Status -> where it may go.
NEXT: dict[str, frozenset[str]] = {
    "planned": frozenset({"in_progress", "cancelled"}),
    "in_progress": frozenset({"review", "cancelled"}),
    "review": frozenset({"complete", "rejected", "in_progress", "cancelled"}),
}


def project_of(
    table: Table, definition: str, goal: str, session: str, project_id: str | None = None, slug: str | None = None
) -> JsonObject:
    """The project of a start: the named one, else the session's active one, else a new one. Raises
    `Refused` where the named one does not exist."""
    if project_id or slug:
        found = table.find("projects", id=project_id) if project_id else table.find("projects", slug=slug)
        if not found:
            raise Refused("not_found", f"Unknown project `{project_id or slug}`.")
        project = found[0]
    else:
        project = _active(table, session) or _made(table, definition, goal, session)
    table.add("sessions", session, hidden=0)
    table.change("sessions", session, project_id=project["id"])
    return project


def _active(table: Table, session: str) -> Row | None:
    known = table.get("sessions", session)
    project = table.get("projects", id_) if known and (id_ := text_field(known, "project_id")) else None
    return project if project is not None and project["status"] == "active" else None


def _made(table: Table, definition: str, goal: str, session: str) -> JsonObject:
    id_ = table.fresh()
    return table.add(
        "projects",
        id_,
        slug=f"loop-{definition}-{id_[:8]}",
        title=f"Loop: {definition}",
        description=goal,
        status="active",
        session_id=session,
    )


def move(table: Table, sprint: str, to: str, note: str | None = None) -> JsonObject:
    """Give a sprint its next status. Raises `ValueError` with a sentence where it cannot have it."""
    found = table.get("sprints", sprint)
    if found is None:
        raise ValueError(f"unknown sprint {sprint}")
    status = str(found["status"])
    if to not in NEXT.get(status, frozenset()):
        able = ", ".join(sorted(NEXT.get(status, ()))) or "nothing else"
        raise ValueError(f"the sprint is {status}: it can become {able}, not {to}")
    changed: JsonObject = {
        "status": to,
        "transitions": [*listed(found["transitions"]), {"status": to, "at": table.now}],
        "updated_at": table.now,
    }
    table.change("sprints", sprint, **changed, **({} if note is None else {"note": note}))
    return table.get("sprints", sprint) or found


class Sprints:
    """The sprints of one loop, one for each iteration."""

    def __init__(self, records: Records, run_id: str, definition: str, project: str, criteria: str | None) -> None:
        self._records, self._run_id, self._definition = records, run_id, definition
        self._project, self._criteria = project, criteria

    async def begin(self, iteration: int, iteration_id: str) -> None:
        def work(table: Table) -> None:
            id_ = sprint_id(self._run_id, iteration)
            found = table.add(
                "sprints",
                id_,
                project_id=self._project,
                loop_id=self._run_id,
                iteration_id=iteration_id,
                title=f"{self._definition} — iteration {iteration}",
                acceptance_criteria=self._criteria,
                status="planned",
                transitions=[{"status": "planned", "at": table.now}],
                updated_at=table.now,
            )
            if found["status"] == "planned":
                move(table, id_, "in_progress")

        await self._quietly(work)

    async def end(self, iteration: int, status: Literal["complete", "rejected"], note: str) -> None:
        """Through `review`, wherever stages have moved it meanwhile."""

        def work(table: Table) -> None:
            id_ = sprint_id(self._run_id, iteration)
            found = table.get("sprints", id_)
            if found is not None and found["status"] == "in_progress":
                move(table, id_, "review")
            if found is not None and found["status"] in ("in_progress", "review"):
                move(table, id_, status, note)

        await self._quietly(work)

    async def cancel(self, iteration: int) -> None:
        def work(table: Table) -> None:
            found = table.get("sprints", sprint_id(self._run_id, iteration))
            if found is not None and found["status"] in NEXT:
                move(table, str(found["id"]), "cancelled")

        await self._quietly(work)

    async def _quietly(self, work: Callable[[Table], None]) -> None:
        try:
            await self._records.do(work)
        except (Unavailable, ValueError) as error:
            logger.warning("A sprint of run %s could not be written: %s", self._run_id, error)
