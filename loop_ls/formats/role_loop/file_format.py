"""The role loop as a file format: one JSON object in a folder `loops`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from loop_ls.formats.file_format import FileFormat

if TYPE_CHECKING:
    from loop_ls.formats.checks.target import Places
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.formats.common.object_parts import Parts


def _claims(path: str) -> bool:
    if not path.endswith(".json"):  # asked for each file of a tree
        return False
    file = PurePosixPath(path)
    return file.suffix == ".json" and file.parent.name == "loops"


def _keys() -> Shape:
    from loop_ls.formats.role_loop.keys import DEFINITION

    return DEFINITION


def _places() -> Callable[[Parts], Places]:
    from loop_ls.formats.role_loop.parts import places_of

    return places_of


ROLE_LOOP = FileFormat(
    "role_loop",
    "role loop",
    _claims,
    _keys,
    target="definition",
    told_as="goal",
    part="stage",
    places=_places,
    by_folder=True,
)
