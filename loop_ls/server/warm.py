"""Structures one example of every typed request, so that cattrs has written its code before a person waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from cattrs import Converter

_DOCUMENT = {"uri": "file:///x"}
_AT = {"line": 0, "character": 0}
_RANGE = {"start": _AT, "end": _AT}
_DIAGNOSTIC = {"range": _RANGE, "message": "x", "code": "WF001", "severity": 1}

EXAMPLES: dict[str, dict[str, Any]] = {
    types.TEXT_DOCUMENT_COMPLETION: {"textDocument": _DOCUMENT, "position": _AT, "context": {"triggerKind": 1}},
    types.TEXT_DOCUMENT_HOVER: {"textDocument": _DOCUMENT, "position": _AT},
    types.TEXT_DOCUMENT_DEFINITION: {"textDocument": _DOCUMENT, "position": _AT},
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: {"textDocument": _DOCUMENT},
    types.TEXT_DOCUMENT_CODE_LENS: {"textDocument": _DOCUMENT},
    types.TEXT_DOCUMENT_CODE_ACTION: {
        "textDocument": _DOCUMENT,
        "range": _RANGE,
        "context": {
            "diagnostics": [{"range": _RANGE, "message": "x", "code": "WF001", "severity": 1}],
            "only": ["quickfix"],
        },
    },
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: {"changes": [{"uri": "file:///x", "type": 1}]},
    types.WORKSPACE_DIAGNOSTIC: {"previousResultIds": []},
}


def warm(converter: Converter) -> None:
    for method, params in EXAMPLES.items():
        message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        converter.structure(message, types.METHOD_TO_TYPES[method][0])
