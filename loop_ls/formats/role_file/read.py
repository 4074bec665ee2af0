"""The text of a role file as an entry of the setting `roles`. What cannot be used is left out; its rules tell of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.role_file.keys import ROLE_FILE
from loop_ls.formats.role_loop.roles import Access
from loop_ls.syntax.tree import Tree, read_front_matter
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.lines import Text

#: What a role is called: role loops write it, and people type it.
ROLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: Words of Claude Code for a model of its own choice, and the one that means the model of whoever asks.
TIERS, INHERIT = ("sonnet", "opus", "haiku"), "inherit"
_READING = frozenset({"read", "grep", "glob", "ls", "file_read", "file_list", "file_search", "notebookread"})

#: Tools of Claude Code that no stage gets, or that change nothing: a role that names them only reads all the same.
_BESIDE = frozenset({"task", "agent", "todowrite", "todoread", "skill", "exitplanmode"})


def read_role(text: str | Text, path: str) -> tuple[str, JsonObject] | None:
    """The name of a role and its values as the setting `roles` holds them; None: the file is no role."""
    tree = read_front_matter(text if isinstance(text, Text) else Text.of(text))
    if tree is None:
        return None
    values = {piece.key.text: plain(piece.node) for piece in tree.pieces if piece.key is not None}
    name = values.get("name", PurePosixPath(path).stem)
    if not isinstance(name, str) or ROLE_NAME.fullmatch(name) is None:
        return None
    found: JsonObject = {key: values[key] for key in ROLE_FILE.keys if key in values and key not in ("name", "tools")}
    if (body := body_of(tree)).strip():
        found["instructions"] = body.strip()
    tools = tools_in(values.get("tools"))
    if tools is not None:
        found["tools"] = list(tools)
        found.setdefault("access", access_of(tools))
    if found.get("model") == INHERIT:
        del found["model"]
    if found.get("model") in TIERS:
        found.setdefault("provider", "claude-code")
    return name, found


def body_of(tree: Tree) -> str:
    """What stands below the settings."""
    lines = tree.text.lines
    return "\n".join(lines[front_end(lines) + 1 :])


def front_end(lines: Sequence[str]) -> int:
    """The number of the line that ends the keys."""
    return next((number for number, line in enumerate(lines) if number and line.rstrip() == "---"), len(lines))


def tools_in(value: Json) -> tuple[str, ...] | None:
    """Tools as a list or as words between commas; None: nothing usable is written."""
    if isinstance(value, str):
        value = [*value.split(",")]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    return tuple(one.strip() for one in value if isinstance(one, str) and one.strip())


def access_of(tools: Sequence[str]) -> Access:
    """What a role may do that names its tools alone."""
    if not tools:
        return "minimal"
    return "readonly" if all(tool.lower() in _READING | _BESIDE for tool in tools) else "full"
