"""Whether a condition asks for several things at once (WF703)."""

from __future__ import annotations

from enum import Enum, auto

from loop_ls.rules.until.clauses import says_something, stands_alone
from loop_ls.rules.until.words import Word, group, words_of

_JOINERS = group("and or and/or nor plus &")
_ALWAYS = group("&& ||")

#: "8 or higher", "50 or fewer", "one or more": a bound, no second condition.
_BOUNDS = group("higher more less fewer lower better greater above below over under longer shorter larger smaller so")


class Joined(Enum):
    """NO: one check. CLAUSES: two clauses with one small "and" or "or". CHECKS: plainly several."""

    NO = auto()
    CLAUSES = auto()
    CHECKS = auto()


def joined(condition: str) -> Joined:
    words = [word for word in words_of(condition) if word.kind != "stop"]
    places = [place for place in range(len(words)) if _joins(words, place)]
    if len(places) > 1 or any(_is_loud(words, place) for place in places):
        return Joined.CHECKS
    if len(places) == 1:
        before, after = words[: places[0]], words[places[0] + 1 :]
        if says_something(before) and stands_alone(after, before):
            return Joined.CLAUSES
    return Joined.NO


def _joins(words: list[Word], place: int) -> bool:
    word = words[place]
    if word.plain in _ALWAYS:
        return True
    if word.plain not in _JOINERS or place in (0, len(words) - 1):
        return False
    return words[place + 1].plain not in _BOUNDS and not _is_pair_of_texts(words, place)


def _is_loud(words: list[Word], place: int) -> bool:
    return words[place].written in ("AND", "OR", "&&", "||")


def _is_pair_of_texts(words: list[Word], place: int) -> bool:
    """ "says PASS or APPROVED": alternatives of one text, as long as the joiner is not shouted too."""
    before, after = words[place - 1], words[place + 1]
    return not words[place].is_shouted and all(_is_text(word) for word in (before, after))


def _is_text(word: Word) -> bool:
    return word.kind == "quoted" or word.is_shouted
