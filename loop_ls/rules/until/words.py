"""The words of a condition, and the small word lists that reading it needs.

The lists are closed on purpose: a word that is on none of them is taken for something to look for,
so an unknown word never causes a report (false alarms cost more than misses).
"""

from __future__ import annotations

import re
from functools import lru_cache

from loop_ls.text.pattern import pattern
from loop_ls.text.record import equal_record

_WORD = pattern(
    r"""
      (?P<quoted>"[^"\n]+"|“[^”\n]+”|`[^`\n]+`|(?<![\w])'[^'\n]+'(?![\w]))
    | (?P<place>\{\{[^}]*\}\})
    | (?P<number>[<>=≤≥]*\s*\d[\d.,:/%]*)
    | (?P<word>[^\W\d_][\w'’\-]*)
    | (?P<sign>&&|\|\||&|[<>=≤≥]+)
    | (?P<stop>[,;:.!?()—–])
    """,
    re.VERBOSE,
)


@equal_record
class Word:
    """One word as written, and in small letters without a closing `'s`. `kind` tells words from
    numbers, quoted texts, placeholders, signs and punctuation (`stop`)."""

    written: str
    plain: str
    kind: str

    @property
    def is_shouted(self) -> bool:
        """In capitals only: `PASS`, `AND`."""
        return self.kind == "word" and len(self.written) > 1 and self.written.isupper()


@lru_cache(maxsize=2048)
def words_of(condition: str) -> tuple[Word, ...]:
    return tuple(
        Word(match[0], match[0].replace("’", "'").casefold().removesuffix("'s"), match.lastgroup or "")
        for match in _WORD.finditer(condition)
    )


def group(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = group("it this that these those they them everything all anything something everyone i we you one")

#: Nouns that name the thing judged and nothing in it.
CATCH_ALL = group(
    "output outputs result results outcome outcomes response responses reply replies answer answers thing things stuff"
    " quality work job"
)

JUDGEMENTS = group(
    "good fine nice better best great acceptable right ok okay done perfect correct satisfactory satisfying satisfied"
    " decent adequate suitable appropriate proper reasonable ready finished improved excellent wonderful amazing"
    " awesome solid happy pleased fantastic superb well high sufficient ideal neat worse bad"
)

#: Words that add nothing to look for.
FILLERS = group(
    "a an the is are was were be been being am isn't aren't it's that's i'm we're you're they're"
    " look looks looked looking seem seems seemed feel feels felt appear appears appeared sound sounds become becomes"
    " get gets got gotten has have had do does did should must can could will would may might shall"
    " very really quite pretty rather so too enough now already just still finally totally completely fully entirely"
    " absolutely truly overall generally perfectly sufficiently more much even far most not to of in for with and or"
    " than as before last time times previous previously earlier prior the when if once until possible me us my our"
    " your its user's version iteration attempt round try whole entire final current here there of"
)
