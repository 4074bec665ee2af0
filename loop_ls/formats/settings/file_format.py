"""The settings of a project as a file format: `.loop-ls.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.formats.file_format import FileFormat

if TYPE_CHECKING:
    from loop_ls.formats.common.key_table import Shape

SETTINGS_NAME = ".loop-ls.yaml"


def _claims(path: str) -> bool:
    return path.rpartition("/")[2] == SETTINGS_NAME


def _keys() -> Shape:
    from loop_ls.formats.settings.keys import SETTINGS as TABLE

    return TABLE


SETTINGS = FileFormat("settings", "settings", _claims, _keys, may_be_empty=True)
