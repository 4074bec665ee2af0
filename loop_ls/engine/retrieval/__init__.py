"""Searching stores of documents: what a store is, how it is asked, how several answers become one list.

Stores are MCP servers with a tool that searches, and PostgreSQL tables with vectors. Bodies know only the
values of this room.
"""

from __future__ import annotations

from loop_ls.engine.retrieval.expansion import expanded
from loop_ls.engine.retrieval.fusion import as_text, fused
from loop_ls.engine.retrieval.searching import Searches
from loop_ls.engine.retrieval.stores import read_store, searches
from loop_ls.engine.retrieval.values import Found, Hit, Query, Result, Store, Strategy

__all__ = [
    "Found",
    "Hit",
    "Query",
    "Result",
    "Searches",
    "Store",
    "Strategy",
    "as_text",
    "expanded",
    "fused",
    "read_store",
    "searches",
]
