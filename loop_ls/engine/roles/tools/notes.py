"""Artifacts, todos, the sprint and memory: what stages write down, in the session of whoever started the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loop_ls.engine.roles.outcome import first_line
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import move
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.records.tables import Row, Table
from loop_ls.engine.roles.tools.tool import Arguments, Refusal, RoleTool, spec, text
from loop_ls.text.json_value import Json

TODO = ("open", "in_progress", "done")
#: Where a stage may move its sprint; how it ends is decided by the loop.
SPRINT = ("in_progress", "review")
SHOWN = 100


@dataclass(frozen=True, slots=True)
class StageNotes:
    """Where a stage writes. `by` names the stage in what it makes; `workspace` is whose memory it is."""

    records: Records
    session: str
    run_id: str
    project: str
    sprint: str
    by: str
    workspace: str = ""

    def tool(
        self, work: Callable[[Table, Arguments], str], name: str, told: str, **parameters: str | tuple[str, ...]
    ) -> RoleTool:
        async def run(given: Arguments) -> str:
            try:
                return await self.records.do(lambda table: work(table, given))
            except Unavailable as error:
                raise Refusal(f"It cannot be read or written now: {error}.") from None

        return RoleTool(spec(name, told, **parameters), run)


def artifact_tools(notes: StageNotes, may_delete: bool) -> list[RoleTool]:
    def listed(table: Table, given: Mapping[str, Json]) -> str:
        rows = table.find("artifacts", session_id=notes.session)[-SHOWN:]
        return "\n".join(f"{row['id']}  {row['type']}  {row['title']}" for row in rows) or "no artifacts yet"

    def read(table: Table, given: Arguments) -> str:
        return str(_one(table, "artifacts", notes, given)["content"])

    def create(table: Table, given: Mapping[str, Json]) -> str:
        title, content = text(given, "title"), text(given, "content")
        if not title.strip():
            raise Refusal("Missing `title`: what the artifact is.")
        row = table.add(
            "artifacts",
            table.fresh(),
            session_id=notes.session,
            project_id=notes.project,
            loop_id=notes.run_id,
            type=text(given, "type", "note"),
            title=title,
            content=content,
            created_by=notes.by,
            metadata={},
        )
        return f"artifact {row['id']}"

    def delete(table: Table, given: Mapping[str, Json]) -> str:
        row = _one(table, "artifacts", notes, given)
        table.remove("artifacts", id=row["id"])
        return f"artifact {row['id']} deleted"

    found = [
        notes.tool(listed, "artifact_list", "List the artifacts of this session: id, type, title."),
        notes.tool(read, "artifact_read", "Read an artifact.", id="Its id."),
        notes.tool(
            create,
            "artifact_create",
            "Keep a text that later stages and people need.",
            title="What it is.",
            content="The text.",
            type_="Its kind, in one word (default: `note`).",
        ),
    ]
    if may_delete:
        found.append(notes.tool(delete, "artifact_delete", "Delete an artifact.", id="Its id."))
    return found


def todo_tools(notes: StageNotes) -> list[RoleTool]:
    def listed(table: Table, given: Mapping[str, Json]) -> str:
        rows = table.find("todos", session_id=notes.session)[-SHOWN:]
        return "\n".join(f"{row['id']}  [{row['status']}] {row['title']}" for row in rows) or "no todos yet"

    def add(table: Table, given: Arguments) -> str:
        title = first_line(text(given, "title"))
        row = table.add(
            "todos",
            table.fresh(),
            session_id=notes.session,
            loop_id=notes.run_id,
            title=title,
            status="open",
            created_by=notes.by,
            updated_at=table.now,
        )
        return f"todo {row['id']}"

    def update(table: Table, given: Arguments) -> str:
        row, status = _one(table, "todos", notes, given), text(given, "status")
        if status not in TODO:
            raise Refusal(f"`status` must be one of {', '.join(TODO)}.")
        table.change("todos", str(row["id"]), status=status, updated_at=table.now)
        return f"todo {row['id']} is {status}"

    return [
        notes.tool(listed, "todo_list", "List the todos of this session: id, status, title."),
        notes.tool(add, "todo_add", "Add a todo.", title="What is to be done, in one line."),
        notes.tool(update, "todo_update", "Set the status of a todo.", id="Its id.", status=TODO),
    ]


def sprint_tools(notes: StageNotes) -> list[RoleTool]:
    def show(table: Table, given: Mapping[str, Json]) -> str:
        found = table.get("sprints", notes.sprint)
        if found is None:
            raise Refusal("This iteration has no sprint.")
        told = (f"{name}: {found[name]}" for name in ("title", "status", "acceptance_criteria", "note") if found[name])
        return "\n".join(told)

    def update(table: Table, given: Arguments) -> str:
        status, note = text(given, "status", ""), text(given, "note", "")
        found = table.get("sprints", notes.sprint)
        if found is None:
            raise Refusal("This iteration has no sprint.")
        if note:
            table.change("sprints", notes.sprint, note=note, updated_at=table.now)
        if status and status not in SPRINT:
            raise Refusal(f"`status` must be one of {', '.join(SPRINT)}; the loop decides how a sprint ends.")
        if status and status != found["status"]:
            try:
                move(table, notes.sprint, status)
            except ValueError as error:
                raise Refusal(f"It was not changed: {error}.") from None
        return show(table, given)

    return [
        notes.tool(show, "sprint_show", "Show the sprint of this iteration."),
        notes.tool(
            update,
            "sprint_update",
            "Note progress on the sprint of this iteration.",
            note_="What has been reached, in a few lines.",
            status_=SPRINT,
        ),
    ]


def memory_tools(notes: StageNotes) -> list[RoleTool]:
    def store(table: Table, given: Mapping[str, Json]) -> str:
        remembered = text(given, "text")
        if not remembered.strip():
            raise Refusal("Missing `text`: what to remember.")
        told = {"session_id": notes.session, "text": remembered, "created_by": notes.by, "workspace": notes.workspace}
        row = table.add("memories", table.fresh(), **told)
        return f"memory {row['id']}"

    def search(table: Table, given: Mapping[str, Json]) -> str:
        words = text(given, "query").lower().split()
        known = table.find("memories", workspace=notes.workspace)
        rows = [row for row in known if all(word in str(row["text"]).lower() for word in words)]
        return "\n".join(f"- {row['text']}" for row in rows[-SHOWN:]) or "nothing found in memory"

    return [
        notes.tool(store, "memory_store", "Remember a fact after this loop ends.", text="One self-contained fact."),
        notes.tool(search, "memory_search", "Find what was remembered in this workspace.", query="Words it contains."),
    ]


def _one(table: Table, name: str, notes: StageNotes, given: Arguments) -> Row:
    """A record of this session, and of no other."""
    id_ = text(given, "id").strip()
    found = table.get(name, id_)
    if found is None or found["session_id"] != notes.session:
        raise Refusal(f"Unknown {name.removesuffix('s')} `{id_[:60]}` in this session.")
    return found
