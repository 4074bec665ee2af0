"""The embedded model as the planner of an enhance loop, by command: it takes a minute of one core."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.cli.commands.test_enhance_trust import FAILS, ONE, until_state
from tests.cli.conftest import CliProject


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="the extra `local` has no wheel here")
def test_the_embedded_model_is_asked_for_a_plan_that_fits_its_room(alone: CliProject) -> None:
    """Whatever it proposes: the question about forty lines is not too long for it."""
    steps = "".join(
        f"  - name: step_{number}\n    needs: [draft]\n    run: Write part {number} of {{{{draft}}}}, at length\n"
        for number in range(12)
    )
    settings = (
        "providers:\n  small: {kind: local}\n"
        "enhance: {plannerProvider: small, plannerModel: smollm2-135m-instruct, plannerAttempts: 1,"
        " plannerTimeoutSeconds: 900, maxRounds: 2}\n"
    )
    alone.write(".loop-ls.yaml", settings)
    alone.write("report.yaml", ONE + steps)
    alone.write("report.answers.yaml", json.dumps({"answers": [FAILS, {"say": "fine"}]}))
    run_id = alone.call("enhance", "report.yaml", "--input", "tea", "--yes", "--detach").stdout.strip()
    until_state(alone, run_id, "gave up", tries=600)
    told = alone.call("runs", "events", run_id, "--json").stdout
    assert '"planner_started"' in told
    assert "context" not in told.partition('"planner_started"')[2], told
    assert any(one in told for one in ('"planner_finished"', '"no_plan"')), told
