"""The assistant as a file format: `*.assistant.yaml` or `.json`, one assistant or a list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loop_ls.formats.file_format import FileFormat
from loop_ls.text.pattern import pattern

if TYPE_CHECKING:
    from loop_ls.formats.checks.target import Places
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.formats.common.object_parts import Parts

_NAMED = pattern(r"[^/]*\.assistant\.(?:ya?ml|json)$")


def _claims(path: str) -> bool:
    return _NAMED.match(path.rpartition("/")[2]) is not None


def _keys() -> Shape:
    from loop_ls.formats.assistant.keys import ASSISTANT_FILE

    return ASSISTANT_FILE


def _places() -> Callable[[Parts], Places]:
    from loop_ls.formats.assistant.parts import places_of

    return places_of


ASSISTANT = FileFormat(
    "assistant", "assistant", _claims, _keys, target="assistant", told_as="message", places=_places, by_folder=True
)
