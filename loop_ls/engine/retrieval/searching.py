"""One search in one store, whichever kind it is. Imports a kind when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.retrieval.by_server import search_server
from loop_ls.engine.retrieval.values import Hit, Query, Store
from loop_ls.engine.tools import Sessions

#: How long one search may take when nobody said anything.
SEARCH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Searches:
    """`sessions` None: a run that only plays; nothing is searched there. `variables` answers the process
    environment."""

    sessions: Sessions | None
    variables: Callable[[str], str | None]
    limit: float | None = None

    async def search(self, store: Store, query: Query) -> list[Hit]:
        """Raises `Failure`."""
        limit = self.limit or SEARCH_SECONDS
        if self.sessions is None:
            return [Hit(f"mock-{n}", 1 / n, {"text": f"mock result {n} for: {query.text}"}) for n in (1, 2)][
                : query.top_k
            ]
        if store.server:
            return await search_server(self.sessions, store, query, limit)
        address = self.variables(store.database)
        if not address:
            told = f"store `{store.name}` needs the environment variable {store.database}, which is not set"
            raise Failure("store_unavailable", told, f"set {store.database} in the environment of the engine")
        from loop_ls.engine.retrieval.by_database import search_database

        return await search_database(address, store, query, limit)
