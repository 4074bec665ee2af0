"""A search in a PostgreSQL table with vectors: by pgvector where it is there, else exactly, by arrays.

Imported when a store is a database: `psycopg` belongs to the extra `postgres`. Nothing is written: the
transaction is read-only.
"""

from __future__ import annotations

import asyncio
from typing import Any

from loop_ls.engine.capabilities.guard import require_server
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.retrieval.values import Hit, Query, Store
from loop_ls.extras import missing
from loop_ls.text.json_value import Json

CONNECT_SECONDS = 10
#: What a column with vectors is, in words of the catalogue.
_ARRAYS = ("real[]", "double precision[]", "numeric[]")


async def search_database(address: str, store: Store, query: Query, limit: float) -> list[Hit]:
    """The nearest rows by cosine. Raises `Failure`."""
    try:
        import psycopg
    except ImportError:
        raise Failure("store_unavailable", missing(f"store `{store.name}`", "psycopg")) from None
    require_server(store.name, store.written)
    try:
        async with asyncio.timeout(limit + CONNECT_SECONDS):
            async with await psycopg.AsyncConnection.connect(address, connect_timeout=CONNECT_SECONDS) as db:
                await db.set_read_only(True)
                await db.execute("select set_config('statement_timeout', %s, true)", [str(int(limit * 1000))])
                return await _search(db, store, query)
    except TimeoutError:
        raise Failure(
            "timeout", f"store `{store.name}` did not respond within {limit:g} s", "raise `timeout`"
        ) from None
    except psycopg.Error as error:
        told = redact(str(error).strip().partition("\n")[0], [address]).rstrip(".")
        hint = f"check {store.database} and `rag.stores.{store.name}`"
        raise Failure("store_unavailable", f"store `{store.name}` cannot be searched: {told}", hint) from None


async def _search(db: Any, store: Store, query: Query) -> list[Hit]:
    from psycopg import sql

    columns = await _columns(db, store)
    column = query.strategy.column or _vector_column(columns, store)
    kind = columns.get(column)
    if kind is None:
        raise _no_column(store, column, columns)
    shown = (store.id_column, *_shown(columns, store, column), *store.metadata_columns)
    for name in shown:
        if name not in columns:
            raise _no_column(store, name, columns)
    at = sql.Identifier(column)
    nearness = _NEAR_VECTOR if kind.startswith(("vector", "halfvec")) else _NEAR_ARRAY
    if nearness is _NEAR_ARRAY and kind not in _ARRAYS:
        told = f"column `{column}` of `{store.table}` has type {kind}, not vector"
        raise Failure("bad_argument", told, f"set `column` in `rag.stores.{store.name}.strategies`")
    statement = sql.SQL(
        "select {shown}, {near} as near_ from {table} where {at} is not null order by near_ desc limit %(top)s"
    )
    bound = statement.format(
        shown=sql.SQL(", ").join(map(sql.Identifier, shown)),
        near=sql.SQL(nearness).format(at=at),
        table=sql.Identifier(*store.table.split(".")),
        at=at,
    )
    vector = [float(number) for number in query.vector or ()]
    found = await db.execute(bound, {"vector": vector, "top": query.top_k})
    return [_hit(row, store, shown) for row in await found.fetchall()]


_NEAR_VECTOR = "1 - ({at} <=> %(vector)s::real[]::vector)"
_NEAR_ARRAY = """(select sum(a * b) / nullif(sqrt(sum(a * a)) * sqrt(sum(b * b)), 0)
    from unnest({at}::double precision[], %(vector)s::double precision[]) as both_(a, b))"""


async def _columns(db: Any, store: Store) -> dict[str, str]:
    """The columns of the table with their types, in order."""
    found = await db.execute(
        "select attname, format_type(atttypid, atttypmod) from pg_attribute"
        " where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum",
        [".".join(f'"{part}"' for part in store.table.replace('"', "").split("."))],
    )
    columns = {str(name): str(kind) for name, kind in await found.fetchall()}
    if not columns:
        told = f"store `{store.name}` has no table `{store.table}`"
        raise Failure("bad_argument", told, f"check `table` of `rag.stores.{store.name}`")
    return columns


def _vector_column(columns: dict[str, str], store: Store) -> str:
    """The only column with vectors, where the strategy names none."""
    found = [name for name, kind in columns.items() if kind.startswith(("vector", "halfvec")) or kind in _ARRAYS]
    if len(found) != 1:
        told = f"`{store.table}` has {len(found) or 'no'} vector columns, and the strategy does not set one"
        raise Failure("bad_argument", told, f"set `column` in `rag.stores.{store.name}.strategies`")
    return found[0]


def _shown(columns: dict[str, str], store: Store, vectors: str) -> tuple[str, ...]:
    if store.text_columns:
        return tuple(name for name in store.text_columns if name != store.id_column)
    plain = (name for name, kind in columns.items() if kind in ("text", "character varying", "json", "jsonb"))
    return tuple(name for name in plain if name not in (store.id_column, vectors, *store.metadata_columns))


def _hit(row: tuple[Any, ...], store: Store, shown: tuple[str, ...]) -> Hit:
    values = dict(zip(shown, row[:-1], strict=True))
    id_ = str(values.pop(store.id_column))
    metadata = {name: _json(values.pop(name)) for name in store.metadata_columns if name in values}
    return Hit(id_, float(row[-1] or 0.0), {name: _json(value) for name, value in values.items()}, metadata)


def _json(value: object) -> Json:
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)


def _no_column(store: Store, name: str, columns: dict[str, str]) -> Failure:
    told = f"`{store.table}` of store `{store.name}` has no column `{name}`"
    return Failure("bad_argument", told, f"expected {', '.join(columns)}")
