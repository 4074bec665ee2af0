"""The tables of the records around role loops, spoken to in the dialect of whichever database holds them.

Knows what a record consists of and how it is found and changed inside one transaction; where the database
is and how it is reached belongs to the stores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.roles.records.ids import derived
from loop_ls.text.json_value import Json, JsonObject

Row = JsonObject

TABLES = {
    "sessions": ("parent", "hidden", "project_id"),
    "projects": ("slug", "title", "description", "status", "session_id"),
    "sprints": (
        *("project_id", "loop_id", "iteration_id", "title", "acceptance_criteria", "status", "note"),
        *("transitions", "updated_at"),
    ),
    "artifacts": ("session_id", "project_id", "loop_id", "type", "title", "content", "created_by", "metadata"),
    "todos": ("session_id", "loop_id", "title", "status", "created_by", "updated_at"),
    "memories": ("session_id", "text", "created_by", "workspace"),
}
#: Where records are looked for by something else than their id.
INDEXED = (("sprints", "loop_id"), ("artifacts", "session_id"), ("todos", "session_id"), ("memories", "workspace"))
#: Columns that hold JSON values, and those that hold numbers.
JSON, NUMBERS = frozenset({"metadata", "transitions"}), frozenset({"hidden"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a database writes a value, compares with one that may be null, and numbers its rows."""

    mark: str
    same: str
    number: str
    prefix: str = ""


SQLITE = Dialect("?", "is", "rowid")
POSTGRES = Dialect("%s", "is not distinct from", "number", "loop_ls.")


class Rows(Protocol):
    @property
    def rowcount(self) -> int: ...

    def __iter__(self) -> Iterator[Sequence[object]]: ...


class Connection(Protocol):
    def execute(self, query: str, values: Sequence[object] = ..., /) -> Rows: ...


class Table:
    """The tables inside one transaction; `now` is its time. `seed` makes ids: a transaction that is done
    again, because nobody heard whether it was, makes the same ones."""

    def __init__(self, connection: Connection, dialect: Dialect, now: str, seed: str) -> None:
        self._connection, self._dialect, self.now = connection, dialect, now
        self._seed, self._made = seed, 0

    def fresh(self) -> str:
        self._made += 1
        return derived(self._seed, self._made)

    def add(self, table: str, id_: str, **values: Json) -> Row:
        """The record, made unless there is one with this id."""
        columns = ("id", "created_at", *values)
        marks = ", ".join([self._dialect.mark] * len(columns))
        self._connection.execute(
            f"insert into {self._dialect.prefix}{table} ({', '.join(columns)}) values ({marks}) on conflict do nothing",
            (id_, self.now, *(_stored(name, value) for name, value in values.items())),
        )
        found = self.get(table, id_)
        assert found is not None
        return found

    def get(self, table: str, id_: str) -> Row | None:
        return next(iter(self.find(table, id=id_)), None)

    def find(self, table: str, **where: Json) -> list[Row]:
        """Records with these values, oldest first."""
        told = self._told(where, " and ", self._dialect.same)
        columns = ("id", "created_at", *TABLES[table])
        query = f"select {', '.join(columns)} from {self._dialect.prefix}{table}{f' where {told}' if told else ''}"
        rows = self._connection.execute(f"{query} order by {self._dialect.number}", tuple(where.values()))
        return [_row(columns, row) for row in rows]

    def change(self, table: str, id_: str, **values: Json) -> None:
        given = [_stored(name, value) for name, value in values.items()]
        query = f"update {self._dialect.prefix}{table} set {self._told(values, ', ', '=')}"
        self._connection.execute(f"{query} where id = {self._dialect.mark}", (*given, id_))

    def remove(self, table: str, **where: Json) -> int:
        told = self._told(where, " and ", self._dialect.same)
        query = f"delete from {self._dialect.prefix}{table} where {told}"
        return self._connection.execute(query, tuple(where.values())).rowcount

    def _told(self, values: Mapping[str, Json], between: str, sign: str) -> str:
        return between.join(f"{name} {sign} {self._dialect.mark}" for name in values)


def _stored(name: str, value: object) -> object:
    if name in JSON and value is not None:
        return json.dumps(value, ensure_ascii=False)
    return plain_text(value) if isinstance(value, str) else value


def _row(columns: Sequence[str], values: Sequence[object]) -> Row:
    found = dict(zip(columns, cast("Sequence[Json]", values), strict=True))
    return {name: json.loads(str(value)) if name in JSON and value else value for name, value in found.items()}
