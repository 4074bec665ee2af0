"""Role files as a file format: `roles/NAME.md`, and the agents of Claude Code in `.claude/agents`.

Settings stand between two lines `---` at the top, the instructions of the role below. Others use such names, too, so a
file counts only where it begins with such a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from loop_ls.formats.file_format import FileFormat
from loop_ls.text.pattern import pattern

if TYPE_CHECKING:
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.formats.common.object_parts import Parts
    from loop_ls.formats.common.problem import Placed

#: Where they lie, below the folder of the project; what a later one says of a role counts.
CLAUDE_FOLDER, FOLDER = FOLDERS = (".claude/agents", "roles")
_NAMED = pattern(r"(?:.*/)?(?:\.claude/agents|roles)/[^/]+\.md$")
_OF_CLAUDE = pattern(r"(?:.*/)?\.claude/agents/[^/]+$")


def _claims(path: str) -> bool:
    return _NAMED.match(path) is not None


def is_of_claude(path: str) -> bool:
    """Whether Claude Code reads this file, too, with keys of its own."""
    return _OF_CLAUDE.match(path) is not None


def _keys() -> Shape:
    from loop_ls.formats.role_file.keys import ROLE_FILE as TABLE

    return TABLE


def _flaws() -> Callable[[Parts], Iterable[Placed]]:
    from loop_ls.formats.role_file.problems import role_file_flaws

    return role_file_flaws


ROLE_FILE = FileFormat("role_file", "role file", _claims, _keys, flaws=_flaws, front_matter=True)
