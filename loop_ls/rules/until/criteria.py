"""Conditions worth proposing for `until`: clear, about one fact, and answerable from what the judge sees.

The judge sees the output of the callee's last step. So the best proposals name a marker which that
step is told to write (`start with PASS or FAIL` -> `The review starts with PASS`); general ones
follow. Prompts are only skimmed for words; nothing here understands them.
"""

from __future__ import annotations

import re

from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.until.words import group
from loop_ls.text.markdown import code, escaped
from loop_ls.text.pattern import pattern
from loop_ls.text.record import equal_record

#: What a positive verdict looks like, best first.
_POSITIVE = (
    *("PASS", "PASSED", "APPROVED", "APPROVE", "ACCEPTED", "ACCEPT", "DONE", "COMPLETE", "COMPLETED", "FINISHED"),
    *("READY", "SUCCESS", "SUCCEEDED", "LGTM", "SOLVED", "FOUND", "VERIFIED", "VALID", "CORRECT", "GREEN", "SHIP"),
)
_NEGATIVE = group(
    """FAIL FAILED FAILURE REJECT REJECTED REVISE NEEDS CHANGES RETRY ERROR ERRORS INVALID INCORRECT BLOCKED
    TODO FIXME INCOMPLETE MISSING CONTINUE RED WRONG ISSUE ISSUES"""
)
#: Capitals for emphasis or as a name of a format, never a marker (WF708).
_EMPHASIS = group(
    """AND NOT ONLY EXACTLY MUST NEVER ALWAYS ALL ANY THE YOU YOUR WITH FOR ONE EITHER NOTHING ELSE BOTH EVERY EACH
    IMPORTANT NOTE WARNING JSON YAML HTML HTTP HTTPS REST API URL XML CSV SQL CSS PDF LLM TODO README ASCII UTF RULES
    RESPOND RESPONSE OUTPUT INPUT FORMAT STRICT STRICTLY WORD WORDS LINE FIRST LAST BEFORE AFTER END START"""
)
_MARKER = pattern(r"(?<![\w{])[A-Z][A-Z_]{2,}(?![\w}])")
_SCORE_OF = pattern(
    r"\b(?:score|rating|rate|grade|quality)\w*\b[^\n]{0,60}?"
    r"(?:\b(?:out\s+of|of|to)\s+|/\s*|[-–]\s*)(?P<top>100|10|5)\b(?P<percent>\s*%)?",
    re.IGNORECASE,
)
_PERCENT = pattern(r"\b(?P<what>coverage|accuracy|score|confidence)\b[^\n]{0,40}(?:percent|per cent|%)", re.IGNORECASE)
_LISTED = pattern(
    r"\b(?:list|name|report|count|number of|remaining|find|point out)\b[^\n]{0,40}?\b"
    r"(?P<what>errors?|issues?|problems?|mistakes?|defects?|bugs?|findings?|warnings?|gaps?)\b",
    re.IGNORECASE,
)
_TESTS = pattern(r"\b(?:run|execute)\b[^\n]{0,20}\btests?\b", re.IGNORECASE)
_STARTS = pattern(r"\b(?:start|starts|begin|begins|beginning|first (?:line|word))\b", re.IGNORECASE)
_ENDS = pattern(r"\b(?:end|ends|finish|close|last (?:line|word))\b", re.IGNORECASE)
#: Step names that say what their output is.
_NOUNS = group(
    """review report verdict answer reply response summary evaluation assessment critique feedback analysis
    plan draft text document article translation judgement judgment decision score audit"""
)


@equal_record
class Criterion:
    """A condition; `hole` is the part of it that the author will want to change, `why` (Markdown) its source."""

    text: str
    why: str
    hole: str = ""
    sure: bool = False  # the callee really mentions what the condition looks for


def from_last_step(name: str, prompt: str) -> tuple[Criterion, ...]:
    """Conditions that the output of a step with this prompt can meet, best first."""
    noun = _noun(name)
    found = [*_verdicts(noun, name, prompt), *_facts(noun, name, prompt)]
    return tuple(dict.fromkeys(found))


def words_told(prompt: str) -> tuple[str, ...]:
    """The words that a step with this prompt is told to write as its verdict, good ones first."""
    positive, negative = _words_told(prompt)
    return (*positive, *negative)


