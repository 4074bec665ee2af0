"""Ids of iterations and stages: the same place in two runs has two of them, and each leads back to its place."""

from __future__ import annotations

import pytest

from loop_ls.contract.ids import place_id, place_named


@pytest.mark.parametrize("place", ["develop/3", "s:2/1", "each/4.2/review", "a%2Fb/%run-2/c d/1", "a::b/1", "plan"])
def test_an_id_leads_to_its_place_in_its_run_alone(place: str) -> None:
    id_ = place_id("7f3a19c2", place)
    assert id_.startswith("7f3a19c2:")
    assert "/" not in id_
    assert place_named("7f3a19c2", id_) == place
    assert place_named("7f3a", id_) == id_, "an id of another run"
    assert place_named("7f3a19c2", place) == place


def test_places_that_look_alike_have_ids_of_their_own() -> None:
    assert len({place_id("r", place) for place in ("s:2/1", "s/2/1", "s/2:1", "s:2:1")}) == 4
