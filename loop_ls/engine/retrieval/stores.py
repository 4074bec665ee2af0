"""Which store a step means, and in which ways it is looked into: from the section `rag` of the settings.

A step may also name an MCP server that no store describes: its tool that searches is asked with the text.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.retrieval.values import Store, Strategy
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.settings.default_store import default_store
from loop_ls.text.json_value import Json, as_object, int_field

_WHERE = "add stores under `rag.stores` in .loop-ls.yaml, MCP servers under `servers`"


def read_store(rag: Mapping[str, Json], servers: Container[str], name: str | None, step: str) -> Store:
    """The store `name`, else the configured default, else the only one there is. Raises `Failure`."""
    stores = as_object(rag.get("stores"))
    wanted = name or default_store(rag)
    if not wanted:
        told = f"`{step}` has no `server` to search, and the settings have no default"
        raise Failure("bad_argument", told, "add `server`, or set `rag.server` in .loop-ls.yaml")
    if isinstance(entry := stores.get(wanted), Mapping):
        return _store(wanted, entry, servers)
    if wanted in servers:
        return Store(wanted, server=wanted)
    near = nearest(wanted, stores)
    guess = f"; did you mean `{near}`?" if near else ""
    raise Failure("bad_argument", f"Unknown store or MCP server `{wanted}` in `{step}`{guess}", _WHERE)


def _store(name: str, entry: Mapping[str, Json], servers: Container[str]) -> Store:
    database, server = str(entry.get("databaseUrlEnv") or ""), str(entry.get("server") or "")
    if not database and not server:
        server = name if name in servers else ""
    if not database and not server:
        raise Failure("bad_argument", f"store `{name}` has neither `server` nor `databaseUrlEnv`", _WHERE)
    found = Store(
        name=name,
        server="" if database else server,
        tool=str(entry.get("tool") or ""),
        database=database,
        table=str(entry.get("table") or ""),
        id_column=str(entry.get("idColumn") or "id"),
        text_columns=_texts(entry.get("textColumns")),
        metadata_columns=_texts(entry.get("metadataColumns")),
        provider=str(entry.get("provider") or ""),
        model=str(entry.get("model") or ""),
        dimensions=int_field(entry, "dimensions"),
        strategies=_strategies(entry.get("strategies")),
    )
    missing = [key for key, value in (("table", found.table), ("provider", found.provider)) if database and not value]
    if missing:
        raise Failure("bad_argument", f"store `{name}` of a database has no `{missing[0]}`", _WHERE)
    return found


def searches(store: Store, wanted: Sequence[str], step: str) -> tuple[Strategy, ...]:
    """The strategies of a step: those it names, else `default`, else all of the store. Raises `Failure`."""
    known = {strategy.name: strategy for strategy in store.strategies}
    if not wanted:
        return (known["default"],) if "default" in known else store.strategies
    for name in wanted:
        if name not in known:
            told = f"Unknown strategy `{name}` of `{store.name}` in `{step}`"
            raise Failure("bad_argument", told, f"expected {', '.join(f'`{each}`' for each in known)}")
    return tuple(known[name] for name in dict.fromkeys(wanted))


def _strategies(written: object) -> tuple[Strategy, ...]:
    if not isinstance(written, Mapping) or not written:
        return (Strategy(),)
    return tuple(
        Strategy(
            str(name),
            str(each.get("column") or ""),
            _number(each.get("weight"), 1.0),
            _number(each.get("threshold"), 0.0),
        )
        for name, each in written.items()
        if isinstance(each, Mapping)
    )


def _number(value: object, usual: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else usual


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
