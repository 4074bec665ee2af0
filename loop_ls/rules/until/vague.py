"""Whether a condition is only a general judgement with nothing to look for (WF701)."""

from __future__ import annotations

import re

from loop_ls.rules.until.words import CATCH_ALL, FILLERS, JUDGEMENTS, PRONOUNS, words_of
from loop_ls.text.pattern import pattern

#: What the judge is shown anyway: as empty a subject as "it".
_SHOWN = pattern(r"\{\{\s*(?:step\.)?loop[.\w]*\s*\}\}")


#: A condition that is no sentence: YAML's words for true and false, or a bare number.
_NO_SENTENCE = pattern(r"\s*(?:true|false|yes|no|on|off|null|~|[-+]?\d+(?:\.\d+)?)\s*", re.IGNORECASE)


def is_no_sentence(condition: str) -> bool:
    """Whether there is nothing that a judge could answer: `until: true`."""
    return _NO_SENTENCE.fullmatch(condition) is not None


def is_vague(condition: str) -> bool:
    """True for "Everything seems okay"; False as soon as one word, number or quoted text names
    something that can be found in an output or be missing from it."""
    judged = False
    for word in words_of(condition):
        match word.kind:
            case "stop":
                continue
            case "place" if _SHOWN.fullmatch(word.written):
                continue
            case "word" if not (word.is_shouted and len(word.written) > 2):
                if word.plain in JUDGEMENTS:
                    judged = True
                elif word.plain not in FILLERS and word.plain not in PRONOUNS and word.plain not in CATCH_ALL:
                    return False
            case _:
                return False
    return judged
