"""The editor of the enhance laboratory applies edits as real ones do (`tests/editors/test_edits_contract.py`)."""

from __future__ import annotations

import pytest

from tests.engine.enhance.editor_contract import CASES, Case
from tests.engine.enhance.loops import applied


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_fake_editor_applies_edits_as_real_ones_do(case: Case) -> None:
    assert applied(case.before, {"edits": case.edits}) == case.after