def _words_told(prompt: str) -> tuple[list[str], list[str]]:
    markers = list(dict.fromkeys(m.group() for m in _MARKER.finditer(prompt)))
    positive = sorted((m for m in markers if m in _POSITIVE), key=_POSITIVE.index)
    negative = [m for m in markers if m in _NEGATIVE]
    if not positive and not negative:
        # A made-up word is a marker only where the prompt asks for it.
        positive = [m for m in markers if m not in _EMPHASIS and _asked_for(prompt, m)]
    return positive, negative


def general(noun: str = "output") -> tuple[Criterion, ...]:
    """Conditions of the shape that judges read well, for any callee."""
    shown = "the last step of the called workflow must say so"
    return (
        Criterion(f"The {noun} says DONE", f"looks for one word; {shown}", "DONE"),
        Criterion(f"The {noun} contains the word COMPLETE", f"looks for one word; {shown}", "COMPLETE"),
        Criterion("All tests pass", f"a fact; {shown}"),
        Criterion("There are zero errors", f"absence of something that can be counted; {shown}", "errors"),
        Criterion("The score is above 90", f"a threshold; {shown}", "90"),
        Criterion(f"The {noun} is under 500 words", "a limit the judge can see for itself", "500"),
    )


def _noun(step: str) -> str:
    last = re.split(r"[\W_]+", step.lower())[-1]
    return last if last in _NOUNS else "output"


def _verdicts(noun: str, name: str, prompt: str) -> list[Criterion]:
    positive, negative = _words_told(prompt)
    told = f"{code(name)} is told to write it"
    found = [
        Criterion(f"The {noun} {_verb(prompt, m)} {m}", f"{told}: “{escaped(_around(prompt, m))}”", m, True)
        for m in positive
    ]
    found += [
        Criterion(f"The {noun} does not contain {m}", f"{told}: “{escaped(_around(prompt, m))}”", m, True)
        for m in negative
    ]
    return found


def _facts(noun: str, name: str, prompt: str) -> list[Criterion]:
    found = []
    if score := _SCORE_OF.search(prompt):
        top = int(score.group("top"))
        least = {100: 90, 10: 8, 5: 4}[top]
        shown = f"{least} of {top}"
        found.append(
            Criterion(
                f"The score is at least {shown}",
                f"{code(name)} gives one: “{escaped(_line(prompt, score))}”",
                shown,
                True,
            )
        )
    elif percent := _PERCENT.search(prompt):
        what = percent.group("what").lower()
        found.append(
            Criterion(
                f"The {what} is above 90%", f"{code(name)} gives it: “{escaped(_line(prompt, percent))}”", "90", True
            )
        )
    if listed := _LISTED.search(prompt):
        what = listed.group("what").lower()
        plural = what if what.endswith("s") else what + "s"
        found.append(
            Criterion(
                f"The {noun} lists no {plural}",
                f"{code(name)} lists them: “{escaped(_line(prompt, listed))}”",
                "",
                True,
            )
        )
    if tests := _TESTS.search(prompt):
        found.append(
            Criterion("All tests pass", f"{code(name)} runs them: “{escaped(_line(prompt, tests))}”", "", True)
        )
    return found


def _asked_for(prompt: str, marker: str) -> bool:
    pattern = (
        rf"(?:say|write|print|output|answer|reply|respond|end|start|begin|contain|word)\b[^\n.]{{0,40}}\b{marker}\b"
    )
    return re.search(pattern, prompt, re.IGNORECASE) is not None


def _verb(prompt: str, marker: str) -> str:
    """How the prompt places the marker: the words before it on its line, or a list under such words."""
    at = re.search(rf"(?<!\w){marker}(?!\w)", prompt)
    assert at is not None
    line = prompt[max(0, at.start() - 80) : at.start()].rpartition("\n")[2].rpartition(".")[2]
    if _STARTS.search(line):
        return "starts with"
    if _ENDS.search(line):
        return "ends with"
    return "says"


def _around(prompt: str, marker: str) -> str:
    at = re.search(rf"(?<!\w){marker}(?!\w)", prompt)
    return _line(prompt, at) if at else marker


def _line(prompt: str, match: re.Match[str]) -> str:
    start = prompt.rfind("\n", 0, match.start()) + 1
    end = prompt.find("\n", match.start())
    return shortened(prompt[start : end if end >= 0 else len(prompt)].strip(" -*"), 60)
