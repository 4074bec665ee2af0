"""WF708: which words of a condition are texts to look for."""

from __future__ import annotations

import pytest

from loop_ls.formats.workflow.criterion_markers import markers, mentions


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("The review says PASS", ("PASS",)),
        ("It contains APPROVED or DONE, never both", ("APPROVED", "DONE")),
        ("Output contains EXACTLY the word COMPLETE", ("COMPLETE",)),
        ("The reply ends with ALL_GREEN", ("ALL_GREEN",)),
        ("ONLY the word OK", ()),
        ("Tests pass AND docs exist", ()),
        ("The output is one JSON object with a URL", ()),
        ("The code contains no TODO", ()),
        ("It is above {{env.LIMIT}}", ()),
        ("The reply says PASS and PASS again", ("PASS",)),
    ],
)
def test_markers(condition: str, expected: tuple[str, ...]) -> None:
    assert markers(condition) == expected


def test_a_prompt_mentions_a_marker_as_a_word_of_its_own() -> None:
    assert mentions('Say "PASS: fine" if good', "PASS")
    assert mentions("answer pass or fail", "PASS")
    assert not mentions("check the password", "PASS")
