"""The JSON-RPC protocol of pygls, with our reader before it, our JSON behind it, and a strict life cycle.

Registration, dispatch, futures, cancellation and error classes are pygls'. Handlers get the params as they came,
because structuring them costs more than handling them. Whatever is malformed is answered with an error; a fault
of ours answers the one request that it hit.

What pygls 2.1 does otherwise than a server needs is overridden here and nowhere else. Each method that does so says
what pygls does, and `tests/server/rpc/test_pygls.py` shows it: where such a test fails after an update, pygls was
mended and the override may go.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCProtocol, JsonRPCRequestMessage
from pygls.server import JsonRPCServer

from loop_ls.server.rpc.message_queue import Arrival, Cancelled, EndOfInput, Malformed
from loop_ls.server.rpc.raw_json import Written, record
from loop_ls.text.json_value import Json, JsonObject

if TYPE_CHECKING:
    from pathlib import Path

    from cattrs import Converter

logger = logging.getLogger(__name__)

MessageId = str | int
#: How the ids of our own requests and of notifications begin.
_OURS = "loop-ls-"


class Host(Protocol):
    """The server that a conversation belongs to."""

    def settled(self) -> None:
        """A batch of messages was handled."""
        ...

    def failed(self, method: str, params: object, error: BaseException) -> Path | None:
        """A handler raised: log it. The file that tells of it, if one could be written."""
        ...

    def stop(self, status: int) -> None:
        """The conversation is over: end the process with this status. The first reason counts."""
        ...


class RpcServer(JsonRPCServer):
    """`feature(method)` registers a handler of the params; `protocol.receive` is where messages go."""

    protocol: LoopProtocol

    def __init__(self, host: Host) -> None:
        # Params are read as they came, so there is no converter (pygls structures each message with one).
        super().__init__(partial(LoopProtocol, host), lambda: None)  # type: ignore[arg-type, return-value]

    def report_server_error(self, error: Exception, source: object) -> None:
        logger.error("%s", error, exc_info=error)


class _About(NamedTuple):
    """The message that a future belongs to."""

    method: str
    params: JsonObject


#: A client that gives one id to two requests at a time.
_UNKNOWN = _About("a request", {})


class LoopProtocol(JsonRPCProtocol):
    """One connection to one client."""

    def __init__(self, host: Host, server: JsonRPCServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self._host = host
        self._started = False
        self._parting: MessageId | None = None
        self._about: dict[MessageId, _About] = {}
        self._last_id = 0
        self.fm.add_builtin_feature(lsp.EXIT, self._exit)

    # -- what comes in ------------------------------------------------------------------------

    def receive(self, batch: list[Arrival]) -> None:
        """Handle everything that arrived together; diagnostics of changed files follow once, at the end."""
        for arrival in batch:
            try:
                self._receive_one(arrival)
            except Exception:
                logger.exception("A message could not be handled")
        self._host.settled()

    def _receive_one(self, arrival: Arrival) -> None:
        match arrival:
            case Malformed(reason):
                logger.warning("Received something that is not a message: %s", reason)
                self._refuse(None, JsonRpcParseError(reason))
            case Cancelled(key):
                self._refuse(key, JsonRpcRequestCancelled("cancelled before it was processed"))
            case EndOfInput():
                self._leave()
            case _:
                self._receive_message(arrival)

    def _receive_message(self, message: JsonObject) -> None:
        """pygls structures every object with a `jsonrpc` key, at whatever depth, drops a request that it cannot
        structure without an answer, and one of another version, too."""
        method, key = message.get("method"), message.get("id")
        if isinstance(method, str):
            params = message.get("params")
            params = params if isinstance(params, dict) else {}
            if "id" not in message:
                self._handle_notification(method, params)
            elif isinstance(key, str | int) and not isinstance(key, bool):
                self._handle_request(key, method, params)
            else:
                self._refuse(None, JsonRpcInvalidRequest("the id of a request must be a number or a string"))
        elif "id" in message and ("result" in message or "error" in message):
            self._answered(key, message.get("result"), message.get("error"))
        else:
            identity = key if isinstance(key, str | int) else None
            self._refuse(identity, JsonRpcInvalidRequest("a message must have a method"))

    def _handle_request(self, msg_id: MessageId, method_name: str, params: JsonObject) -> None:
        """pygls has no life cycle below its language server: it answers before `initialize`, lets a client
        initialize twice, and gives a request after `shutdown` no answer at all."""
        try:
            self._check_stage(method_name)
            self._get_handler(method_name)
        except JsonRpcException as error:
            logger.info("Request %s (%s) failed: %s", msg_id, method_name, error)
            self._refuse(msg_id, error)
            return
        # Now, not when its turn comes: `exit` may be in the same breath, and its status says whether we were told.
        if method_name == lsp.SHUTDOWN:
            self._shut_down(msg_id)
        self._about[msg_id] = _About(method_name, params)
        super()._handle_request(msg_id, method_name, params)

    def _check_stage(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server is shutting down")
        if method == lsp.INITIALIZE:
            if self._started:
                raise JsonRpcInvalidRequest("the server is already initialized")
        elif not self._started:
            raise JsonRpcServerNotInitialized("`initialize` must be sent first")

    def _handle_notification(self, method_name: str, params: JsonObject) -> None:
        """pygls keeps the future of a notification for ever, and reads the id of a cancellation as an attribute."""
        if method_name == lsp.CANCEL_REQUEST:
            if isinstance(key := params.get("id"), str | int) and key in self._about:
                self._handle_cancel_notification(key)
            return
        if method_name != lsp.EXIT and (self._shutdown or not self._started):
            logger.info("%s is ignored outside of a session", method_name)
            return
        try:
            handler = self._get_handler(method_name)
        except JsonRpcMethodNotFound:
            logger.debug("%s is not known and is ignored", method_name)
            return
        key = self._next_id()
        done = partial(self._notified, key, _About(method_name, params))
        self._execute_handler(key, handler, callback=done, args=(params,))

    def _answered(self, msg_id: Json, result: Json, error: Json) -> None:
        """pygls keeps the futures of both directions in one table: an answer with the id of a request that is being
        worked on would end that. Errors it takes for objects of lsprotocol."""
        if not isinstance(msg_id, str | int) or not isinstance(self._request_futures.get(msg_id), Future):
            logger.debug("Received a response to an unknown request: %r", msg_id)
            return
        self._handle_response(msg_id, result, None if error is None else _response_error(error))

    # -- the end ------------------------------------------------------------------------------

    def _shut_down(self, msg_id: MessageId) -> None:
        self._shutdown, self._parting = True, msg_id
        for future in tuple(self._request_futures.values()):
            if isinstance(future, asyncio.Task):
                future.cancel()

    def _exit(self, params: JsonObject) -> None:
        self._leave()

    def _leave(self) -> None:
        """End; after `shutdown` with 0, and not before that was answered. pygls' own `exit` is `sys.exit` in a
        callback."""
        status = 0 if self._shutdown else 1
        parting = None if self._parting is None else self._request_futures.get(self._parting)
        if parting is None or parting.done():
            self._host.stop(status)
        else:
            parting.add_done_callback(lambda _: self._host.stop(status))

    # -- results of handlers ------------------------------------------------------------------

    def _send_handler_result(self, future: Future[object], *, msg_id: MessageId) -> None:
        """pygls reports what the client did wrong as a fault of the server, and sends the trace of one of ours."""
        self._request_futures.pop(msg_id, None)
        about = self._about.pop(msg_id, _UNKNOWN)
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("cancelled"))
        elif (error := future.exception()) is None:
            self._started = self._started or about.method == lsp.INITIALIZE
            self._send_response(msg_id, future.result())
        elif isinstance(error, JsonRpcException):
            self._refuse(msg_id, error)
        else:
            report = self._host.failed(about.method, about.params, error)
            more = f"a report is in {report}" if report else "see its log for details"
            sentence = f"{about.method} failed in the server ({type(error).__name__}: {error}); {more}"
            self._refuse(msg_id, JsonRpcInternalError(sentence))

    def _notified(self, key: MessageId, about: _About, future: Future[object]) -> None:
        """A notification was handled: nobody waits for an answer, and a client's fault is none of ours."""
        self._request_futures.pop(key, None)
        if future.cancelled() or (error := future.exception()) is None:
            return
        if isinstance(error, JsonRpcException):
            logger.warning("%s is ignored: %s", about.method, error.message)
        else:
            self._host.failed(about.method, about.params, error)

    # -- what goes out ------------------------------------------------------------------------

    def _refuse(self, msg_id: MessageId | None, error: JsonRpcException) -> None:
        answer: dict[str, object] = {"code": error.code, "message": error.message}
        if error.data is not None:
            answer["data"] = error.data
        self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "error": answer})

    def _send_response(self, msg_id: MessageId, result: object = None, error: lsp.ResponseError | None = None) -> None:
        """pygls makes an object of each answer, and asks it for its members while it is written."""
        if error is not None:
            self._refuse(msg_id, JsonRpcException(error.message, error.code, error.data))
        elif isinstance(result, Written):
            self._send_text(record(jsonrpc=self.VERSION, id=msg_id, result=result))
        else:
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result})

    def notify(self, method: str, params: Mapping[str, Json] | Written | None = None) -> None:
        if isinstance(params, Written):
            self._send_text(record(jsonrpc=self.VERSION, method=method, params=params))
        else:
            self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    async def ask(self, method: str, params: Mapping[str, Json] | None = None, limit: float = 30.0) -> Json:
        """The client's answer as it came. Raises `JsonRpcException`, or `TimeoutError` after `limit` seconds.

        pygls never forgets a request that nobody answered, and does not tell the client when nobody waits any more."""
        key = self._next_id()
        try:
            answer: Json = await asyncio.wait_for(self.send_request_async(method, params, key), limit)
            return answer
        except asyncio.CancelledError:
            self.notify(lsp.CANCEL_REQUEST, {"id": key})
            raise
        finally:
            self._request_futures.pop(key, None)
            self._result_types.pop(key, None)

    def _next_id(self) -> str:
        self._last_id += 1
        return f"{_OURS}{self._last_id}"

    def _send_data(self, data: object) -> None:
        """pygls logs every text of the user, writes NaN, and leaves a request without an answer whose result is no
        JSON."""
        if isinstance(data, JsonRPCRequestMessage):
            data = {"jsonrpc": data.jsonrpc, "id": data.id, "method": data.method, "params": data.params}
        elif isinstance(data, JsonRPCNotification):
            data = {"jsonrpc": data.jsonrpc, "method": data.method, "params": data.params}
        try:
            body = json.dumps(data, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):
            logger.exception("A response cannot be written as JSON")
            if not isinstance(data, dict) or "result" not in data:
                return
            self._refuse(data["id"], JsonRpcInternalError("the response cannot be written as JSON"))
            return
        self._send_text(body)

    def _send_text(self, body: str) -> None:
        if self.writer is None:
            return
        try:
            self.writer.write(body.encode("ascii"))
        except OSError:
            logger.info("The client has disconnected")
            self.writer = None
            self._host.stop(0 if self._shutdown else 1)


def _response_error(error: Json) -> lsp.ResponseError:
    """What a client gives as its reason, whatever that is."""
    fields = error if isinstance(error, dict) else {}
    code = fields.get("code")
    known = code if isinstance(code, int) and -(2**31) <= code < 2**31 else 0
    return lsp.ResponseError(known, str(fields.get("message", error)))
