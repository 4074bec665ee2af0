"""Which faults are tried at all."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.sites import mutants_in


def test_a_call_that_no_test_can_miss_is_not_left_out(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "def told(x):\n    logger.info(x)\n    invariant(lambda: x, x)\n    x.clear()\n    assert_never(x)\n"
    )
    assert [mutant.what for mutant in mutants_in(file)] == ["x.clear(): left out"]
