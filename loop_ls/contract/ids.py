"""Ids: how far they may be shortened, and those of iterations and stages, which no two runs share."""

from __future__ import annotations

from loop_ls.text.pattern import pattern

#: Fewer characters of an id name nothing: a slip of the finger would find a run where there are few.
SHORTEST = 4
#: What the signs of an id stand for in a place. Names hold neither, and are never empty.
_READ = {"::": ":", ":": "/"}
_SIGNS = pattern("::|:")


def place_id(run_id: str, place: str) -> str:
    """The id of what lies at a place of a run; it holds no slash."""
    return f"{run_id}:{place.replace(':', '::').replace('/', ':')}"


def place_named(run_id: str, given: str) -> str:
    """The place that an id of this run means; what is no such id is returned as it is."""
    own = f"{run_id}:"
    if not given.startswith(own):
        return given
    return _SIGNS.sub(lambda sign: _READ[sign[0]], given.removeprefix(own))
