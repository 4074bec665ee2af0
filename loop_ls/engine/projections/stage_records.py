"""What the stages of a role loop wrote down, as people read it: artifacts, todos, sprints and memories.

Programs write them without the mask of their run, so each row is masked here as the record of its run is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from loop_ls.contract.answers import Artifact, Configuration, OneArtifact, RunArtifacts
from loop_ls.contract.ids import SHORTEST
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import Plan, read_plan
from loop_ls.engine.journal import Journal
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.records.tables import Row, Table
from loop_ls.engine.runs.secret_mask import SecretMask
from loop_ls.text.json_value import text_field

if TYPE_CHECKING:
    from loop_ls.contract.requests import Scope

KINDS = ("artifacts", "todos", "sprints", "memories")
Found = dict[str, list[Row]]
T = TypeVar("T")


@dataclass(slots=True)
class StageRecords:
    """Those of one run, or of the project that it works for. `records` None: nobody keeps any."""

    records: Records | None
    journal: Journal
    mask_of: Callable[[Plan], SecretMask]
    _masks: dict[str, SecretMask] = field(default_factory=dict)

    async def listed(self, run_id: str, scope: Scope = "run") -> RunArtifacts:
        """Without the texts of artifacts. Raises `Refused`."""
        plan = await self._plan(run_id)
        none: Found = {name: [] for name in KINDS}
        found = await self._do(lambda table: _written(table, plan, scope), none)
        masked = {name: [await self._masked(run_id, row) for row in rows] for name, rows in found.items()}
        artifacts = [_without_text(row) for row in masked["artifacts"]]
        return cast("RunArtifacts", {"ok": True, "runId": run_id, **masked, "artifacts": artifacts})

    async def artifact(self, run_id: str, wanted: str) -> OneArtifact:
        """By its id, the beginning of it, or its title. Raises `Refused`."""
        plan = await self._plan(run_id)
        none: list[Row] = []
        rows = await self._do(lambda table: _fitting(table, plan, wanted), none)
        if not rows:
            hint = f"See `loop-ls runs artifacts {run_id}`."
            raise Refused("not_found", f"Run {run_id} has no artifact `{wanted[:80]}`.", hint)
        row = await self._masked(run_id, rows[0])
        if len(rows) > 1:
            ids = ", ".join(str(one["id"])[:8] for one in rows)
            raise Refused("bad_argument", f"Several artifacts are called `{wanted[:80]}`: {ids}.", "Use an id.")
        return {"ok": True, "runId": run_id, "artifact": _without_text(row), "content": str(row["content"])}

    async def configuration(self, run_id: str) -> Configuration:
        """The definition as it was when the run started. Raises `Failure` where its text cannot be read."""
        from loop_ls.engine.roles.configuration import configuration  # with all that runs a role loop

        plan = await self._plan(run_id)
        return self._masks[run_id].value(configuration(plan))

    async def _plan(self, run_id: str) -> Plan:
        started = (await self.journal.facts(run_id, 0, 1)).events[0]
        plan = await self.journal.read(read_plan, run_id, started.body, self.journal.text)
        self._masks[run_id] = await self.journal.read(self.mask_of, plan)
        return plan

    async def _do(self, work: Callable[[Table], T], none: T) -> T:
        if self.records is None:
            return none
        try:
            return await self.records.soon(work)
        except Unavailable as error:
            raise Refused("engine_not_ready", f"The records of role loops cannot be used: {error}.") from None

    async def _masked(self, asked: str, row: Row) -> Row:
        """A run that was deleted has no mask of its own any more: the one that is asked about lends its."""
        by = _run_of(row)
        if by not in self._masks:
            try:
                await self._plan(by)
            except (Refused, IndexError):
                self._masks[by] = self._masks[asked]
        return self._masks[by].value(row)


def _written(table: Table, plan: Plan, scope: Scope) -> Found:
    memories = table.find("memories", workspace=plan.home)
    if scope == "run":
        mine = {"session_id": plan.session_id, "loop_id": plan.run_id}
        sprints = table.find("sprints", loop_id=plan.run_id)
        artifacts, todos = table.find("artifacts", **mine), table.find("todos", **mine)
        memories = [row for row in memories if _run_of(row) == plan.run_id]
    else:
        project = text_field(plan.details, "projectId")
        sprints = table.find("sprints", project_id=project)
        artifacts = table.find("artifacts", project_id=project)
        loops = dict.fromkeys([plan.run_id, *(text_field(row, "loop_id") for row in sprints)])
        todos = [row for loop in loops for row in table.find("todos", loop_id=loop)]
    return {"artifacts": artifacts, "todos": todos, "sprints": sprints, "memories": memories}


def _fitting(table: Table, plan: Plan, wanted: str) -> list[Row]:
    """With this id (prompts name those of all loops of a session), with this title, or with an id that begins so."""
    named = table.get("artifacts", wanted)
    if named is not None and plan.session_id is not None and named["session_id"] == plan.session_id:
        return [named]
    mine = table.find("artifacts", session_id=plan.session_id, loop_id=plan.run_id)
    titled = [row for row in mine if row["title"] == wanted]
    begun = (row for row in mine if len(wanted) >= SHORTEST and str(row["id"]).startswith(wanted))
    return titled or [*begun]


def _run_of(row: Row) -> str:
    return text_field(row, "loop_id") or text_field(row, "created_by").partition("/")[0]


def _without_text(row: Row) -> Artifact:
    told = {name: value for name, value in row.items() if name != "content"}
    return cast("Artifact", {**told, "metadata": row.get("metadata") or {}, "characters": len(str(row["content"]))})
