"""Whether the words on one side of an "and" say something of their own (WF703).

"Word count is under 500 and tone is professional" joins two clauses; "Search and replace finished"
and "Verified and signed off" do not. No grammar: a closed list of verbs, and silence in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.rules.until.words import Word, group

VERBS = group(
    "is are was were isn't aren't wasn't weren't am has have had hasn't haven't does do did doesn't don't didn't"
    " can can't cannot could will won't would must should shouldn't may might needs need"
    " contains contain includes include mentions mention says say said states state shows show names name lists list"
    " lacks lack passes pass passed fails fail failed succeeds succeed succeeded works work worked runs run ran"
    " builds build built compiles compile compiled lints exists exist exceeds exceed equals equal matches match matched"
    " remains remain ends end ended starts start started begins begin began reads read looks look seems seem appears"
    " appear sounds sound feels feel meets meet satisfies satisfy covers cover uses use gives give returns return"
    " returned answers answer explains explain describes describe confirms confirm reports report complies comply"
    " follows follow fits fit holds hold keeps keep makes make takes take tells tell uses agrees agree accepts accept"
    " approves approve approved reaches reach reached stays stay drops drop rises rise goes go comes come finds find"
    " found finished completes completed refers refer cites cite rhymes rhyme ships stands stand sums adds"
)

#: "coverage above 80%": a comparison stands for its verb.
COMPARISONS = group("above below under over within between beyond at exceeding")

_DEPENDENT = group("how what why which that who whom whose when where whether if because since as while so")
_DETERMINERS = group("a an the another some any every each all both its their his her this that these those one")
_ARTICLES = group("a an the its their his her my your our")
_NONE = group("no zero without")


def says_something(side: Sequence[Word]) -> bool:
    """Whether the words before an "and" are a predicate at all: some verb, or "Under 200 words"."""
    return any(word.plain in VERBS or is_comparison(word) for word in side)


def stands_alone(side: Sequence[Word], before: Sequence[Word]) -> bool:
    """Whether the words behind an "and" are a check of their own, given those in front of it."""
    if side[0].plain in _DEPENDENT:
        return False
    verb = _first_verb(side)
    if verb is not None:
        return verb > 0  # "and has docs": the subject is that of the first half
    if side[0].plain in _NONE:
        return len(side) > 1 and not _says_none(before)
    return _is_bare_predicate(side, before)


def _first_verb(side: Sequence[Word]) -> int | None:
    """The place of the main verb; verbs of relative clauses ("that explains ...") do not count."""
    noun = False  # "a list", "the answer"
    for place, word in enumerate(side):
        if word.plain in _DEPENDENT:
            return None
        if not noun and (word.plain in VERBS or (place > 0 and is_comparison(word))):
            return place
        noun = word.plain in _ARTICLES
    return None


def is_comparison(word: Word) -> bool:
    return word.plain in COMPARISONS or word.written.startswith(("<", ">", "=", "≤", "≥"))


def _says_none(before: Sequence[Word]) -> bool:
    """ "Contains no errors and no warnings": the list goes on, no second check."""
    return any(word.plain in _NONE for word in before)


def _is_bare_predicate(side: Sequence[Word], before: Sequence[Word]) -> bool:
    """ "Under 200 words and friendly in tone": neither half has a subject, both are checks."""
    if not is_comparison(before[0]) or any(word.plain in VERBS for word in before):
        return False
    return side[0].kind == "word" and side[0].plain not in _DETERMINERS
