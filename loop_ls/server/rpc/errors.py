"""Why a request is answered with an error, by the codes of JSON-RPC and of the Language Server Protocol."""

from __future__ import annotations

from typing import Any


class JsonRpcException(Exception):
    """`message` is for people, `data` for programs."""

    CODE = -32603

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.message, self.data = message, data

    @property
    def code(self) -> int:
        return self.CODE


class JsonRpcInternalError(JsonRpcException):
    CODE = -32603


class JsonRpcInvalidParams(JsonRpcException):
    CODE = -32602


class JsonRpcMethodNotFound(JsonRpcException):
    CODE = -32601


class JsonRpcInvalidRequest(JsonRpcException):
    CODE = -32600


class JsonRpcParseError(JsonRpcException):
    CODE = -32700


class JsonRpcServerNotInitialized(JsonRpcException):
    CODE = -32002


class JsonRpcRequestCancelled(JsonRpcException):
    CODE = -32800


class JsonRpcContentModified(JsonRpcException):
    CODE = -32801
