"""Words that messages are made of."""

from __future__ import annotations

import pytest

from loop_ls.rules.docs.phrases import line_break


@pytest.mark.parametrize(("text", "said"), [("halt\n", True), ("halt", False), ("ha\nlt", False), ("\n", False)])
def test_a_line_break_is_told_of_behind_a_text_alone(text: str, said: bool) -> None:
    assert bool(line_break(text)) is said
