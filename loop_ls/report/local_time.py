"""Moments of facts in the time of this machine: who reads them looks at the clock beside."""

from __future__ import annotations

from datetime import datetime


def local_time(moment: object) -> datetime | None:
    """`2026-01-02T03:04:05.678Z`, in the time zone of the person. None for what is no moment."""
    try:
        return datetime.fromisoformat(str(moment).replace("Z", "+00:00")).astimezone()
    except ValueError:
        return None
