"""The prompts of a run, read from its record: the program goes its way once more, over recorded answers.

Nothing is asked, started or written. Prompts are not kept, because a history in each would make the record
grow with its square. What looks like a key is masked, as wherever people look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from loop_ls.contract.answers import Prompt
from loop_ls.engine.checks.declared import declared_checks
from loop_ls.engine.core.location import lies_at
from loop_ls.engine.core.plan import Plan, Program, read_plan
from loop_ls.engine.core.ports import (
    PROMPT,
    EmbedReply,
    Failure,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Recorded,
    Stopped,
)
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.events import Event
from loop_ls.engine.journal import Journal
from loop_ls.engine.model_calls.ask import request_of
from loop_ls.engine.projections.replay_recorder import ReplayRecorder, Way, Work
from loop_ls.engine.projections.truncation import cut
from loop_ls.engine.runners.recorded import assigned_in
from loop_ls.engine.runs.fork import CHANGEABLE, asker_of
from loop_ls.engine.runs.secret_mask import SecretMask
from loop_ls.formats.registry import ROLE_LOOP, WORKFLOW
from loop_ls.text.json_value import text_field

#: No more prompts, and no more characters of them, are given at once: `place` says which are wanted.
MOST, CHARACTERS = 200, 8_000_000
#: A longer text is cut, and its row says how long it is.
LONGEST = 1_000_000
PAGE = 1000


@runtime_checkable
class Replayable(Protocol):
    """A program that does more than its recorder hears."""

    def retold(self, recall: object) -> Program:
        """The same one for a way that was gone before: it leaves nothing behind and looks at nothing that may
        be another by now. `recall` answers what is recorded under a key."""
        ...


async def prompts(
    journal: Journal,
    programs: Mapping[str, Program],
    run_id: str,
    mask_of: Callable[[Plan], SecretMask],
    place: str = "",
    changed: bool = True,
) -> list[Prompt]:
    """`[{place, purpose, provider, model, prompt, system?, answer?}]` of the calls at `place` or inside it, in the
    order in which they were made; `changed`: people may have changed something of the run. Raises `Refused`."""
    started = (await journal.facts(run_id, 0, 1)).events[0]
    plan = await journal.read(read_plan, run_id, started.body, journal.text)
    program = programs[plan.format]
    if isinstance(program, Replayable):
        program = program.retold(lambda key: (journal.recall(run_id, key) or {}).get("value"))
    found = Found(place, await journal.read(mask_of, plan), lambda key: journal.recall(run_id, key) is not None)
    changes = await _changed(journal, run_id) if changed and plan.format == ROLE_LOOP else ()
    reader = ReplayRecorder(run_id, journal, found.hear, changes, place, _way(plan))
    with suppress(Stopped, Failure, ModelFailure):
        await program.run(plan, reader, NoModels())
    return found.told()


def _way(plan: Plan) -> Way:
    """What is gone through for one place. Checks look at more than that: they are asked at the end of a run, too."""
    if plan.format != WORKFLOW:
        return Way.IN_TURN
    with suppress(Failure):
        return Way.WHOLE if declared_checks(plan) else Way.OUTPUTS
    return Way.WHOLE


class Found:
    """The rows of the calls at a place."""

    def __init__(self, place: str, mask: SecretMask, recorded: Callable[[str], bool] = lambda key: False) -> None:
        self._rows: list[Prompt] = []
        self._mask, self._recorded = mask, recorded
        self._place, self._characters = place, 0

    def hear(self, work: Work, recorded: Recorded | None) -> bool:
        asked = _asked(work)
        if asked is not None and self._wanted(asked.place):
            if not asked.continues or not self._rows:
                self._take(self._row(asked))
            # Where tools were called, the last answer counts.
            value = (recorded or {}).get("value")
            if isinstance(value, dict) and (answer := text_field(value, "text")):
                self._rows[-1]["answer"] = redact(answer)
                self._characters += len(answer)
        return len(self._rows) < MOST and self._characters < CHARACTERS

    def told(self) -> list[Prompt]:
        """The rows, without values of secrets, and long texts cut."""
        return [cut(self._mask.value(row), LONGEST) for row in self._rows]

    def _row(self, asked: Asked) -> Prompt:
        row = asked.row()
        if asked.purpose in CHANGEABLE:
            if self._recorded(f"{asker_of(asked.place)}:{PROMPT}"):
                row["changed"] = True
            if self._mask.value(row["prompt"]) == asked.prompt and len(asked.prompt) <= LONGEST:
                row["changeable"] = True
        return row

    def _take(self, row: Prompt) -> None:
        self._rows.append(row)
        self._characters += len(row["prompt"]) + len(row.get("system", ""))

    def _wanted(self, place: str) -> bool:
        return not self._place or lies_at(place, self._place)


async def _changed(journal: Journal, run_id: str) -> list[Event]:
    """All facts of a run that somebody has changed."""
    found: list[Event] = []
    more = True
    while more:
        page = await journal.facts(run_id, found[-1].seq if found else 0, PAGE)
        found += page.events
        more = page.more and bool(page.events)
    return found


class NoModels:
    """Models that are never asked."""

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(self, request: ModelRequest, on_text: object = None, on_wait: object = None) -> ModelReply:
        raise Stopped

    async def embed(self, request: object, on_wait: object = None) -> EmbedReply:
        raise Stopped


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recorded call would ask of a model or an agent."""

    place: str
    purpose: str
    provider: str
    model: str
    prompt: str
    system: str | None
    continues: bool = False  # after tools were called: the prompt was there before

    def row(self) -> Prompt:
        row: Prompt = {
            "place": self.place,
            "purpose": self.purpose,
            "provider": self.provider,
            "model": self.model,
            "prompt": redact(self.prompt),
        }
        if self.system is not None:
            row["system"] = redact(self.system)
        return row


def _asked(work: Work) -> Asked | None:
    """None where nobody is asked."""
    request = request_of(work)
    if request is not None:
        one = request
        return Asked(one.place, one.purpose, one.provider, one.model, one.prompt, one.system, bool(one.turns))
    assigned = assigned_in(work)
    if assigned is None:
        return None
    name, given = assigned
    system = "\n\n".join(part for part in (given.system, given.appended) if part)
    return Asked(given.place, given.purpose, name, given.model or "", given.message, system or None)
