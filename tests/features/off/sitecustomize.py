"""On the path of a server under test: one module of the product cannot be imported there."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class SwitchedOff:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == os.environ.get("LOOP_LS_TEST_OFF"):
            raise ImportError(f"{name} is switched off")
        return None


sys.meta_path.insert(0, SwitchedOff())
