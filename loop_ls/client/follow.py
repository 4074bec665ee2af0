"""Listening to an engine without gap and without double, whatever happens to the connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loop_ls.client.session import EngineClient


async def follow(
    client: EngineClient,
    after: int | None,
    run_id: str | None,
    on_connection: Callable[[bool], None] | None,
) -> AsyncIterator[dict[str, Any]]:
    """See `EngineClient.follow`."""
    raise NotImplementedError
    yield {}
