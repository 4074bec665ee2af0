"""The same condition without the text it judges: the fix of WF702, to be reviewed by its author.

The judge sees the output beside the condition, so a variable that inserts it can go, or a noun
takes its place where the sentence needs one.
"""

from __future__ import annotations

import re

from loop_ls.text.pattern import pattern

_NOUNS = {
    "loop.output": "the output",
    "loop.last.output": "the previous output",
    "loop.history": "the earlier outputs",
    "loop.iteration": "the number of the iteration",
}

#: Behind these words the variable only repeats the noun: "the output {{loop.output}} is short".
_APPOSITION = pattern(
    r"\b(?:outputs?|results?|texts?|repl(?:y|ies)|responses?|answers?|drafts?|reviews?|reports?|iterations?|histor(?:y|ies)"
    r"|number|value|content|code|summary|document|version)\s*[:(\[\"'“`]*\s*$",
    re.IGNORECASE,
)

#: "The output contains {{loop.output}}": something has to be found, and only the author knows what.
_LOOKING = pattern(
    r"\b(?:contains?|includes?|says?|mentions?|repeats?|has|have|shows?|states?|equals?|matches|is|reads?|ends with"
    r"|starts with|begins with)\s*[:(\[\"'“`]*\s*$",
    re.IGNORECASE,
)
_OPENING = "\"'“`(["
_CLOSING = "\"'”`)]"


def without_variable(condition: str, start: int, end: int, name: str) -> str:
    """`condition` without the placeholder that stands at [start, end)."""
    before, after = condition[:start], condition[end:]
    noun = _noun(before, after, name)
    before, after = _unwrap(before, after)
    if noun is None:
        return _tidy(_join(before.rstrip(" :"), after))
    return _tidy(_join(before + noun, after))


def _noun(before: str, after: str, name: str) -> str | None:
    name = name.removeprefix("step.")
    noun = _NOUNS.get(name, "the output")
    if not before.strip(" :" + _OPENING):
        return noun if _goes_on(after) else "The reply contains the expected text"
    if _APPOSITION.search(before):
        return None
    if _LOOKING.search(before) and name != "loop.iteration":
        return "the expected text"
    return noun


def _goes_on(after: str) -> bool:
    return bool(after.strip(" ." + _CLOSING))


def _unwrap(before: str, after: str) -> tuple[str, str]:
    """Quotes and brackets right around the variable go with it."""
    while before and after and before[-1] in _OPENING and after[0] == _CLOSING[_OPENING.index(before[-1])]:
        before, after = before[:-1], after[1:]
    return before, after


def _join(before: str, after: str) -> str:
    if not before or not after or before[-1].isspace() or after[0] in " ,.;:!?" + _CLOSING:
        return before + after
    return f"{before} {after}"


def _tidy(text: str) -> str:
    text = re.sub(r"[ \t]{2,}", " ", text).strip()
    return text[:1].upper() + text[1:]
