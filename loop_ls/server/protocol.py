"""The language server protocol as this server speaks it, on top of pygls.

What differs from pygls: texts are kept in our own documents only; the messages of start-up and of
typing are read as they are, because structuring them costs more than handling them; whatever is
malformed gets an error answer and never a popup; a fault of ours answers the one request it hit.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from loop_ls.server.inbox import Arrival, Cancelled, EndOfInput, Malformed
from loop_ls.server.routes import LATE, register_late
from loop_ls.server.written import Written, record

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)

Json = Any
MessageId = str | int
Handler = Callable[..., Any]


class Refused(Exception):
    """The client answered one of our requests with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class LoopProtocol(LanguageServerProtocol):
    """One connection to one client."""

    _server: LoopServer

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        #: Methods whose params are passed on as they came: speed counts, and the handler reads them itself.
        self.raw: dict[str, Handler] = {
            types.INITIALIZE: self.lsp_initialize,
            types.INITIALIZED: self.lsp_initialized,
            types.SHUTDOWN: self.lsp_shutdown,
            types.EXIT: self.lsp_exit,
            types.TEXT_DOCUMENT_DID_OPEN: self.lsp_text_document__did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self.lsp_text_document__did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self.lsp_text_document__did_close,
        }
        self._started = False
        self._parting: MessageId | None = None
        self._asked: dict[MessageId, asyncio.Future[Json]] = {}
        self._last_id = 0

    @property
    def converter(self) -> Converter:
        return self._converter

    # -- what comes in ------------------------------------------------------------------------

    def receive(self, batch: list[Arrival]) -> None:
        """Handle everything that arrived together; diagnostics of changed files follow once, at the end."""
        for arrival in batch:
            try:
                self._receive_one(arrival)
            except Exception:
                logger.exception("A message could not be handled")
        self._server.settle()

    def _receive_one(self, arrival: Arrival) -> None:
        match arrival:
            case Malformed(reason):
                logger.warning("Received something that is no message: %s", reason)
                self._fail(None, JsonRpcParseError(reason))
            case Cancelled(key):
                self._fail(key, JsonRpcRequestCancelled("cancelled before it was looked at"))
            case EndOfInput():
                self._leave()
            case _:
                self._receive_message(arrival)

    def _receive_message(self, message: dict[str, Json]) -> None:
        method, key = message.get("method"), message.get("id")
        if isinstance(method, str):
            if "id" not in message:
                self._notified(method, message)
            elif isinstance(key, str | int) and not isinstance(key, bool):
                self._requested(key, method, message)
            else:
                self._fail(None, JsonRpcInvalidRequest("the id of a request is a number or a text"))
        elif "id" in message and ("result" in message or "error" in message):
            self._answered(key, message)
        else:
            self._fail(key if isinstance(key, str | int) else None, JsonRpcInvalidRequest("a message has a method"))

    def _requested(self, key: MessageId, method: str, message: dict[str, Json]) -> None:
        try:
            self._check_stage(method)
            handler, params = self._handler_and_params(method, message)
        except JsonRpcException as error:
            logger.info("Request %s (%s) is answered with an error: %s", key, method, error)
            self._fail(key, error)
            return
        # Now, not when its turn comes: `exit` may be in the same breath, and its status says whether we were told.
        if method == types.SHUTDOWN:
            self._shutdown, self._parting = True, key
        about = (method, message.get("params"))
        self._execute_handler(key, handler, partial(self._finished, key, about), args=(params,))

    def _notified(self, method: str, message: dict[str, Json]) -> None:
        if method == types.CANCEL_REQUEST:
            self._cancel(message.get("params"))
            return
        if method != types.EXIT and (self._shutdown or not self._started):
            logger.info("%s is ignored outside of a session", method)
            return
        about = (method, message.get("params"))
        try:
            handler, params = self._handler_and_params(method, message)
            if asyncio.iscoroutinefunction(handler):
                self._server.own(handler(params), partial(self._log_failure, about))
            else:
                handler(params)
        except JsonRpcMethodNotFound:
            logger.debug("%s is not known and is ignored", method)
        except Exception as error:
            self._log_failure(about, error)

    def _answered(self, key: Json, message: dict[str, Json]) -> None:
        future = self._asked.pop(key, None) if isinstance(key, str | int) else None
        if future is None or future.done():
            logger.debug("An answer to nothing that is still asked: %r", key)
        elif (error := message.get("error")) is not None:
            fields = error if isinstance(error, dict) else {}
            code = fields.get("code")
            future.set_exception(Refused(code if isinstance(code, int) else 0, str(fields.get("message", error))))
        else:
            future.set_result(message.get("result"))

    def _check_stage(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server was told to shut down")
        if method == types.INITIALIZE:
            if self._started:
                raise JsonRpcInvalidRequest("the server is initialized already")
        elif not self._started:
            raise JsonRpcServerNotInitialized("`initialize` comes first")

    def _handler_and_params(self, method: str, message: dict[str, Json]) -> tuple[Handler, Json]:
        if method in LATE:
            register_late(self._server, method)
        if (raw := self.raw.get(method)) is not None:
            params = message.get("params")
            return raw, params if isinstance(params, dict) else {}
        handler = self._get_handler(method)
        message_type = self.get_message_type(method)
        if message_type is None:
            return handler, message.get("params")
        try:
            return handler, self._converter.structure(message, message_type).params
        except Exception as error:
            raise JsonRpcInvalidParams(f"the parameters of {method} are not right: {_faults(error)}") from error

    def _leave(self) -> None:
        """End; after `shutdown` with 0, and not before that was answered."""
        status = 0 if self._shutdown else 1
        parting = None if self._parting is None else self._request_futures.get(self._parting)
        if parting is None or parting.done():
            self._server.stop(status)
        else:
            parting.add_done_callback(lambda _: self._server.stop(status))

    def _cancel(self, params: Json) -> None:
        key = params.get("id") if isinstance(params, dict) else None
        future = self._request_futures.pop(key, None) if isinstance(key, str | int) else None
        if future is not None:
            future.cancel()

    # -- what goes out ------------------------------------------------------------------------

    def _finished(self, key: MessageId, about: tuple[str, Json], future: Future[Json]) -> None:
        self._request_futures.pop(key, None)
        if future.cancelled():
            self._fail(key, JsonRpcRequestCancelled("cancelled"))
        elif (error := future.exception()) is None:
            result = future.result()
            if isinstance(result, Written):
                self._send_text(record(jsonrpc="2.0", id=key, result=result))
            else:
                self._send_data({"jsonrpc": "2.0", "id": key, "result": result})
        elif isinstance(error, JsonRpcException):
            self._fail(key, error)
        else:
            self._log_failure(about, error)
            sentence = f"{about[0]} failed in the server ({type(error).__name__}: {error}); its log has the details"
            self._fail(key, JsonRpcInternalError(sentence))

    def _fail(self, key: MessageId | None, error: JsonRpcException) -> None:
        answer = {"code": error.code, "message": error.message}
        if error.data is not None:
            answer["data"] = error.data
        self._send_data({"jsonrpc": "2.0", "id": key, "error": answer})

    def _log_failure(self, about: tuple[str, Json], error: BaseException) -> None:
        method, params = about
        place = self._server.place_of(params)
        logger.error("%s failed%s", method, f" for {place}" if place else "", exc_info=error)

    def notify(self, method: str, params: Json = None) -> None:
        if isinstance(params, Written):
            self._send_text(record(jsonrpc="2.0", method=method, params=params))
        else:
            self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Json = None, limit: float = 30.0) -> Json:
        """The client's answer as it came. Raises `Refused`, or `TimeoutError` after `limit` seconds."""
        self._last_id += 1
        key = f"loop-ls-{self._last_id}"
        future = asyncio.get_running_loop().create_future()
        self._asked[key] = future
        self._send_data({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
        try:
            return await asyncio.wait_for(future, limit)
        finally:
            self._asked.pop(key, None)

    def _send_data(self, data: Json) -> None:
        try:
            body = json.dumps(data, separators=(",", ":"), default=self._serialize_message)
        except (TypeError, ValueError, AttributeError):
            logger.exception("An answer cannot be written as JSON")
            if not isinstance(data, dict) or "result" not in data:
                return
            error = {"code": JsonRpcInternalError.CODE, "message": "the answer cannot be written as JSON"}
            body = json.dumps({"jsonrpc": "2.0", "id": data["id"], "error": error})
        self._send_text(body)

    def _send_text(self, body: str) -> None:
        if self.writer is None:
            return
        try:
            self.writer.write(body.encode("ascii"))
        except OSError:
            logger.info("The client is gone")
            self.writer = None
            self._server.stop(0 if self._shutdown else 1)

    # -- life cycle and texts -----------------------------------------------------------------

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: Json) -> Json:
        answer = self._server.initialize(params)
        self._started = True
        return answer

    @lsp_method(types.INITIALIZED)
    def lsp_initialized(self, params: Json) -> None:
        self._server.initialized()

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, params: Json) -> None:  # type: ignore[override]
        for key, future in tuple(self._request_futures.items()):
            if key != self._parting:
                future.cancel()
        await self._server.close()

    @lsp_method(types.EXIT)
    def lsp_exit(self, params: Json) -> None:  # type: ignore[override]
        self._leave()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Json) -> None:
        self._server.texts.opened(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Json) -> None:
        self._server.texts.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Json) -> None:
        self._server.texts.closed(params)


def _faults(error: Exception) -> str:
    """What cattrs found, as `required field missing @ $.params.textDocument`."""
    from cattrs import transform_error

    return "; ".join(transform_error(error)[:3])
