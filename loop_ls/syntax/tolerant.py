"""stub"""

from __future__ import annotations

from loop_ls.syntax.nodes import Node
from loop_ls.text.fault import Fault


def read(lines: tuple[str, ...]) -> tuple[Node | None, list[Fault]]:
    return None, []
