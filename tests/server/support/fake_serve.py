"""`loop-ls serve` with a fake engine behind it: `python -m tests.server.support.fake_serve [down]`."""

from __future__ import annotations

import logging
import sys

from loop_ls.server.serve import serve_stdio
from tests.server.support.fake_engine import FakeDoor

if __name__ == "__main__":
    logging.basicConfig(level="INFO", stream=sys.stderr)
    logging.getLogger("pygls").setLevel(logging.ERROR)
    raise SystemExit(serve_stdio(FakeDoor(down="down" in sys.argv)))
