"""Shows a text of a run as a document of its own, which any editor can do however long it is.

It lies in the data folder of the run's engine, only for its owner, under a name that stays: who closed the
editor finds it again, and it goes when the run goes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from pathlib import Path

from lsprotocol import types as lsp

from loop_ls.server.client import Client, Refused
from loop_ls.server.documents import uris
from loop_ls.text.json_value import JsonObject

logger = logging.getLogger(__name__)

#: In the data folder; the engine looks there when a run is deleted.
SHOWN = "shown"


async def show_text(client: Client, data: Path | None, run_id: str, what: str, text: str) -> str:
    """Write `text` into `data`, the folder of the run's engine, and have the editor show it; a person whose editor
    does not is told where it is. Its path."""
    path = await asyncio.to_thread(_written, data and data / SHOWN, f"{run_id}-{what}.md", text)
    if not await _shown(client, path):
        client.show(lsp.MessageType.Info, f"See {path}.")
    return str(path)


def _written(folder: Path | None, name: str, text: str) -> Path:
    """A folder for this time where that of the engine cannot be written."""
    try:
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _write(folder / name, text)
    except OSError as error:
        logger.warning("%s cannot be written: %s", folder, error)
    return _write(Path(tempfile.mkdtemp(prefix="loop-ls-")) / name, text)


def _write(path: Path, text: str) -> Path:
    """Whole or not at all, for nobody but its owner: an editor may have the one before it open."""
    handle, new = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    Path(new).replace(path)
    return path


async def _shown(client: Client, path: Path) -> bool:
    if not client.facts.shows_documents:
        return False
    params: JsonObject = {"uri": uris.from_path(path), "takeFocus": False}
    try:
        answer = await client.ask(lsp.WINDOW_SHOW_DOCUMENT, params)
    except (Refused, TimeoutError) as error:
        logger.info("The editor did not show %s: %s", path, error)
        return False
    return isinstance(answer, dict) and answer.get("success") is True
