"""What people read is plain, current English: the turns of phrase that no other developer tool has stay rare."""

from __future__ import annotations

import pytest

from tests.text.user_texts import SURFACES, avoided_in, texts_of

#: Of a thousand texts of a surface. Not none: names of rules, and sentences in which a word has its usual meaning.
MOST = 12
#: Surfaces that are not swept yet, with what they have now: only ever fewer.
NOT_YET = {"documentation": 90, "VS Code": 40}


@pytest.mark.parametrize("surface", SURFACES)
def test_odd_turns_of_phrase_are_rare(surface: str) -> None:
    texts = texts_of(surface)
    assert len(texts) > 200, "the reader of texts finds the texts of the surface"
    odd = [f"{place}: {text[:80]!r}: {said[0]}" for place, text in texts if (said := avoided_in(text))]
    assert 1000 * len(odd) / len(texts) <= NOT_YET.get(surface, MOST), "\n".join(odd)


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
    ],
)
def test_what_is_odd(text: str, odd: bool) -> None:
    assert bool(avoided_in(text)) is odd
