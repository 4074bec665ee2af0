"""What people read is plain, current English: the turns of phrase that no other developer tool has stay rare."""

from __future__ import annotations

import pytest

from tests.text.user_texts import SURFACES, avoided_in, texts_of

#: Of a thousand texts of a surface: only ever fewer.
MOST = 1
#: Surfaces that have more: prompts for models, and SQL with comments.
MORE = {"keys": 2, "engine": 3}


@pytest.mark.parametrize("surface", SURFACES)
def test_odd_turns_of_phrase_are_rare(surface: str) -> None:
    texts = texts_of(surface)
    assert len(texts) > 200, "the reader of texts finds the texts of the surface"
    odd = [f"{place}: {text[:80]!r}: {said[0]}" for place, text in texts if (said := avoided_in(text))]
    assert 1000 * len(odd) / len(texts) <= MORE.get(surface, MOST), "\n".join(odd)


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("`x` is no provider", True),
        ("there is no file `x`", False),
        ("There is no shell here", False),
        ("the loop goes on", True),
        ("the loop continues", False),
        ("nobody reads `x`", True),
        ("Mend the file", True),
        ("`x` has to be a number", True),
        ("`x` must be a number", False),
        ("Servers stand under `servers`", True),
        ("`x` is a link by now", True),
        ("a start shows its programs", True),
    ],
)
def test_what_is_odd(text: str, odd: bool) -> None:
    assert bool(avoided_in(text)) is odd
