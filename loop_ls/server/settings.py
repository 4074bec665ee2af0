"""The settings of a folder: what the editor says, with the project's own file on top.

The editor speaks for the person, `.loop-ls.yaml` for everybody who works on the project: where both
say something about a key, the file counts.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from loop_ls.formats.recognise import SETTINGS_NAME
from loop_ls.formats.settings import Settings, file_values, settings_of
from loop_ls.server.disk import read_text

logger = logging.getLogger(__name__)

#: Settings of the client itself, which this server does not read.
_CLIENT_ONLY = frozenset({"server", "trace"})


def folder_settings(path: Path | None, editor: Any) -> Settings:
    """Never raises: what cannot be used is logged and left out (UP-30, UP-35)."""
    layers: list[dict[str, Any]] = []
    if isinstance(editor, dict):
        layers.append({name: value for name, value in editor.items() if name not in _CLIENT_ONLY})
    text = None if path is None else read_text(str(path / SETTINGS_NAME))
    if text is not None:
        values, problems = file_values(text)
        layers.append(values)
        for problem in problems:
            logger.warning("%s of %s: %s", SETTINGS_NAME, path, problem.message)
    try:
        settings, problems = settings_of(*layers)
    except Exception:
        logger.exception("The settings of %s cannot be read, defaults are used", path)
        return Settings()
    for problem in problems:
        logger.info("Settings of %s: %s", path, problem.message)
    return settings
