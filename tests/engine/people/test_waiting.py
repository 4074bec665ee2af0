"""Whatever a run waits for is shown and answered on every surface, after the engine was killed, too; whoever answers
second hears who was first, where, with what and when."""

from __future__ import annotations

import pytest

from tests.engine.people.answering import answered
from tests.engine.people.surfaces import NEXT, SURFACES, Surfaces
from tests.engine.people.ways import WAYS, Place, Way

#: Each surface is the first once, and the second.
FIRST = [SURFACES[number % len(SURFACES)] for number in range(len(WAYS))]
USUAL = [(way, one, NEXT[one]) for way, one in zip(WAYS, FIRST, strict=True)]
CRASHED = [(WAYS[1], "socket"), (WAYS[3], "vscode"), (WAYS[5], "mcp")]


@pytest.mark.parametrize(("way", "first", "second"), USUAL, ids=lambda one: getattr(one, "name", one))
async def test_UP_96_what_waits_is_answered_and_the_second_hears_who_was_first(
    place: Place, surfaces: Surfaces, way: Way, first: str, second: str
) -> None:
    await answered(place, surfaces, way, first, second, killed=False)


@pytest.mark.parametrize(("way", "first"), CRASHED, ids=lambda one: getattr(one, "name", one))
async def test_UP_96_it_is_asked_again_after_a_crash(place: Place, surfaces: Surfaces, way: Way, first: str) -> None:
    await answered(place, surfaces, way, first, NEXT[first], killed=True)
