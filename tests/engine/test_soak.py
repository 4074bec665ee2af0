"""A part of the soak (`tests/soak/soak.py` runs it for half an hour): many loops, random people, a moody provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.soak import Soak, wrong

pytestmark = pytest.mark.long


@pytest.mark.timeout(400)
async def test_twenty_seconds_of_soaking_leave_nothing_stuck_nobody_behind_and_every_fold_right(tmp_path: Path) -> None:
    soak = Soak(tmp_path, seconds=20, loops=20, call_seconds=0.5, seed=7)
    found = await soak.run()
    assert wrong(found, growth=0.25) == [], found  # this is no time to warm up
    assert found["runs"] >= 20
    assert found["said"].get("ok")
