"""Whether two rounds fail in the same way: a hash of what failed, without anything that varies by itself.

Outputs, costs, times, ids and a judge's prose are left out on purpose: they differ every time, and a
fingerprint that held them would never repeat. So is the wording of a criterion: a plan that only says `until`
in other words has not come any further.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from loop_ls.engine.core.fixation import normalised
from loop_ls.engine.enhance.report.failures import FailedStep, independent


def fingerprint(failures: Iterable[FailedStep]) -> str | None:
    """64 hex digits; None where nothing failed that counts."""
    counting = independent(failures)
    if not counting:
        return None
    tuples = sorted({tuple(map(str, _identity(one))) for one in counting})
    written = json.dumps(tuples, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(written.encode()).hexdigest()


def _identity(one: FailedStep) -> tuple[object, ...]:
    error = one.error or {}
    return (
        one.step,
        one.kind,
        error.get("code", ""),
        normalised(str(error.get("message", ""))),
        one.verifier.verdict,
        one.iterations["exit_reason"] if one.iterations else "",
    )
