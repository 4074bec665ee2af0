"""The port through which the protocol reaches the server that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Host(Protocol):
    def settled(self) -> None:
        """A batch of messages was handled."""
        ...

    def failed(self, method: str, params: object, error: BaseException) -> Path | None:
        """A handler raised: log it. The file that tells of it, if one could be written."""
        ...

    def stop(self, status: int) -> None:
        """The conversation is over: end the process with this status. The first reason counts."""
        ...
