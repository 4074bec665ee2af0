"""Files as they are on disk. What cannot be read is not there; nothing here raises on content."""

from __future__ import annotations

import logging
from pathlib import Path

from loop_ls.index.document import Document
from loop_ls.text.decode import MAX_BYTES, decode
from loop_ls.text.lines import Text

logger = logging.getLogger(__name__)


def read_text(path: str) -> Text | None:
    """The text of a file; None for one that is gone, too large or no text."""
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            return None
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        logger.info("%s cannot be read: %s", path, error)
        return None
    return decode(data)[0]


def read_document(uri: str, path: str) -> Document | None:
    """A document of the index. Files of other formats are not kept."""
    if path == uri:
        return None
    text = read_text(path)
    if text is None:
        return None
    document = Document.open(uri, text, path=path)
    return document if document.format is not None else None
