"""Whether a text approves: words that say so, unless others speak against them.

Signals count as whole words anywhere in the full text, and one rejection outweighs every approval. The
words that decided are part of the answer, so that people see why. An output may have millions of characters:
it is searched for plain words, and only what is found is looked at closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

APPROVALS = ("approved", "lgtm", "looks good", "accepted", "passes all criteria")
REJECTIONS = (
    *("rejected", "needs changes", "needs_changes", "needs work", "not approved", "revisions needed"),
    *("changes requested", "request changes", "not accepted", "disapproved", "cannot approve", "can't approve"),
    *("do not approve", "don't approve", "not ready"),
)
#: Words that turn an approval a few words later in the same clause: "not yet approved".
_NEGATIONS = frozenset({"not", "never", "cannot", "without", "neither", "nor", "hardly"})
_REACH = 3
#: What a line of a verdict may begin with.
_BEFORE = re.compile(r"^[\W_]*(?:verdict[\W_]+)?", re.IGNORECASE)
#: An entry of a list: it is read as a verdict only where no other line is one.
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
#: What takes an approval back on the same line: `APPROVED: no`, `approved once the tests pass`.
_RESERVED = re.compile(
    r"[\W_]{0,20}(?:(?:no|none|false|never)[\W_]*$|(?:not|pending|if|once|when|unless|only|except|but|provided)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """`signal` are the words that decided, as they stand in the text; None where there are none."""

    approved: bool
    signal: str | None = None

    @property
    def reason(self) -> str:
        if self.signal is None:
            return "no approval"
        return f"`{self.signal}` approves" if self.approved else f"`{self.signal}` is a rejection"


def by_words(text: str, more: Iterable[str] = ()) -> Finding:
    """The rule of mode `keyword`; `more` are signals of approval besides the usual ones."""
    plain = text.replace("’", "'")
    low = _low(plain)
    against = _first(low, REJECTIONS)
    if against is not None:
        return Finding(False, plain[slice(*against)])
    approval: str | None = None
    for signal in (*APPROVALS, *more):
        for start, end in _places(low, signal):
            negated = _negated(plain, start, plain[start:end])
            if negated is not None:
                return Finding(False, negated)
            approval = approval or plain[start:end]
    return Finding(approval is not None, approval)


def by_last_line(text: str, more: Iterable[str] = ()) -> Finding:
    """The rule of mode `verdict_line`: the last line that begins with a signal decides, unless it takes it back."""
    lines = re.split(r"\r\n?|\n", text.replace("’", "'"))
    plain, items = ([one for one in lines if bool(ITEM.match(one)) is listed] for listed in (False, True))
    return _last_verdict(plain, more) or _last_verdict(items, more) or Finding(False)


def _last_verdict(lines: list[str], more: Iterable[str]) -> Finding | None:
    ways = [(False, [*map(_pattern, REJECTIONS)]), (True, [*map(_pattern, (*APPROVALS, *more))])]
    any_of = re.compile("|".join(each.pattern for _, patterns in ways for each in patterns))
    for line in reversed(lines):
        start = _BEFORE.sub("", line, count=1)
        low = _low(start)
        if not any_of.match(low):
            continue
        for approved, patterns in ways:
            found = next((m for each in patterns if (m := each.match(low))), None)
            if found is None:
                continue
            back = _RESERVED.match(start, found.end()) if approved else None
            return Finding(approved and back is None, start[: (back or found).end()])
    return None


def _first(low: str, signals: Iterable[str]) -> tuple[int, int] | None:
    return min((each for signal in signals if (each := next(_places(low, signal), None))), default=None)


def _places(low: str, signal: str) -> Iterator[tuple[int, int]]:
    """Where a signal stands as words of their own."""
    pattern, at = _pattern(signal), 0
    while found := pattern.search(low, at):
        before = low[found.start() - 1 : found.start()]
        alone = not before or not (before.isalnum() or before == "-")
        if alone:
            yield found.span()
        at = found.end() if alone else found.start() + 1


def _low(text: str) -> str:
    """In small letters, each at its place: there are signs whose small letter is two."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one) == 1 else " " for one in map(str.lower, text))


@lru_cache(maxsize=256)
def _pattern(signal: str) -> re.Pattern[str]:
    """It begins with plain letters, for which Python looks quickly; what stands before it is not its business."""
    words = r"\s+".join(map(re.escape, signal.lower().split()))
    return re.compile(rf"{words}(?![^\W_])")


def _negated(text: str, at: int, signal: str) -> str | None:
    """The negation with the signal, where one stands close before it."""
    clause = re.split(r"[.!?;:,\n]", text[max(0, at - 80) : at])[-1]
    words = clause.split()[-_REACH:]
    for index, word in enumerate(words):
        bare = word.strip("*_`\"'()").lower()
        if bare in _NEGATIONS or bare.endswith("n't"):
            return " ".join((*words[index:], signal))
    return None
