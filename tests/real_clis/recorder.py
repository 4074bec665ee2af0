"""Keeps the words and the number of a program and becomes it: `python recorder.py LOG PROGRAM [words]`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"words": sys.argv[3:], "pid": os.getpid()}) + "\n")
    os.execv(sys.argv[2], sys.argv[2:])
