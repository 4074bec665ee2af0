"""Deciding after each iteration of an assistant loop whether it goes on: pattern, command, person, or none.

First the learning is told, then the criterion is asked. Whatever cannot be judged keeps the loop going; only
a person can make it fail.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypedDict, cast

from loop_ls.contract.endings import Judgement
from loop_ls.contract.facts.kinds import ApprovalResolved, Judged, ManualApprovalRequired, Progress, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.assistants.body import spent
from loop_ls.engine.assistants.memory import ProgressLog
from loop_ls.engine.checks.judging import LoopChecks, evidence_of
from loop_ls.engine.checks.programs import outcome_of, recorded_result
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn, Verdict
from loop_ls.engine.core.ports import Approval, Recorder
from loop_ls.engine.judges.pattern import LIMIT, Pattern
from loop_ls.engine.judges.test_command import Command, CommandResult, words_of
from loop_ls.formats.assistant.keys import MANUAL, REGEX, TEST_PASS
from loop_ls.formats.assistant.model import Assistant, Criteria
from loop_ls.formats.checks.model import Check
from loop_ls.text.json_value import Json, from_fields


class PatternVerdict(TypedDict):
    """What a pattern found, in the record."""

    verdict: Judgement
    answer: str


@dataclass(frozen=True, slots=True)
class AssistantJudge:
    """`folder` is the workspace, `environ` that of the engine. `recorded`: see `AgentBody`.
    `revise`: people may ask for changes. `checks` are asked before the criterion, and in place of one that the file
    does not have."""

    assistant: Assistant
    log: ProgressLog
    recorder: Recorder
    place: Place
    folder: str
    environ: Mapping[str, str]
    pattern_limit: float = LIMIT
    recorded: Callable[[str], Json] | None = None
    revise: bool = False
    checks: LoopChecks | None = None

    async def judge(self, turn: Turn, output: str) -> Verdict:
        progress = Progress(iteration=turn.number, learning=self.log.learnings[-1])
        await self.recorder.record(turn.place.part("progress"), [progress.fact(turn.place)])
        found = await self._criterion(turn, output)
        if found.exit is None and self._over_budget(turn.number):
            return Verdict("no", "budget")
        if found.exit is None:
            await self._look_for_a_stall(turn)
        return found

    async def _look_for_a_stall(self, turn: Turn) -> None:
        """Learning the same again and again only costs: a person shall look at it (`stallAfter`)."""
        after, same = self.assistant.stall_after, self.log.same_at_the_end()
        if not after or same < 2 or same % after:
            return
        told = f"the last {same} iterations had the same learnings; the loop is paused until you resume it"
        fact = Warned(code="stalled", message=told).fact(turn.place)
        await self.recorder.record(turn.place.part("stall"), [fact])
        await self.recorder.hold(turn.place.part("stalled"), "stalled")

    async def _criterion(self, turn: Turn, output: str) -> Verdict:
        criteria = self.assistant.criteria or Criteria()
        failing = None if self.checks is None else await self.checks.refused(turn, output)
        if failing is not None:
            return self._often_enough(criteria, failing)
        match criteria.type:
            case _ if self.checks is not None and self.assistant.criteria is None and self.checks.decide:
                await self.checks.met(turn)
                return _verdict("yes", "")
            case t if t == REGEX:
                looked_at = last_line(output) if criteria.last_line else output
                return self._often_enough(criteria, await self._pattern(turn, criteria.value, looked_at))
            case t if t == TEST_PASS:
                return self._often_enough(criteria, await self._command(turn, criteria))
            case t if t == MANUAL:
                return await self._person(turn, output)
            case _:
                return Verdict("no")

    def _often_enough(self, criteria: Criteria, found: Verdict) -> Verdict:
        """Where a criterion has to be met several times in a row, the last of them ends the loop."""
        self.log.met_in_a_row = self.log.met_in_a_row + 1 if found.verdict == "yes" else 0
        return found if self.log.met_in_a_row >= criteria.in_a_row else replace(found, exit=None)

    def _over_budget(self, number: int) -> bool:
        cap = self.assistant.max_total_budget_usd
        return cap is not None and spent(self.recorder, self.place, number, self.assistant) >= cap

    # -- pattern -----------------------------------------------------------------------------------

    async def _pattern(self, turn: Turn, written: str, output: str) -> Verdict:
        key = turn.place.part("judge")
        recall = self.recorded or self.recorder.recall
        known = cast("PatternVerdict | None", recall(key))
        if known is None:
            found = await Pattern(written, self.pattern_limit).judge(output)
            known = {"verdict": found.verdict, "answer": found.answer}
            facts = [self._judged(turn, REGEX, written, found.verdict, found.answer).fact(turn.place)]
            if found.verdict == "error" and not Pattern(written).problem:
                told = f"{found.answer}; the criterion counts as not met"
                facts.append(Warned(code="slow_pattern", message=told).fact(turn.place))
            await self.recorder.record(key, facts, answer=known)
        return _verdict(known["verdict"], known["answer"])

    # -- command -----------------------------------------------------------------------------------

    async def _command(self, turn: Turn, criteria: Criteria) -> Verdict:
        """The criterion as one more check: the same program, for which the loop keeps a criterion of its own."""
        words = words_of(criteria.value) if criteria.argv is None else criteria.argv
        command = Command(words, self._folder(criteria), criteria.timeout_seconds, self.environ)

        def judged(answer: Mapping[str, object]) -> list[Fact]:
            found = from_fields(CommandResult, answer)
            verdict: Judgement = "yes" if found.passed else "no"
            return [self._judged(turn, TEST_PASS, " ".join(words), verdict, found.told).fact(turn.place)]

        found = await recorded_result(command, self.recorder, turn.place.part("judge"), judged)
        if criteria.include_output and not found.passed:
            self.log.check = found.output
        verdict = _verdict("yes" if found.passed else "no", found.told)
        if found.passed:
            return verdict
        check = Check(TEST_PASS, "command", value=list(words), timeout=criteria.timeout_seconds)
        return replace(verdict, evidence=evidence_of([outcome_of(check, found)]))

    def _folder(self, criteria: Criteria) -> str:
        return self.folder if not criteria.cwd else f"{self.folder}/{criteria.cwd}"

    # -- person ------------------------------------------------------------------------------------

    async def _person(self, turn: Turn, output: str) -> Verdict:
        key = turn.place.part("loop_id")
        loop_id = cast("str | None", self.recorder.recall(key))
        if loop_id is None:
            loop_id = str(uuid.uuid4())
            await self.recorder.record(key, answer=loop_id)
        asked = ManualApprovalRequired(
            iteration=turn.number, output=output, loop_id=loop_id, revise=self.revise or None
        )
        with self.recorder.undivided():  # a pause waits for the next iteration, an answer ends this one
            decided = await self._decided(turn, asked)
        match decided.decision:
            case "approve":
                return Verdict("yes", "approved", decided.feedback or "")
            case "revise":
                self.log.feedback = decided.feedback or ""
                return Verdict("no", None, decided.feedback or "")
            case _:
                return Verdict("no", "rejected", decided.feedback or "")

    async def _decided(self, turn: Turn, asked: ManualApprovalRequired) -> Approval:
        limit = self.assistant.approval_timeout_seconds
        if limit is None:
            return await self.recorder.approval(turn.place, asked)
        waiting = asyncio.create_task(self.recorder.approval(turn.place, asked))
        alarm = asyncio.create_task(self.recorder.sleep(turn.place.part("approval_limit"), limit))
        try:
            await asyncio.wait({waiting, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            alarm.result()
            return await self._too_late(turn, asked)
        finally:
            for task in (waiting, alarm):
                task.cancel()
            await asyncio.gather(waiting, alarm, return_exceptions=True)

    async def _too_late(self, turn: Turn, asked: ManualApprovalRequired) -> Approval:
        """Nobody answered in time: a no, written where a person's answer would stand."""
        no = Approval(False, "reject", "no answer in time")
        fact = ApprovalResolved(loop_id=asked.loop_id, **asdict(no)).fact(turn.place)
        await self.recorder.record(turn.place.part("approval"), [fact], answer=asdict(no))
        return no

    def _judged(self, turn: Turn, criterion: str, condition: str, verdict: Judgement, answer: str) -> Judged:
        return Judged(
            criterion=criterion,
            verdict=verdict,
            iteration=turn.number,
            condition=condition,
            output_ref=turn.place.key,
            answer=answer,
            local=True,
        )


def _verdict(word: Judgement, answer: str) -> Verdict:
    return Verdict(word, "condition_met" if word == "yes" else None, answer)


def last_line(output: str) -> str:
    """The last line that is not blank."""
    return output.rstrip().rpartition("\n")[2]
