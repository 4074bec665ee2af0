"""The same condition without the text it judges: a fix of WF702, to be reviewed by its author.

The judge sees the output beside the condition, and nothing else: a variable that inserts the output can go, or a noun
takes its place. Where only the author knows what to look for, or where the judge would need a text that it never sees
(the output before, the number of the iteration), there is no such sentence.
"""

from __future__ import annotations

import re

from loop_ls.rules.until.joined import joined
from loop_ls.rules.until.vague import is_no_sentence, is_vague
from loop_ls.text.pattern import pattern

#: What the judge is never shown. People write `loop.last.output` for the output all the same.
_UNSEEN = ("loop.history", "loop.iteration", "loop.last.output")

_THE_OUTPUT = "the output"

#: Behind these words the variable only repeats the noun: "the output {{loop.output}} is short".
_APPOSITION = pattern(
    r"\b(?:outputs?|results?|texts?|repl(?:y|ies)|responses?|answers?|drafts?|reviews?|reports?"
    r"|value|content|code|summary|document|version)\s*[:(\[\"'“`]*\s*$",
    re.IGNORECASE,
)

#: "The output contains {{loop.output}}": something has to be found, and only the author knows what.
_LOOKING = pattern(
    r"\b(?:contains?|includes?|says?|mentions?|repeats?|has|have|shows?|states?|equals?|matches|is|reads?|ends with"
    r"|starts with|begins with)\s*[:(\[\"'“`]*\s*$",
    re.IGNORECASE,
)
#: "{{loop.last.output}} differs from the reply": two texts are compared, so it is the output before that is meant.
_COMPARING = pattern(
    r"\b(?:previous|last|earlier|before|differs?|different|same|equals?|than|better|worse|longer|shorter|outputs?|repl(?:y|ies)"
    r"|responses?|answers?)\b",
    re.IGNORECASE,
)
_EQUALS = pattern(r"\s*={2,3}\s*")
_OPENING = "\"'“`(["
_CLOSING = "\"'”`)]"


def without_variable(condition: str, start: int, end: int, name: str) -> str | None:
    """`condition` without the placeholder that stands at [start, end); None where no such sentence says the same."""
    before, after = condition[:start], condition[end:]
    name = name.removeprefix("step.")
    if name in _UNSEEN and not _is_slip(name, before, after):
        return None
    noun = _noun(before, after)
    if noun is None:
        return None
    before, after = _unwrap(before, after)
    after = _EQUALS.sub(" is ", after, count=1) if _EQUALS.match(after) else after
    text = _tidy(_join(before + noun, after) if noun else _join(before.rstrip(" :"), _on_its_line(before, after)))
    return text if _holds_up(text, condition) else None


def _is_slip(name: str, before: str, after: str) -> bool:
    """Whether `{{loop.last.output}} contains PASS` is meant: the output, under a wrong name."""
    at_start = not before.strip(" :" + _OPENING)
    return name == "loop.last.output" and at_start and _goes_on(after) and not _COMPARING.search(after)


def _noun(before: str, after: str) -> str | None:
    """What takes the place of the variable: empty where the sentence names the output already."""
    if not before.strip(" :" + _OPENING):
        return _THE_OUTPUT if _goes_on(after) else None
    if _APPOSITION.search(before):
        return ""
    return None if _LOOKING.search(before) else _THE_OUTPUT


def _holds_up(text: str, condition: str) -> bool:
    """Whether no rule about conditions would speak up that was silent before."""
    return not is_no_sentence(text) and not is_vague(text) and joined(text).value <= joined(condition).value


def _on_its_line(before: str, after: str) -> str:
    """`after` without the blanks that would begin a line, and the line break of one that held the variable alone."""
    return after.lstrip(" \t").removeprefix("\n") if before.endswith("\n") else after


def _goes_on(after: str) -> bool:
    return bool(after.strip(" .\n" + _CLOSING))


def _unwrap(before: str, after: str) -> tuple[str, str]:
    """Quotes and brackets right around the variable go with it, and the sign of a shell in front of it."""
    before = before.removesuffix("$")
    while before and after and before[-1] in _OPENING and after[0] == _CLOSING[_OPENING.index(before[-1])]:
        before, after = before[:-1], after[1:]
    return before, after


def _join(before: str, after: str) -> str:
    if before[-1:].isspace() or after[:1] in f",.;:!?{_CLOSING}":
        return before + after
    return f"{before} {after}"  # of two blanks one is left and of those at the ends none, see `_tidy`


def _tidy(text: str) -> str:
    text = re.sub(r"[ \t]+(?=\n)", "", re.sub(r"[ \t]{2,}", " ", text)).strip()
    return text[:1].upper() + text[1:]
