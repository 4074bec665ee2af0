"""What judges find wrong, read from their answers and ticked off from round to round.

A model that judges gives an object; a review in words gives a list behind its verdict. Judges put the same point into
other words each time, so points are compared by their file and their words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

from loop_ls.contract.findings import ReviewFinding, Severity, finding_line
from loop_ls.engine.roles.approval import ITEM
from loop_ls.engine.roles.outcome import LINE
from loop_ls.text.json_value import Json

#: So many findings of one verdict are kept, from so many characters at its end.
MOST, LOOKED_AT = 50, 24_000
#: Of all words of two points, the share that has to be in both.
ALIKE = 0.5
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_SEVERITY = re.compile(rf"[\W_]{{0,4}}({'|'.join(_SEVERITIES)})[\W_]{{0,4}}[:\]\-–—)][\W_]{{0,4}}", re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w/.-])[\w./-]{1,200}\.[A-Za-z]\w{0,9}(?::\d{1,7})?(?![\w/])")
_WORD = re.compile(r"\w+")
#: Other words for what holds up nothing.
_SMALL = frozenset({"nit", "nitpick", "low", "info", "note", "trivial", "cosmetic", "style", "suggestion"})
#: What may stand around the word of a severity.
_AROUND = "*_`\"'[]():.!- \t\r\n"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that a judge finds wrong, as he says it."""

    severity: Severity
    summary: str
    location: str = ""

    @property
    def file(self) -> str:
        return self.location.partition(":")[0]


def points_of(findings: Json) -> tuple[Point, ...]:
    """Those of a judge's object: a list of objects or texts, or one alone. Without a severity: minor; one that is
    unknown, as `blocker` is: important."""
    listed = findings if isinstance(findings, list | tuple) else [findings]
    found = (_point_of(each) for each in listed)
    return tuple(one for one in found if one is not None)[:MOST]


def _point_of(finding: Json) -> Point | None:
    if isinstance(finding, str):
        return _point(finding, "minor") if finding.strip() else None
    if not isinstance(finding, dict):
        return None
    severity, summary = _text(finding, "severity"), _text(finding, "summary")
    if not (severity or summary):
        return None
    return Point(_severity(severity or "minor"), summary or "no details", _text(finding, "location"))


def _text(finding: Mapping[str, Json], name: str) -> str:
    return _line(str(finding.get(name) or ""))


def listed_points(text: str) -> tuple[Point, ...]:
    """Those of a review in words: the entries of the last list in it."""
    found: list[Point] = []
    after_list = False
    for line in re.split(r"\r\n?|\n", text[-LOOKED_AT:]):
        item = ITEM.match(line)
        if item is not None:
            found = [] if after_list else found
            after_list = False
            found.append(_point(line[item.end() :]))
        elif line.strip() and not line[0].isspace():
            after_list = bool(found)
    return tuple(one for one in found if one.summary)[:MOST]


def _point(said: str, otherwise: Severity = "important") -> Point:
    severity = _SEVERITY.match(said)
    place = _PLACE.search(said)
    rest = said[severity.end() :] if severity else said
    return Point(_severity(severity[1]) if severity else otherwise, _line(rest), place[0] if place else "")


def _severity(word: str) -> Severity:
    """However it is dressed: `**CRITICAL**:` is critical."""
    low = word.lower().strip(_AROUND)
    known = next((one for one in _SEVERITIES if one == low), None)
    return known or ("minor" if low in _SMALL else "important")


def _line(text: str) -> str:
    line = " ".join(text.split()).strip("*_` ")
    return line if len(line) <= LINE else f"{line[: LINE - 1]}…"


@dataclass(frozen=True, slots=True)
class Findings:
    """The open ones of a loop, in the order of their numbers; `last` is the highest number that was given."""

    open: tuple[ReviewFinding, ...] = ()
    last: int = 0

    def after(self, points: tuple[Point, ...], iteration: int, approved: bool) -> tuple[Findings, list[ReviewFinding]]:
        """What is open after a verdict, and all that it says: what is open, and what it settled. A refusal that
        names nothing settles nothing."""
        if not points and not approved:
            return self, list(self.open)
        left, now, last = list(self.open), list[ReviewFinding](), self.last
        for point in points:
            known = next((one for one in left if _same(one, point)), None)
            if known is None:
                last += 1
                now.append(_finding(point, last, iteration))
            else:
                left.remove(known)
                now.append(_finding(point, known["number"], known["since"]))
        settled = [cast(ReviewFinding, {**one, "settled": True}) for one in left]
        now.sort(key=lambda one: one["number"])
        return Findings(() if approved else tuple(now), last), [*now, *settled]

    @property
    def lines(self) -> str:
        return "\n".join(f"- {finding_line(one)}" for one in self.open)


def _finding(point: Point, number: int, since: int) -> ReviewFinding:
    found: ReviewFinding = {
        "number": number,
        "severity": point.severity,
        "summary": point.summary,
        "since": since,
    }
    return {**found, "location": point.location} if point.location else found


def _same(one: ReviewFinding, point: Point) -> bool:
    file = one.get("location", "").partition(":")[0]
    if file and point.file and file != point.file:
        return False
    words, others = (set(_WORD.findall(text.lower())) for text in (one["summary"], point.summary))
    return len(words & others) >= ALIKE * max(1, len(words | others))
