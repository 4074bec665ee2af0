"""The command lines that the real programs were seen to take, and the tools that they offered for them.

`LOOP_LS_RECORD=1` writes them anew while the real programs run; every other run is compared with what is written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("command_lines.json")


def recorded(speaks: str, caller: str) -> dict[str, Any]:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    found: dict[str, Any] = known.get(speaks, {}).get(caller, {})
    return found


def seen(speaks: str, caller: str, words: list[str], tools: list[str]) -> None:
    if os.environ.get("LOOP_LS_RECORD"):
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known.setdefault(speaks, {})[caller] = {"words": words, "tools": tools}
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    assert recorded(speaks, caller) == {"words": words, "tools": tools}
