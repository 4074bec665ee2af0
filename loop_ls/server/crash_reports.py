"""A fault of ours leaves a file that a person can attach to an issue: what was asked, where, and the trace.

No text of a document is in its parameters, only names of files and places: of what a client sends, numbers are kept,
and texts of the few members that never hold words of the user. Each fault is written once per session, and of
the files in the folder only the last ones are kept.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loop_ls.server.documents.session import Session

logger = logging.getLogger(__name__)

FOLDER = "crashes"
#: Files that are kept.
_MOST = 20
#: Members of parameters whose texts are kept: they are the protocol's or names of files.
_KEPT = frozenset({"uri", "oldUri", "newUri", "rootUri", "languageId", "command", "triggerCharacter", "ch", "kind"})
#: Members that are left out as a whole: their keys are words of the user, too.
_CLOSED = frozenset({"arguments", "settings", "initializationOptions"})
_LEFT_OUT = "(left out)"
_DEPTH = 6


class CrashReports:
    """They lie in the data folder of the project that the fault is about (UP-34)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: dict[str, Path | None] = {}

    def write(self, method: str, params: object, error: BaseException) -> Path | None:
        """The file of this fault; None where none can be written. Never raises: the fault itself is worse."""
        try:
            fault = _fault(method, error)
            if fault not in self._written:
                report = _report(method, params, self.place_of(params), error)
                self._written[fault] = _written(self._data_folder(params) / FOLDER, report)
            return self._written[fault]
        except Exception:
            logger.info("A crash report cannot be written", exc_info=True)
            return None

    def place_of(self, params: object) -> str:
        """Document and version that a message is about."""
        uri = _uri(params)
        opened = None if uri is None else self._session.find(uri)
        return uri or "" if opened is None else f"{uri} version {opened.document.version}"

    def _data_folder(self, params: object) -> Path:
        from pathlib import Path

        from loop_ls.client.engine_location import data_folder

        uri = _uri(params)
        opened = None if uri is None else self._session.find(uri)
        folder = opened.folder if opened is not None else next(self._session.all_folders(), None)
        if folder is None or folder.path is None:
            return data_folder(Path.home(), None if folder is None else folder.data_dir)
        return data_folder(folder.engine_home, folder.data_dir)


def _uri(params: object) -> str | None:
    document = params.get("textDocument") if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None


def _fault(method: str, error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{method} {type(error).__name__} {where}"


def _report(method: str, params: object, place: str, error: BaseException) -> str:
    import json
    import os
    import platform
    import traceback

    from loop_ls import __version__
    from loop_ls.formats.common.secret import masked

    told = json.dumps(_without_texts(params, _DEPTH), indent=1, default=str, ensure_ascii=False)
    whole = "\n".join(
        (
            f"loop-ls {__version__}, {platform.python_implementation()} {platform.python_version()}, "
            f"{platform.platform()}",
            f"{method} failed{f' for {place}' if place else ''}",
            f"parameters, without texts: {told}",
            "",
            "".join(traceback.format_exception(error)),
        )
    )
    return masked(whole, os.environ)  # what an exception says may quote anything


def _without_texts(found: object, depth: int, kept: bool = False) -> object:
    if depth == 0:
        return "..."
    match found:
        case dict():
            return {key: _member(key, value, depth - 1) for key, value in found.items()}
        case list():
            return [_without_texts(one, depth - 1, kept) for one in found[:20]]
        case str() if not kept:
            return _LEFT_OUT
    return found


def _member(key: str, value: object, depth: int) -> object:
    return _LEFT_OUT if key in _CLOSED else _without_texts(value, depth, key in _KEPT)


def _written(folder: Path, report: str) -> Path:
    import os
    import time

    from loop_ls.client.engine_location import claim

    claim(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.txt"
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{path.stem.partition('+')[0]}+{number}.txt")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", errors="replace") as f:
        f.write(report)
    for old in sorted(folder.glob("*.txt"))[:-_MOST]:
        old.unlink(missing_ok=True)
    return path
