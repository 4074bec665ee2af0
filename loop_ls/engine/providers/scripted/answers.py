"""Files of answers: the one next to a workflow (`slugify.answers.yaml` for `slugify.yaml`), and those
that the settings name (`providers.<name>.script: file`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath

from loop_ls.engine.providers.scripted.script import Script, ScriptFault, read_script
from loop_ls.formats.common.plain_value import plain
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text
from loop_ls.text.record import equal_record

SUFFIX = ".answers.yaml"
MOST_BYTES = 8 * 1024 * 1024


def answers_path(workflow: str) -> str:
    """Where the answers for a workflow file stand, whether or not they are there."""
    return str(PurePosixPath(workflow).with_suffix("")) + SUFFIX


@equal_record
class Scripts:
    """The script files that a run may use: those that were recorded with it, by path. `workflow` is relative
    to `root`; where there is one, others are read from it, and nothing outside of it. `unread`: why those that
    were there when the run began could not be read."""

    root: Path | None = None
    workflow: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    def beside(self) -> Script | None:
        """That of the workflow itself, where there is one. Raises `ScriptFault`."""
        path = answers_path(self.workflow)
        there = path in self.texts or path in self.unread or (self.root is not None and (self.root / path).exists())
        return self.named(path) if there else None

    def named(self, name: str) -> Script:
        """A file of the workspace. Raises `ScriptFault`."""
        if (text := self.texts.get(name)) is not None:
            return read_script(values_of(text, name), name)
        if (why := self.unread.get(name)) is not None:
            raise ScriptFault(f"{name} cannot be read: {why.rstrip('.')}")
        if self.root is None:
            raise ScriptFault(f"{name} was not in the workspace when the run started")
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ScriptFault(f"{name} is outside the workspace")
        return read_script(values_of(_text(path, name), name), name)


def _text(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ScriptFault(f"{name} is larger than {MOST_BYTES // 1024 // 1024} MiB")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ScriptFault(f"{name} is not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise ScriptFault(f"{name} cannot be read: {error.strerror or error}") from None


def values_of(text: str, name: str) -> JsonObject:
    """A small YAML document as plain values. Raises `ScriptFault` at its first fault."""
    tree = read_yaml(Text.of(text))
    values: JsonObject = {}
    for piece in tree.pieces:
        for fault in piece.faults:
            line = tree.start_of(piece) + fault.span.start.line + 1
            said = fault.message.rstrip(".")
            raise ScriptFault(f"{name}, line {line}: {said}")
        if piece.key is not None:
            values.setdefault(piece.key.text, plain(piece.node))
    return values
