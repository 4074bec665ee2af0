"""Shows a text as a document of its own, which any editor can do however long it is."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.server import methods, uris
from loop_ls.server.protocol import Refused

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)


async def show_text(server: LoopServer, name: str, text: str) -> str:
    """Write `text` into a folder outside of the workspace and have the editor show it; a person whose editor
    does not is told where it is. Its path."""
    path = Path(tempfile.mkdtemp(prefix="loop-ls-")) / name
    await asyncio.to_thread(path.write_text, text, "utf-8")
    if not await _shown(server, path):
        said = {"type": methods.INFO, "message": f"It is in {path}."}
        server.protocol.notify(methods.WINDOW_SHOW_MESSAGE, said)
    return str(path)


async def _shown(server: LoopServer, path: Path) -> bool:
    if not server.client.shows_documents:
        return False
    params = {"uri": uris.from_path(path), "takeFocus": False}
    try:
        answer = await server.protocol.ask(methods.WINDOW_SHOW_DOCUMENT, params)
    except (Refused, TimeoutError) as error:
        logger.info("The editor did not show %s: %s", path, error)
        return False
    return isinstance(answer, dict) and answer.get("success") is True
