"""The log of the engine on standard error: lines for people, or one JSON object a line for machines.

No key reaches it, whoever wrote the line: values of variables that look like keys and everything that
has the shape of a key are masked.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from loop_ls.engine.core.redaction import redact
from loop_ls.formats.common.secret import secrets_of

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")

Secrets = Callable[[], Iterable[str]]
#: What we and what the libraries say. These tell at the lower levels what is sent and received: prompts and answers.
_OURS, _CLIENT_OF_TOOLS = "loop_ls", "mcp.client"
#: What every record has; the rest was given by whoever logs.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Lines(logging.Formatter):
    """For people."""

    def __init__(self, secrets: Secrets = tuple) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), self._secrets())


class Objects(logging.Formatter):
    """For machines: `{at, level, logger, message, error?, ...}`, always one line."""

    def __init__(self, secrets: Secrets = tuple) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        found: dict[str, object] = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._masked(record.getMessage()),
        }
        for name, value in vars(record).items():
            if name not in _OWN:
                found[name] = value if isinstance(value, bool | int | float | None) else self._masked(str(value))
        if record.exc_info:
            found["error"] = self._masked(self.formatException(record.exc_info))
        return json.dumps(found, ensure_ascii=True)

    def _masked(self, text: str) -> str:
        return redact(text, self._secrets())


def log_to_stderr(form: str = "text", level: str = "warning", secrets: Secrets | None = None) -> None:
    """`form` and `level` as the settings have them; what is none of them is the usual one. `secrets` answers
    what no line may hold, asked for each of them; without it what the environment calls secret."""
    known = secrets_of(os.environ)
    masked = secrets or (lambda: known)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Objects(masked) if form == "json" else Lines(masked))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    wanted = getattr(logging, level.upper()) if level in LEVELS else logging.WARNING
    root.setLevel(max(wanted, logging.WARNING))
    logging.getLogger(_OURS).setLevel(wanted)
    # It logs what it could not read, which runs tell themselves, and their record alone holds texts.
    logging.getLogger(_CLIENT_OF_TOOLS).setLevel(logging.CRITICAL)
    logging.getLogger(__name__).debug("The log starts at level %s.", level)
