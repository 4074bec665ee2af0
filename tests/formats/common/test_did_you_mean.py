"""Which word was meant."""

import pytest

from loop_ls.formats.common.did_you_mean import distance, nearest


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xyz", 3), ("", "ab", 2)],
)
def test_distance(one: str, other: str, expected: int) -> None:
    assert distance(one, other, 5) == expected
    assert distance(other, one, 5) == expected


def test_distance_gives_up_beyond_its_limit() -> None:
    assert distance("abcdef", "uvwxyz", 2) == 3


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("draft", ["drafts", "craft"], "drafts"),
        ("darft", ["draft"], "draft"),
        ("dr", ["draft"], None),
        ("revw", ["review"], None),  # two edits are too many for a short word
        ("reviw_all", ["review_all"], "review_all"),
        ("Draft-One", ["draft_one", "draft_two"], "draft_one"),
        ("same", ["same"], None),
        ("x", [], None),
    ],
)
def test_WF501_nearest(word: str, known: list[str], expected: str | None) -> None:
    assert nearest(word, known) == expected
