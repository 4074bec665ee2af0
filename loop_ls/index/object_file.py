"""Files that are no workflow: role loops, assistants, settings. Each is one object, read piece by piece.

What was read of a piece is kept by `index.document` as long as the piece lives; joining it is all that
an edit costs here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from loop_ls.formats.common.key_table import Shape, shape
from loop_ls.formats.common.object_parts import Parts, PieceParts
from loop_ls.formats.registry import FORMATS

if TYPE_CHECKING:
    from loop_ls.formats.assistant.parts import AssistantParts
    from loop_ls.formats.file_format import Format
    from loop_ls.formats.role_loop.parts import RoleLoopParts
    from loop_ls.formats.role_loop.roles import Role
    from loop_ls.formats.settings.model import Settings

_NOTHING = shape("nothing", "nothing", "Not a loop file.")


def shape_of(format_: Format | None) -> Shape | None:
    """The keys of a file that is one object. The tables are imported when there is such a file."""
    found = FORMATS.get(format_ or "")
    return None if found is None or found.keys is None else found.keys()


class ObjectFile:
    """One version of such a file. Only what its format has may be asked for."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @classmethod
    def of(cls, format_: Format | None, pieces: Iterable[PieceParts]) -> ObjectFile:
        return cls(Parts.of(shape_of(format_) or _NOTHING, pieces))

    @cached_property
    def role_loop(self) -> RoleLoopParts:
        from loop_ls.formats.role_loop.parts import RoleLoopParts

        return RoleLoopParts(self.parts)

    @cached_property
    def assistants(self) -> tuple[AssistantParts, ...]:
        """The assistants of a file, each once."""
        from loop_ls.formats.assistant.parts import assistants_of

        return assistants_of(self.parts)


def roles_of(settings: Settings) -> dict[str, Role]:
    """The roles that exist: built-in ones and those of the project."""
    from loop_ls.formats.role_loop.roles import known_roles

    configured = settings.raw.get("roles")
    return known_roles(configured if isinstance(configured, dict) else None)
