"""The file of answers next to a workflow: `slugify.answers.yaml` for `slugify.yaml`."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from loop_ls.engine.providers.script import Script, ScriptFault, read_script
from loop_ls.formats.plain import plain
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text

SUFFIX = ".answers.yaml"
MOST_BYTES = 8 * 1024 * 1024


def answers_path(workflow: str) -> str:
    """Where the answers for a workflow file stand, whether or not they are there."""
    return str(PurePosixPath(workflow).with_suffix("")) + SUFFIX


def script_beside(root: Path, workflow: str) -> Script | None:
    """The script for `workflow` (relative to `root`), or None. Raises `ScriptFault`."""
    path = root / answers_path(workflow)
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > MOST_BYTES:
            raise ScriptFault(f"{path.name} is larger than {MOST_BYTES // 1024 // 1024} MiB")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptFault(f"{path.name} cannot be read: {error}") from None
    return read_script(values_of(text, path.name), path.name)


def values_of(text: str, name: str) -> dict[str, Any]:
    """A small YAML document as plain values. Raises `ScriptFault` at its first fault."""
    tree = read_yaml(Text.of(text))
    values: dict[str, Any] = {}
    for piece in tree.pieces:
        for fault in piece.faults:
            line = tree.start_of(piece) + fault.span.start.line + 1
            raise ScriptFault(f"{name}, line {line}: {fault.message}")
        if piece.key is not None:
            values.setdefault(piece.key.text, plain(piece.node))
    return values
