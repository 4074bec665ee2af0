"""Answers that another run has recorded, for one that is forked from it or replays it.

A fork takes them up to an iteration and pays for everything after it; a replay takes them only, against
files that may have changed, and ends where one is missing. Nothing is judged here: keys say which is which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import lies_at
from loop_ls.engine.core.ports import Recorded, Stopped
from loop_ls.text.json_value import Json

Recall = Callable[[str, str], Recorded | None]


class NothingRecorded(Stopped):
    """A replay asks for an answer that the recording has not: it ends here, whatever `on_failure` says."""

    def __init__(self, key: str) -> None:
        self.place = key.partition(":")[0]
        self.told = f"No recorded answer for `{self.place}`: the file now makes calls that were not recorded."
        super().__init__(self.told)


@dataclass(slots=True)
class Source:
    """`recall` reads the journal of run `run_id`. Iterations of the loop at `place` from number
    `iteration` on are done anew, and everything that follows; None: all that has an answer is taken. `at`: the step,
    stage or iteration that is done anew, and everything that follows, asked with `prompt` where there is one."""

    run_id: str
    recall: Recall
    place: str = ""
    iteration: int | None = None
    at: str = ""
    prompt: str | None = None
    replay: bool = False
    over: bool = False

    @staticmethod
    def of(written: Mapping[str, Json] | None, recall: Recall, known: Iterable[str]) -> Source | None:
        """The source that a `run_started` fact names; `known` are keys that the run has itself."""
        if not written:
            return None
        source = Source(
            str(written["runId"]),
            recall,
            str(written.get("place") or ""),
            cast("int | None", written.get("iteration")),
            str(written.get("at") or ""),
            cast("str | None", written.get("prompt")),
            written.get("kind") == "replay",
        )
        for key in known:
            source.hear(key)
        return source

    def hear(self, key: str) -> None:
        """A key of this run: with the first one of the iteration, or of the place, the recording is over."""
        if not self.over and self.at:
            self.over = lies_at(key, self.at)
        elif not self.over and self.iteration is not None:
            self.over = _number(key, self.place) >= self.iteration

    def performs(self, key: str) -> bool:
        """Whether a call, or another one after its failure, is made anew. Not of a replay."""
        found = self.answer(key)
        return found is None or _failed(found)

    def answer(self, key: str) -> Recorded | None:
        """What was recorded under `key`; None: do it. Raises `NothingRecorded`."""
        self.hear(key)
        if self.over:
            return None
        found = self.recall(self.run_id, key)
        if self.replay and found is None:
            raise NothingRecorded(key)
        # A fork that only goes on tries again what had failed.
        goes_on = self.iteration is None and not self.at and not self.replay
        return None if found is not None and goes_on and _failed(found) else found

    def noted(self, key: str) -> Recorded | None:
        """What was noted under `key`; None: nothing, which is no answer that a replay misses."""
        self.hear(key)
        return None if self.over else self.recall(self.run_id, key)


def copied(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts that follow from a recorded answer: its calls were paid by the other run."""
    return tuple((kind, {**body, "copied": True}) if kind == "call" else (kind, body) for kind, body in facts)


def _failed(answer: Recorded) -> bool:
    value = answer.get("value")
    return "raised" in answer or (isinstance(value, dict) and "error" in value)


def _number(key: str, place: str) -> int:
    """The iteration of the loop at `place` that a key lies in; 0 where it lies elsewhere."""
    found = re.match(rf"{re.escape(place)}/(\d+)(?=[./:]|$)", key)
    return int(found[1]) if found else 0
