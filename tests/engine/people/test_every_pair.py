"""Every way of waiting on every pair of surfaces, also after a crash."""

from __future__ import annotations

import pytest

from tests.engine.people.answering import answered
from tests.engine.people.surfaces import SURFACES, Surfaces
from tests.engine.people.ways import WAYS, Place, Way

PAIRS = [(one, other) for one in SURFACES for other in SURFACES if one != other]


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_every_pair_of_surfaces(place: Place, surfaces: Surfaces, way: Way) -> None:
    for first, second in PAIRS:
        await answered(place, surfaces, way, first, second, killed=False)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", SURFACES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_every_pair_after_a_crash(place: Place, surfaces: Surfaces, way: Way, first: str) -> None:
    for second in SURFACES:
        if second != first:
            await answered(place, surfaces, way, first, second, killed=True)
