"""A search by a tool of an MCP server, whatever it calls its arguments and its results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.journal.serialization import plain
from loop_ls.engine.retrieval.values import Hit, Query, Store
from loop_ls.engine.tools import Sessions, Tool
from loop_ls.text.json_value import Json, as_object

#: What tools that search are called, the likeliest first.
TOOLS = (
    "search_vectors",
    "similarity_search",
    "vector_search",
    "semantic_search",
    "search",
    "query",
    "retrieve",
    "find",
)

#: What arguments are called that mean the same.
_NAMES = {
    "text": ("query", "query_text", "text", "q", "question", "search", "input", "prompt"),
    "vector": ("query_vector", "vector", "embedding", "query_embedding"),
    "top_k": ("top_k", "limit", "k", "max_results", "n_results", "num_results", "count", "n", "size"),
    "table": ("table", "table_name", "collection", "collection_name", "index", "index_name"),
    "column": ("vector_column", "column"),
    "threshold": ("threshold", "similarity_threshold", "min_similarity", "min_score", "score_threshold"),
    "columns": ("text_columns", "columns", "select_columns"),
    "metadata": ("metadata_columns",),
}
_LISTS = ("results", "matches", "documents", "hits", "rows", "items", "data")
_IDS = ("id", "_id", "identifier", "uuid", "doc_id", "document_id", "chunk_id", "key", "url")
_SCORES = ("score", "similarity", "combined_score", "relevance", "similarity_score", "_score")
_DISTANCES = ("distance", "_distance")


async def search_server(sessions: Sessions, store: Store, query: Query, limit: float) -> list[Hit]:
    """Raises `Failure` where the server or its tool does not work."""
    tool = _tool(await sessions.tools([store.server]), store)
    result = await sessions.call(store.server, tool.name, _arguments(tool, store, query), limit)
    if result.failed:
        told = f"the search of `{store.name}` by its tool `{tool.name}` failed: {result.text[:300]}"
        raise Failure("store_unavailable", told, f"check `rag.stores.{store.name}`")
    return hits(result.text, store)


def _tool(tools: tuple[Tool, ...], store: Store) -> Tool:
    """The tool that the store names, else the one whose name says that it searches."""
    if store.tool:
        found = next((tool for tool in tools if tool.name == store.tool), None)
    else:
        found = next((tool for name in TOOLS for tool in tools if tool.name.lower() == name), None) or next(
            (tool for name in TOOLS for tool in tools if name in tool.name.lower()), None
        )
    if found is None:
        named = f"no tool `{store.tool}`" if store.tool else "no search tool"
        there = ", ".join(f"`{tool.name}`" for tool in tools) or "none"
        raise Failure("bad_argument", f"MCP server `{store.server}` has {named}", f"expected {there}")
    return found


def _arguments(tool: Tool, store: Store, query: Query) -> dict[str, Json]:
    """What is known of the search, under the names that the tool uses."""
    known = tool.schema.get("properties")
    properties = as_object(known)
    values: dict[str, Json] = {
        "text": query.text,
        "vector": query.vector,
        "top_k": query.top_k,
        "table": store.table or None,
        "column": query.strategy.column or None,
        "threshold": query.strategy.threshold or None,
        "columns": list(store.text_columns) or None,
        "metadata": list(store.metadata_columns) or None,
    }
    if not properties:
        return {"query": query.text, "top_k": query.top_k}
    found: dict[str, Json] = {}
    for meaning, value in values.items():
        name = next((name for name in _NAMES[meaning] if name in properties), None)
        if name is not None and value is not None:
            found[name] = _fitting(value, properties[name])
    return found


def _fitting(value: Json, schema: object) -> Json:
    """A vector as text, a list of columns as words, where the tool wants it so."""
    if isinstance(value, list) and isinstance(schema, Mapping) and schema.get("type") == "string":
        numbers = all(isinstance(each, int | float) for each in value)
        return json.dumps(value) if numbers else ", ".join(map(str, value))
    return value


def hits(text: str, store: Store) -> list[Hit]:
    """The results of an answer: JSON with a list in it, else one for each paragraph."""
    try:
        value: Json = plain(json.loads(text))
    except (ValueError, RecursionError):
        parts = [part.strip() for part in text.split("\n\n") if part.strip()]
        return [Hit("", 1 / number, {"text": part}) for number, part in enumerate(parts, 1)]
    return [_hit(each, number, store) for number, each in enumerate(_listed(value), 1)]


def _listed(value: Json) -> Iterator[Json]:
    if isinstance(value, Mapping):
        inner = next((each for name in _LISTS if isinstance(each := value.get(name), list)), None)
        yield from inner if inner is not None else ([value] if value else [])
    elif isinstance(value, list):
        yield from value
    elif value not in (None, ""):
        yield value


def _hit(value: Json, rank: int, store: Store) -> Hit:
    if not isinstance(value, Mapping):
        return Hit("", 1 / rank, {"text": str(value)})
    id_ = next((value[name] for name in (store.id_column, *_IDS) if value.get(name) not in (None, "")), "")
    rest = {
        name: each
        for name, each in value.items()
        if name not in (*_SCORES, *_DISTANCES, "metadata") and not _is_vector(each)
    }
    metadata = dict(inner) if isinstance(inner := value.get("metadata"), Mapping) else {}
    metadata |= {name: rest[name] for name in store.metadata_columns if name in rest}
    wanted = [name for name in store.text_columns if name in rest]
    text = {name: rest[name] for name in wanted} if wanted else _without(rest, (*store.metadata_columns, *_IDS[:2]))
    return Hit(str(id_), _score(value, rank), text, metadata)


def _without(values: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Json]:
    inner = values.get("text")
    if isinstance(inner, Mapping):
        return dict(inner)
    return {name: each for name, each in values.items() if name not in names}


def _score(value: Mapping[str, Json], rank: int) -> float:
    """The score; of a distance what is left to 1; without either its place in the list."""
    for name in _SCORES:
        if isinstance(found := value.get(name), int | float):
            return float(found)
    for name in _DISTANCES:
        if isinstance(found := value.get(name), int | float):
            return 1.0 - float(found)
    return 1 / rank


def _is_vector(value: Json) -> bool:
    return isinstance(value, list) and len(value) > 8 and all(isinstance(each, int | float) for each in value)
