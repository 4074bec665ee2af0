"""Outputs of recorded iterations, read one by one and only when somebody asks for them.

A way that is gone again for one iteration of a long loop must not read all others: most prompts hold the last output
at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Recorded, Skipped
from loop_ls.text.json_value import as_object


def number_in(wanted: str, loop: str) -> int | None:
    """The iteration of the loop at a place that `wanted` lies in; None: it lies elsewhere."""
    if not wanted.startswith(f"{loop}/"):
        return None
    return whole_number(wanted[len(loop) + 1 :].partition("/")[0].partition(":")[0].partition(".")[0])


def whole_number(text: str) -> int | None:
    head = text.partition(".")[0]
    return int(head) if head.isascii() and head.isdigit() and len(head) <= 15 else None


def last_of(holds: Callable[[int], bool]) -> int:
    """The last number from 1 on for which `holds`, of numbers that follow one another without a gap; 0 for none."""
    most = 1
    while holds(most):
        most *= 2
    low, high = most // 2, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@dataclass(frozen=True, slots=True)
class Recordings:
    """The iterations of one loop. `recall` reads what is recorded under a key."""

    loop: str
    place: Place
    recall: Callable[[str], Recorded | None]

    def before(self, wanted: int) -> Skipped:
        """All that is not needed for iteration `wanted`: it follows on the last one that gave an output, with
        what that one was told by its checks."""
        return self._skipped(wanted - 1, wanted, over=False)

    def over(self) -> Skipped:
        """All but the last output of a loop that has ended."""
        most = last_of(self._has_begun)
        return self._skipped(most, most, over=True)

    def _has_begun(self, number: int) -> bool:
        return self.recall(self.place.turn(self.loop, number).part("started")) is not None

    def _skipped(self, most: int, last: int, over: bool) -> Skipped:
        number = most
        while number > 0 and self.output(number) is None:
            number -= 1
        before = max(0, number - 1)
        return Skipped(before, last, RecordedOutputs(self, before), RecordedOutputs(self, most), over)

    def output(self, number: int) -> str | None:
        """Of the try that gave one; None where all of them failed."""
        for attempt in count(1):
            told = self.recall(self.place.turn(self.loop, number, attempt).part("result"))
            if told is None:
                return None
            output = as_object(told.get("value")).get("output")
            if isinstance(output, str):
                return output
        raise AssertionError("counting does not end")


@dataclass(frozen=True, slots=True)
class RecordedOutputs:
    """Outputs of the iterations 1 to `most`."""

    recordings: Recordings
    most: int

    def last(self, back: int) -> str:
        for number in range(self.most, 0, -1):
            output = self.recordings.output(number)
            back -= output is not None
            if output is not None and not back:
                return output
        return ""

    def __iter__(self) -> Iterator[str]:
        for number in range(1, self.most + 1):
            if (output := self.recordings.output(number)) is not None:
                yield output
