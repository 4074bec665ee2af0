"""Where keys come from: the environment, else the keyring of the operating system.

Nowhere else, and never from a file of a project. The keyring is asked only where the package `keyring`
(extra `keyring`) is installed; entries belong to the service `loop-ls` and are called like the variables.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping

from loop_ls.extras import is_installed

SERVICE = "loop-ls"

logger = logging.getLogger(__name__)


class Keys:
    """Keys by the names of their variables. What the keyring said is kept for the life of the engine."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._kept: dict[str, str] = {}

    def get(self, variable: str) -> str:
        """The key, or nothing. The keyring may take a moment the first time: not for the loop's own thread."""
        found = self.at_hand(variable)
        if found is None:
            found = self._kept[variable] = _from_keyring(variable)
        return found

    def from_keyring(self) -> tuple[str, ...]:
        """What the keyring has given so far."""
        return tuple(key for key in self._kept.values() if key)

    def at_hand(self, variable: str) -> str | None:
        """The same without waiting; None where the keyring would have to be asked."""
        if not variable:
            return ""
        return self._environ.get(variable, "").strip() or self._kept.get(variable)


def keyring_is_there() -> bool:
    return is_installed("keyring")


def _from_keyring(variable: str) -> str:
    if not keyring_is_there():
        return ""
    try:
        return (importlib.import_module("keyring").get_password(SERVICE, variable) or "").strip()
    except Exception as error:  # a locked or missing keyring is as good as none
        logger.warning("The keyring cannot be read for %s: %s", variable, type(error).__name__)
        return ""
