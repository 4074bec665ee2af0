"""The document that a request is about. None where it is not open or is none of our formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer
    from loop_ls.server.session import OpenDocument


class AboutDocument(Protocol):
    """Params with a `textDocument`."""

    @property
    def text_document(self) -> Any: ...


def asked(server: LoopServer, params: AboutDocument) -> OpenDocument | None:
    """We stay silent on files that are none of ours: another server answers for them."""
    opened = server.session.find(params.text_document.uri)
    return opened if opened is not None and opened.document.format is not None else None
