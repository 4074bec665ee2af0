"""The language server protocol as this server speaks it: who handles a message, and what goes back.

Handlers read the params as they came, because structuring them costs more than handling them (and
importing what could structure them, more than everything else a start needs). Whatever is malformed
gets an error answer and never a popup; a fault of ours answers the one request it hit.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from loop_ls.server.routes import LATE, register_late
from loop_ls.server.rpc import methods
from loop_ls.server.rpc.errors import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from loop_ls.server.rpc.message_queue import Arrival, Cancelled, EndOfInput, Malformed
from loop_ls.server.rpc.raw_json import Written, record

if TYPE_CHECKING:
    from pathlib import Path

    from loop_ls.server.language_server import LoopServer
    from loop_ls.server.rpc.transport import Writer

logger = logging.getLogger(__name__)

Json = Any
MessageId = str | int
Handler = Callable[..., Any]


class Refused(Exception):
    """The client answered one of our requests with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class LoopProtocol:
    """One connection to one client."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        self.writer: Writer | None = None
        #: method -> its handler, which gets the params as they came
        self.raw: dict[str, Handler] = {
            methods.INITIALIZE: self._initialize,
            methods.INITIALIZED: self._initialized,
            methods.SHUTDOWN: self._shut_down,
            methods.EXIT: self._exit,
            methods.TEXT_DOCUMENT_DID_OPEN: self._opened,
            methods.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            methods.TEXT_DOCUMENT_DID_CLOSE: self._closed,
        }
        self._started = self._shutdown = False
        self._running: dict[MessageId, asyncio.Task[Json]] = {}
        self._parting: MessageId | None = None
        self._asked: dict[MessageId, asyncio.Future[Json]] = {}
        self._last_id = 0

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
        if method == methods.SHUTDOWN:
            self._shutdown, self._parting = True, key
        about = (method, message.get("params"))
        if asyncio.iscoroutinefunction(handler):
            task = self._running[key] = asyncio.ensure_future(handler(params))
            task.add_done_callback(partial(self._finished, key, about))
            return
        try:
            result = handler(params)
        except Exception as error:
            self._failed(key, about, error)
        else:
            self._answer(key, result)

    def _notified(self, method: str, message: dict[str, Json]) -> None:
        if method == methods.CANCEL_REQUEST:
            self._cancel(message.get("params"))
            return
        if method != methods.EXIT and (self._shutdown or not self._started):
            logger.info("%s is ignored outside of a session", method)
            return
        about = (method, message.get("params"))
        try:
            handler, params = self._handler_and_params(method, message)
            if asyncio.iscoroutinefunction(handler):
                self._server.own(handler(params), partial(self._unheeded, about))
            else:
                handler(params)
        except JsonRpcMethodNotFound:
            logger.debug("%s is not known and is ignored", method)
        except Exception as error:
            self._unheeded(about, error)

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
        if method == methods.INITIALIZE:
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
        raise JsonRpcMethodNotFound(f"this server does not know {method}")

    def _leave(self) -> None:
        """End; after `shutdown` with 0, and not before that was answered."""
        status = 0 if self._shutdown else 1
        parting = None if self._parting is None else self._running.get(self._parting)
        if parting is None or parting.done():
            self._server.stop(status)
        else:
            parting.add_done_callback(lambda _: self._server.stop(status))

    def _cancel(self, params: Json) -> None:
        key = params.get("id") if isinstance(params, dict) else None
        task = self._running.pop(key, None) if isinstance(key, str | int) else None
        if task is not None:
            task.cancel()

    # -- what goes out ------------------------------------------------------------------------

    def _finished(self, key: MessageId, about: tuple[str, Json], task: asyncio.Task[Json]) -> None:
        self._running.pop(key, None)
        if task.cancelled():
            self._fail(key, JsonRpcRequestCancelled("cancelled"))
        elif (error := task.exception()) is not None:
            self._failed(key, about, error)
        else:
            self._answer(key, task.result())

    def _answer(self, key: MessageId, result: Json) -> None:
        if isinstance(result, Written):
            self._send_text(record(jsonrpc="2.0", id=key, result=result))
        else:
            self._send_data({"jsonrpc": "2.0", "id": key, "result": result})

    def _failed(self, key: MessageId, about: tuple[str, Json], error: BaseException) -> None:
        if isinstance(error, JsonRpcException):
            self._fail(key, error)
        else:
            report = self._log_failure(about, error)
            more = f"a report is in {report}" if report else "its log has the details"
            sentence = f"{about[0]} failed in the server ({type(error).__name__}: {error}); {more}"
            self._fail(key, JsonRpcInternalError(sentence))

    def _fail(self, key: MessageId | None, error: JsonRpcException) -> None:
        answer = {"code": error.code, "message": error.message}
        if error.data is not None:
            answer["data"] = error.data
        self._send_data({"jsonrpc": "2.0", "id": key, "error": answer})

    def _unheeded(self, about: tuple[str, Json], error: BaseException) -> None:
        """A notification without effect: nobody waits for an answer, and a client's fault is none of ours."""
        if isinstance(error, JsonRpcException):
            logger.warning("%s is ignored: %s", about[0], error.message)
        else:
            self._log_failure(about, error)

    def _log_failure(self, about: tuple[str, Json], error: BaseException) -> Path | None:
        """Into the log, and into a file; where that is."""
        method, params = about
        place = self._server.place_of(params)
        report = self._server.crash_report(method, params, error)
        told = f"; to tell us, attach {report}" if report else ""
        logger.error("%s failed%s%s", method, f" for {place}" if place else "", told, exc_info=error)
        return report

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
        except asyncio.CancelledError:
            self._send_data({"jsonrpc": "2.0", "method": methods.CANCEL_REQUEST, "params": {"id": key}})
            raise
        finally:
            self._asked.pop(key, None)

    def _send_data(self, data: Json) -> None:
        try:
            body = json.dumps(data, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):
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

    def _initialize(self, params: Json) -> Json:
        answer = self._server.initialize(params)
        self._started = True
        return answer

    def _initialized(self, params: Json) -> None:
        self._server.initialized()

    async def _shut_down(self, params: Json) -> None:
        for key, future in tuple(self._running.items()):
            if key != self._parting:
                future.cancel()
        await self._server.close()

    def _exit(self, params: Json) -> None:
        self._leave()

    def _opened(self, params: Json) -> None:
        self._server.texts.opened(params)

    def _changed(self, params: Json) -> None:
        self._server.texts.changed(params)

    def _closed(self, params: Json) -> None:
        self._server.texts.closed(params)
