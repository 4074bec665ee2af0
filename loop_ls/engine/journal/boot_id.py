"""Telling one life of the machine from the next: a power failure loses more than the end of a process."""

from __future__ import annotations

import time
from pathlib import Path

#: Clocks are corrected by seconds; a machine that was started anew is more than this apart.
MINUTES = 5


def boot_mark() -> str:
    """Equal as long as the machine runs. Where the system does not say, its start in steps of minutes:
    at worst a run is told too often that something may have been paid twice."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return str(round((time.time() - time.monotonic()) / (60 * MINUTES)))
