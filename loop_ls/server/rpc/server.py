"""pygls' JSON-RPC server: the registered handlers, behind our reader and writer."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from pygls.server import JsonRPCServer

from loop_ls.server.rpc.protocol import LoopProtocol

if TYPE_CHECKING:
    from loop_ls.server.rpc.host import Host

logger = logging.getLogger(__name__)


class RpcServer(JsonRPCServer):
    """`feature(method)` registers a handler of the params; `protocol.receive` is where messages go."""

    protocol: LoopProtocol

    def __init__(self, host: Host) -> None:
        # Params are read as they came, so there is no converter (pygls structures each message with one).
        super().__init__(partial(LoopProtocol, host), lambda: None)  # type: ignore[arg-type, return-value]

    def report_server_error(self, error: Exception, source: object) -> None:
        logger.error("%s", error, exc_info=error)
