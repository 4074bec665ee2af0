"""The capitalised texts that a condition tells the judge to look for (WF708)."""

from __future__ import annotations

import re

from loop_ls.text.pattern import pattern

_SHOUTED = pattern(r"(?<![\w{.])[A-Z][A-Z0-9_\-]*[A-Z0-9](?![\w}])")

#: Emphasis, and abbreviations that people always write in capitals.
_UNMARKED = """
    AND NOT ONLY EXACTLY ALL ANY BUT NOR THE NONE NEVER ALWAYS MUST SHOULD EVERY EACH BOTH EITHER NEITHER WITH WITHOUT
    FROM INTO THAN LEAST MOST BEFORE AFTER FIRST LAST WORD WORDS TEXT THIS THAT THERE CONTAINS CONTAIN INCLUDES SAYS
    ENDS STARTS EQUALS HAS ARE WHEN THEN ELSE UNTIL SOME ZERO ONE TWO THREE MORE LESS NO OR IF IS
    JSON YAML TOML XML HTML CSS CSV PDF API APIS URL URLS URI HTTP HTTPS SQL CLI GUI LLM LLMS GPT CPU GPU RAM UTC ISO
    ASCII UTF README SDK IDE USD EUR PEP RFC REST MVP FAQ SEO KPI EOF UUID SSL TLS SSH CRLF OCR PNG JPG JPEG SVG MIT
"""
_NO_MARKERS = frozenset(_UNMARKED.split())
_DENIED = pattern(r"\b(?:no|not|without|zero|never|neither|nor|lacks|isn't|aren't|doesn't\s+\w+)\s+[\"'`]?$", re.I)


def markers(condition: str) -> tuple[str, ...]:
    """Every marker once, in order. One that must be absent ("contains no TODO") is none: nobody has
    to write it."""
    found = dict.fromkeys(
        match[0]
        for match in _SHOUTED.finditer(condition)
        if sum(letter.isalpha() for letter in match[0]) >= 3
        and match[0] not in _NO_MARKERS
        and not _DENIED.search(condition[: match.start()])
    )
    return tuple(found)


def mentions(prompt: str, marker: str) -> bool:
    """Whether a prompt tells the model this word. Capitals do not count: "answer approved or not"
    is good enough to stay silent."""
    return re.search(rf"(?<!\w){re.escape(marker)}(?!\w)", prompt, re.IGNORECASE) is not None
