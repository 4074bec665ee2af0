"""Cutting texts for vectors: nothing lost, nothing too long, at the places that the strategy says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loop_ls.engine.bodies.chunks import CHARACTERS_PER_TOKEN, chunks

TEXT = "One is first. Two follows it!\nThree asks? “Four.” Five ends."


def texts(text: str, strategy: str, size: int, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in chunks(text, strategy, size, overlap)]  # type: ignore[arg-type]


def test_WB_156_sentences_stay_whole_and_are_packed_together() -> None:
    assert texts(TEXT, "sentence", 8) == ["One is first. Two follows it!", "Three asks? “Four.” Five ends."]
    assert texts(TEXT, "sentence", 4) == ["One is first.", "Two follows it!", "Three asks?", "“Four.”", "Five ends."]


def test_WB_156_sentences_of_other_scripts_end_too() -> None:
    assert texts("猫が好き。犬も好き。", "sentence", 2) == ["猫が好き。", "犬も好き。"]


def test_WB_156_signs_without_a_word_are_no_sentence() -> None:
    assert texts("One is it. . Two is it.", "sentence", 3) == ["One is it. .", "Two is it."]
    assert texts("0123456789. . Two.", "sentence", 3)[0] == "0123456789."  # there is no room for more


def test_WB_156_paragraphs_end_at_blank_lines() -> None:
    assert texts("a b. c d.\n\ne f.\n \n\ng h i j k", "paragraph", 3) == ["a b. c d.", "e f.", "g h i j k"]


def test_WB_156_fixed_lengths_share_their_ends() -> None:
    assert texts("abcdefghij", "fixed", 1, 0) == ["abcd", "efgh", "ij"]
    assert texts("abcdefghij", "fixed", 2, 1) == ["abcdefgh", "efghij"]


def test_WB_156_sizes_out_of_range_are_the_nearest_that_work() -> None:
    assert texts("abcdefghij", "fixed", 0, 0) == texts("abcdefghij", "fixed", 1, 0) == ["abcd", "efgh", "ij"]
    assert texts("abcdefghij", "fixed", 2, -3) == ["abcdefgh", "ij"]
    assert texts("abcdefghij", "fixed", 2, 9) == ["abcdefgh", "efghij"], "half of the size is the most"


def test_WB_156_the_tokens_of_a_chunk_are_rounded_up() -> None:
    assert [chunk.tokens for chunk in chunks("abcdefghi", "fixed", 2, 0)] == [2, 1]


def test_WB_156_a_sentence_that_is_too_long_is_cut() -> None:
    assert texts("a" * 10 + ". End.", "sentence", 2) == ["aaaaaaaa", "aa.", "End."]


def test_WB_156_an_overlap_repeats_whole_sentences() -> None:
    found = texts("Aa bb. Cc dd. Ee ff. Gg hh.", "sentence", 4, 2)
    assert found == ["Aa bb. Cc dd.", "Cc dd. Ee ff.", "Ee ff. Gg hh."]


def test_WB_156_what_fits_exactly_is_packed_and_repeated() -> None:
    assert texts("Aaaaaaa. Bbbbbb. C.", "sentence", 4) == ["Aaaaaaa. Bbbbbb.", "C."]
    assert texts("Aaaaaaa. Bbbbbbb. Ccccccc.", "sentence", 5, 2) == ["Aaaaaaa. Bbbbbbb.", "Bbbbbbb. Ccccccc."]
    assert texts("Aaaaaaaa. Bbbbbbbb. Ccccc.", "sentence", 5, 2) == ["Aaaaaaaa. Bbbbbbbb.", "Ccccc."]


def test_WB_156_an_overlap_repeats_as_many_sentences_as_it_holds() -> None:
    found = texts("Aa. Bb. Cc. Dd. Ee. Ff. Gg.", "sentence", 4, 2)
    assert found == ["Aa. Bb. Cc. Dd.", "Cc. Dd. Ee. Ff.", "Ee. Ff. Gg."]


def test_WB_156_blank_text_has_no_chunks() -> None:
    assert texts("  \n\n ", "sentence", 5) == texts("", "fixed", 5) == []


@given(
    st.text(st.sampled_from("ab.! \n。")),
    st.sampled_from(["sentence", "paragraph", "fixed"]),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_WB_156_no_word_is_lost_and_no_chunk_is_too_long(text: str, strategy: str, size: int, overlap: int) -> None:
    found = chunks(text, strategy, size, overlap)  # type: ignore[arg-type]
    covered = {at for chunk in found for at in range(chunk.start, chunk.end)}
    assert all(text[at].isspace() or at in covered for at in range(len(text)))
    assert all(0 < len(chunk.text) <= size * CHARACTERS_PER_TOKEN for chunk in found)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in found)
    assert [chunk.start for chunk in found] == sorted(chunk.start for chunk in found)
