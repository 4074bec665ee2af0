"""Which store a `rag` step searches that names none: what the engine does and what the checker says of it."""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.text.json_value import Json, as_object


def default_store(rag: Mapping[str, Json]) -> str:
    """`rag.server` of the settings, else the only store there is; empty where neither is there."""
    stores = as_object(rag.get("stores"))
    return str(rag.get("server") or (next(iter(stores)) if len(stores) == 1 else ""))
