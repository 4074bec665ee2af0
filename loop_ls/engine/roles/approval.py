"""Whether a text approves: words that say so, unless others speak against them (role-loop spec 8.1).

Signals count as whole words anywhere in the full text, and one rejection outweighs every approval. The
words that decided are part of the answer, so that people see why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

APPROVALS = ("approved", "lgtm", "looks good", "accepted", "passes all criteria")
REJECTIONS = (
    *("rejected", "needs changes", "needs_changes", "needs work", "not approved", "revisions needed"),
    *("changes requested", "request changes", "not accepted", "disapproved", "cannot approve", "can't approve"),
    *("do not approve", "don't approve", "not ready"),
)
#: Words that turn an approval a few words later in the same clause: "not yet approved".
_NEGATIONS = frozenset({"not", "never", "cannot", "without", "neither", "nor", "hardly"})
_REACH = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """`signal` are the words that decided, as they stand in the text; None where there are none."""

    approved: bool
    signal: str | None = None

    @property
    def reason(self) -> str:
        if self.signal is None:
            return "no word of approval"
        return f"`{self.signal}` approves" if self.approved else f"`{self.signal}` speaks against it"


def by_words(text: str, more: Iterable[str] = ()) -> Finding:
    """The rule of mode `keyword`; `more` are signals of approval besides the usual ones."""
    plain = text.replace("’", "'")
    against = _first(plain, REJECTIONS)
    if against is not None:
        return Finding(False, against[0])
    approval: str | None = None
    for signal in (*APPROVALS, *more):
        for found in _pattern(signal).finditer(plain):
            negated = _negated(plain, found.start(), found[0])
            if negated is not None:
                return Finding(False, negated)
            approval = approval or found[0]
    return Finding(approval is not None, approval)


def by_last_line(text: str, more: Iterable[str] = ()) -> Finding:
    """The rule of mode `verdict_line`: the last line that begins with a signal decides."""
    for line in reversed(re.split(r"\r\n?|\n", text.replace("’", "'"))):
        start = re.sub(r"^[\W_]*(?:verdict[\W_]+)?", "", line, flags=re.IGNORECASE)
        for approved, signals in ((False, REJECTIONS), (True, (*APPROVALS, *more))):
            found = next((m for signal in signals if (m := _pattern(signal).match(start))), None)
            if found is not None:
                return Finding(approved, found[0])
    return Finding(False)


def _first(text: str, signals: Iterable[str]) -> re.Match[str] | None:
    found = (_pattern(signal).search(text) for signal in signals)
    return min((each for each in found if each is not None), key=lambda each: each.start(), default=None)


def _pattern(signal: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, signal.split()))
    return re.compile(rf"(?<![^\W_])(?<!-){words}(?![^\W_])", re.IGNORECASE)


def _negated(text: str, at: int, signal: str) -> str | None:
    """The negation with the signal, where one stands close before it."""
    clause = re.split(r"[.!?;:,\n]", text[max(0, at - 80) : at])[-1]
    words = clause.split()[-_REACH:]
    for index, word in enumerate(words):
        bare = word.strip("*_`\"'()").lower()
        if bare in _NEGATIONS or bare.endswith("n't"):
            return " ".join((*words[index:], signal))
    return None
