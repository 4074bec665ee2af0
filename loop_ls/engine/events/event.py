"""One fact of a run as it was journalled, and as it travels."""

from __future__ import annotations

from datetime import UTC, datetime

from loop_ls.text.json_value import JsonObject
from loop_ls.text.record import equal_record


@equal_record
class Event:
    """`seq` counts the facts of one run without gap from 1; `position` orders the facts of all runs.

    Streamed text has neither: `seq` and `position` are 0.
    """

    run_id: str
    seq: int
    at: float
    kind: str
    body: JsonObject
    position: int = 0

    def wire(self) -> JsonObject:
        """`{runId, seq, at, kind, position, ...}`; the numbers are left out where there are none."""
        found: JsonObject = {"runId": self.run_id, "at": utc(self.at), "kind": self.kind}
        if self.seq:
            found |= {"seq": self.seq, "position": self.position}
        return self.body | found


def utc(at: float) -> str:
    """Unix seconds as `2026-01-31T12:00:00.123Z`."""
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def moment(written: str | None) -> float | None:
    """Unix seconds of what `utc` writes; None where it is no moment."""
    try:
        return None if written is None else datetime.fromisoformat(written.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
