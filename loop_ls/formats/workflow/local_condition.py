"""Conditions that need no model: they name the very text to look for.

"The output says PASS", "The reply does not contain `TODO`", "The answer ends with "the end"" can be
decided by looking. Only with `judge: {local: true}`, and reported as local. The form is read before
any value is put in, so an interpolated value is always text to look for, never part of the sentence.

Capitalised markers count as whole words in exactly these letters; quoted texts as they stand.
"""

from __future__ import annotations

import re
from typing import Literal

from loop_ls.formats.workflow.placeholder_syntax import PLACEHOLDER
from loop_ls.text.pattern import pattern
from loop_ls.text.record import equal_record

Place = Literal["anywhere", "start", "end", "line", "whole"]

_NOUNS = "output|response|reply|answer|result|text|review|report|verdict|message|summary|draft|code"
_SUBJECT = rf"(?:(?:the|this|its|your)\s+)?(?:final\s+|last\s+|whole\s+)?(?:{_NOUNS})|it"
_HAS = r"contains?|includes?|says?|mentions?|states?|reads?|has|have"
_VERB = (
    rf"(?P<no>(?:does\s+not|doesn't|must\s+not|should\s+not)\s+)?"
    rf"(?:(?:must|should)\s+)?"
    rf"(?P<verb>{_HAS}|starts?\s+with|begins?\s+with|ends?\s+with|equals?|is)"
)
_KIND = (
    r"(?:exactly\s+)?(?:(?:the|a)\s+)?(?:exact\s+)?(?:(?P<kind>word|words|text|phrase|string|marker|token|line)\s+)?"
)
_SENTENCE = pattern(rf"(?:{_SUBJECT})\s+{_VERB}\s+{_KIND}(?P<objects>\S.*?)\s*\.?", re.IGNORECASE | re.DOTALL)

_WORD = r"[A-Z][A-Z0-9]+(?:[_-][A-Z0-9]+)*"
_QUOTED = r"\"[^\"]+\"|'[^']+'|`[^`]+`|“[^”]+”|‘[^’]+’|«[^»]+»"
_OBJECT = pattern(rf"{_QUOTED}|{PLACEHOLDER.pattern}|{_WORD}(?:\s+{_WORD})*")
_JOINT = pattern(r"\s*,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+")
MARKER = pattern(rf"{_WORD}(?:\s+{_WORD})*")
#: Capitalised words that join or turn a sentence: with one of them it is no list of markers.
_NO_MARKERS = frozenset({"AND", "OR", "NOT", "BUT", "NO", "ONLY", "EXACTLY", "IF", "THEN", "XOR"})


@equal_record
class LocalCondition:
    """Texts to look for. `every`: all of them must be there, else one is enough."""

    place: Place
    objects: tuple[str, ...]  # as written: quoted texts with their placeholders, or markers
    every: bool = False
    negated: bool = False


def read_local(condition: str) -> LocalCondition | None:
    """The condition as texts to look for, None when it takes judgement."""
    sentence = _SENTENCE.fullmatch(condition.strip())
    if sentence is None:
        return None
    objects = _objects(sentence["objects"])
    if objects is None:
        return None
    texts, every = objects
    return LocalCondition(_place(sentence["verb"], sentence["kind"]), texts, every, bool(sentence["no"]))


def _place(verb: str, kind: str | None) -> Place:
    match " ".join(verb.lower().split()), (kind or "").lower():
        case (("starts with" | "start with" | "begins with" | "begin with"), _):
            return "start"
        case (("ends with" | "end with"), _):
            return "end"
        case (("is" | "equals" | "equal"), _):
            return "whole"
        case _, "line":
            return "line"
        case _:
            return "anywhere"


def _objects(text: str) -> tuple[tuple[str, ...], bool] | None:
    """The listed texts and whether all are wanted; None when the list is anything else."""
    found, joints, at = [], set(), 0
    while True:
        item = _OBJECT.match(text, at)
        if item is None or (MARKER.fullmatch(item[0]) and _NO_MARKERS & set(item[0].split())):
            return None
        found.append(item[0] if item[0].startswith("{{") or item[0][0].isalnum() else item[0][1:-1])
        at = item.end()
        if at == len(text):
            break
        joint = _JOINT.match(text, at)
        if joint is None:
            return None
        joints |= {word for word in ("or", "and") if word in joint[0]} or {","}
        at = joint.end()
    if {"or", "and"} <= joints or joints == {","}:
        return None
    return tuple(found), "and" in joints
