"""The light records around role loops: sessions, projects, sprints, artifacts, todos, memory.

What happened in a run is in the journal; these are what stages and people write beside it. One SQLite
file in the data folder, used by one thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from loop_ls.engine.events import utc

FILE_NAME = "records.db"

T = TypeVar("T")
Row = dict[str, Any]

_TABLES = {
    "sessions": ("parent", "hidden", "project_id"),
    "projects": ("slug", "title", "description", "status", "session_id"),
    "sprints": (
        *("project_id", "loop_id", "iteration_id", "title", "acceptance_criteria", "status", "note"),
        *("transitions", "updated_at"),
    ),
    "artifacts": ("session_id", "project_id", "loop_id", "type", "title", "content", "created_by", "metadata"),
    "todos": ("session_id", "loop_id", "title", "status", "created_by", "updated_at"),
    "memories": ("session_id", "text", "created_by"),
}
#: Columns that hold JSON values.
_JSON = frozenset({"metadata", "transitions"})


class Records:
    """Each operation is one transaction. Raises `sqlite3.Error` where the file cannot be used."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock = folder / FILE_NAME, clock
        self._thread = ThreadPoolExecutor(1, "records")
        self._connection: sqlite3.Connection | None = None

    async def do(self, work: Callable[[Table], T]) -> T:
        """`work` in the thread of the records."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def do_now(self, work: Callable[[Table], T]) -> T:
        """The same for callers that are in a thread themselves."""
        return self._thread.submit(self._do, work).result()

    async def beside(self, run_id: str, project: str | None) -> Row:
        """The project and the sprints of a run; empty where the file cannot be used."""

        def work(table: Table) -> Row:
            sprints = {row["id"]: row for row in table.find("sprints", loop_id=run_id)}
            return {"project": table.get("projects", project) if project else None, "sprints": sprints}

        try:
            return await self.do(work)
        except (sqlite3.Error, OSError):
            return {}

    def forget(self, run_id: str) -> None:
        """The run was deleted: so is what its stages said. Its project stays, and what they made on purpose."""
        self._thread.submit(self._do, lambda table: _forgotten(table, run_id))

    def _do(self, work: Callable[[Table], T]) -> T:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = _opened(self._path)
        with self._connection:
            return work(Table(self._connection, utc(self._clock())))


class Table:
    """The tables inside one transaction; `now` is its time."""

    def __init__(self, connection: sqlite3.Connection, now: str) -> None:
        self._connection, self.now = connection, now

    def add(self, table: str, id_: str, **values: Any) -> Row:
        """The record, made unless there is one with this id."""
        columns = ("id", "created_at", *values)
        marks = ", ".join("?" * len(columns))
        self._connection.execute(
            f"insert or ignore into {table} ({', '.join(columns)}) values ({marks})",
            (id_, self.now, *(_stored(name, value) for name, value in values.items())),
        )
        found = self.get(table, id_)
        assert found is not None
        return found

    def get(self, table: str, id_: str) -> Row | None:
        return next(iter(self.find(table, id=id_)), None)

    def find(self, table: str, **where: Any) -> list[Row]:
        """Records with these values, oldest first."""
        told = " and ".join(f"{name} is ?" for name in where)
        rows = self._connection.execute(
            f"select * from {table}{f' where {told}' if told else ''} order by rowid", tuple(where.values())
        )
        return [_row(row) for row in rows]

    def change(self, table: str, id_: str, **values: Any) -> None:
        told = ", ".join(f"{name} = ?" for name in values)
        given = [_stored(name, value) for name, value in values.items()]
        self._connection.execute(f"update {table} set {told} where id = ?", (*given, id_))

    def remove(self, table: str, **where: Any) -> int:
        told = " and ".join(f"{name} is ?" for name in where)
        return self._connection.execute(f"delete from {table} where {told}", tuple(where.values())).rowcount


def _forgotten(table: Table, run_id: str) -> None:
    table.remove("sprints", loop_id=run_id)
    table.remove("artifacts", loop_id=run_id, type="loop_output")


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10)
    path.chmod(0o600)
    connection.row_factory = sqlite3.Row
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    for table, columns in _TABLES.items():
        told = ", ".join(("id text primary key", "created_at text", *columns))
        connection.execute(f"create table if not exists {table} ({told})")
    for table, column in (("sprints", "loop_id"), ("artifacts", "session_id"), ("todos", "session_id")):
        connection.execute(f"create index if not exists {table}_{column} on {table} ({column})")
    connection.commit()
    return connection


def _stored(name: str, value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if name in _JSON and value is not None else value


def _row(row: Mapping[str, Any]) -> Row:
    found = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row of sqlite iterates over values
    return {name: json.loads(value) if name in _JSON and value else value for name, value in found.items()}
