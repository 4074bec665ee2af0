"""The client: what it can do, and how it is told and asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from loop_ls.server.capabilities import ClientFacts

if TYPE_CHECKING:
    from loop_ls.server.rpc.raw_json import Written
    from loop_ls.text.json_value import Json


class Refused(Exception):
    """The client answered one of our requests with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Connection(Protocol):
    """What of the protocol is used to speak to the client."""

    def notify(self, method: str, params: Mapping[str, Json] | Written | None = None) -> None: ...

    async def ask(self, method: str, params: Mapping[str, Json] | None = None, limit: float = 30.0) -> Json: ...


class Client:
    """`facts` are known from `initialize` on."""

    def __init__(self, connection: Connection) -> None:
        self.facts = ClientFacts()
        #: The client tells of files that change on the disk.
        self.watches_files = False
        self._connection = connection

    def notify(self, method: str, params: Mapping[str, Json] | Written | None = None) -> None:
        self._connection.notify(method, params)

    async def ask(self, method: str, params: Mapping[str, Json] | None = None, limit: float = 30.0) -> Json:
        """The client's answer as it came. Raises `Refused`, or `TimeoutError` after `limit` seconds."""
        try:
            return await self._connection.ask(method, params, limit)
        except JsonRpcException as error:
            raise Refused(error.code, error.message) from None

    def show(self, kind: lsp.MessageType, message: str) -> None:
        """A message for the person."""
        self.notify(lsp.WINDOW_SHOW_MESSAGE, {"type": kind.value, "message": message})
