"""How many agents of one provider work at once, in all loops of one engine together.

Each is a whole process with its own calls, so the usual number is small. Whoever waits for a place has not
begun: no limit of time runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from loop_ls.engine.providers.limits.rate_limits import Gate, limit
from loop_ls.text.json_value import Json

AT_ONCE = 5
_Key = tuple[str, int, int | None]
_GATES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, Gate]] = WeakKeyDictionary()


def gate_of(provider: str, own: Mapping[str, Json]) -> Gate:
    """`own` are the provider's settings: `maxConcurrency`, `requestsPerMinute` (starts, for an agent)."""
    at_once, per_minute = limit(own.get("maxConcurrency")) or AT_ONCE, limit(own.get("requestsPerMinute"))
    gates = _GATES.setdefault(asyncio.get_running_loop(), {})
    return gates.setdefault((provider, at_once, per_minute), Gate(at_once, per_minute))
