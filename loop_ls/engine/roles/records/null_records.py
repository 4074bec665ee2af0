"""Records that nobody keeps, for a loop whose way is gone once more: what it writes is gone with it.

Only the project is looked up where it is kept, because the prompts of stages speak of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.tables import TABLES, Row, Table
from loop_ls.text.json_value import Json

T = TypeVar("T")


class NullRecords(Records):
    """`kept` are the real ones."""

    def __init__(self, kept: Records) -> None:
        self._kept, self._table = kept, _Rows()

    async def do(self, work: Callable[[Table], T]) -> T:
        return work(self._table)

    async def project(self, id_: str) -> Row | None:
        return await self._kept.project(id_)


class _Rows(Table):
    """The tables without a database."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Row]] = {name: {} for name in TABLES}
        self.now = ""

    def add(self, table: str, id_: str, **values: Json) -> Row:
        blank: Row = dict.fromkeys(TABLES[table])
        return self._rows[table].setdefault(id_, {"id": id_, "created_at": self.now, **blank, **values})

    def find(self, table: str, **where: Json) -> list[Row]:
        if "id" in where:
            rows = [row for row in [self._rows[table].get(str(where["id"]))] if row is not None]
        else:
            rows = list(self._rows[table].values())
        return [row for row in rows if all(row.get(name) == value for name, value in where.items())]

    def change(self, table: str, id_: str, **values: Json) -> None:
        if id_ in self._rows[table]:
            self._rows[table][id_].update(values)

    def remove(self, table: str, **where: Json) -> int:
        gone = self.find(table, **where)
        for row in gone:
            del self._rows[table][str(row["id"])]
        return len(gone)
