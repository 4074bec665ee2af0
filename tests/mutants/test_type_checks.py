"""What the type checker refuses of a mutant, and what it lets pass."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.sites import mutants_in
from tests.mutants.type_checks import refused


def test_a_value_that_may_be_none_is_refused_and_a_turned_number_is_not(tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(
        "def longest(text: str | None) -> bool:\n    return text is not None and len(text) > 3\n\n\n"
        "def faulty(text: str | None) -> bool:\n    return len(text) == 0\n"
    )
    mutants = mutants_in(file)
    seen = refused(mutants)
    told = {mutant.what: mutant in seen for mutant in mutants}
    assert told["text is not None and len(text) > 3: without `text is not None`"]
    assert told["text is not None and len(text) > 3: and/or swapped"]
    assert not told["len(text) > 3: comparison turned"]
    assert not told["len(text) == 0: comparison turned"]
