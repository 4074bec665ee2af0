"""A start that is sent again makes no second run: the id of the run follows from the key of the start.

So nothing has to be kept beside the journal: the same key leads to the same id after a restart too, and in every
process that shares the journal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from loop_ls.engine.core.errors import Refused
from loop_ls.text.json_value import Json

#: Fields of a start: the key, and what a surface knows the request by that it has turned into another one.
KEY, REQUEST = "idempotencyKey", "requestDigest"
#: Seconds after which a key may be used for another start.
KEPT = 86_400.0
LONGEST = 255
#: What is given later for the same request: the agreement that it was refused for.
_LATER = frozenset({KEY, REQUEST, "consent"})


def key_of(argument: object) -> str | None:
    """The key of a start; None where it has none. Raises `Refused`."""
    found = argument.get(KEY) if isinstance(argument, Mapping) else None
    if found is None:
        return None
    if not isinstance(found, str) or not found.isascii() or not found.isprintable() or not 0 < len(found) <= LONGEST:
        raise Refused("bad_argument", f"`{KEY}` must have 1 to {LONGEST} printable ASCII characters.")
    return found


def digest_of(argument: Mapping[str, Json]) -> str:
    """Equal for the same request, whatever the order of its fields."""
    given = argument.get(REQUEST)
    if isinstance(given, str) and given:
        return given
    told = {name: value for name, value in argument.items() if name not in _LATER}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def run_of(user: str | None, key: str, number: int) -> str:
    """The id of the run that `number` other starts with this key came before, each of them more than a day old."""
    told = "\0".join((user or "", "owner" if user is None else "user", key, str(number)))
    return hashlib.blake2b(told.encode(), digest_size=6).hexdigest()


def conflict(run_id: str) -> Refused:
    return Refused(
        "idempotency_conflict",
        f"The idempotency key was already used by another request, for run {run_id}.",
        "Use a new key for each start, and the same key only to retry.",
        {"runId": run_id},
    )
