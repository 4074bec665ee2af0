"""Every way of waiting on every pair of surfaces, and on every surface after a crash."""

from __future__ import annotations

import pytest

from tests.engine.people.answering import answered
from tests.engine.people.surfaces import NEXT, SURFACES, Surfaces
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
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_every_surface_after_a_crash(place: Place, surfaces: Surfaces, way: Way) -> None:
    for first in SURFACES:
        await answered(place, surfaces, way, first, NEXT[first], killed=True)
