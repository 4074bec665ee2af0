"""What ends a role loop: the word of the last stage, a model that looks at the goal, time, a tool, or nobody.

The verdict comes before the limit, so that approval in the last round is approval. A judge that fails
counts as "not met", and the loop goes on.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from loop_ls.contract.facts.kinds import Judged, StageVerdict, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.findings import finding_line
from loop_ls.engine.checks.judging import LoopChecks
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.loop_driver import Evidence, Turn, Verdict
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.model_calls.ask import Question, ask
from loop_ls.engine.roles.approval import Finding, by_last_line, by_words
from loop_ls.engine.roles.blocked import ask_person
from loop_ls.engine.roles.findings import Point, listed_points
from loop_ls.engine.roles.gate import GateVerdict, GoalVerdict, gate_question, goal_question, read_gate, read_goal
from loop_ls.engine.roles.loop import RoundMemory, Started, recorded_stage
from loop_ls.engine.roles.measuring import Measure, number_in
from loop_ls.engine.roles.outcome import first_line, one_line
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, IterationBound, Manual, TimeBound, ToolBound

#: A loop that ends so waits for a person: its gate refused too often.
REWORK = "question"
_COMPARE = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(slots=True)
class RoundJudge:
    """Asked after each iteration; closes its sprint once it knows whether another one follows."""

    started: Started
    memory: RoundMemory
    measure: Measure | None = None
    checks: LoopChecks | None = None
    refused: int = field(default=0, init=False)

    async def judge(self, turn: Turn, output: str) -> Verdict:
        await self.started.recorder.gate()  # a pause during the last stage keeps the verdict back, too
        failing = None
        if self.checks is not None:
            failing = await self.checks.refused(turn, output, self.started.outputs(turn))
        verdict = await self._verdict(turn, output, failing)
        limit = self.started.limit()
        ends = verdict.exit is not None or (limit is not None and turn.number >= limit)
        last = self.started.definition.stages[-1]
        status: Literal["complete", "rejected"] = "complete" if ends and verdict.exit != REWORK else "rejected"
        await self.started.sprints.end(turn.number, status, one_line(last.role, "completed", output))
        return verdict

    async def _verdict(self, turn: Turn, output: str, failing: Verdict | None) -> Verdict:
        """While a check fails nobody is asked; time and numbers go by all the same."""
        match self.started.definition.termination:
            case EvaluationBound() | GoalBound() | ToolBound() if failing is not None:
                return failing
            case EvaluationBound():
                return await self._evaluate(turn, output)
            case GoalBound():
                return await self._goal(turn, output)
            case TimeBound():
                over = await self._time(turn)
                return over if over.exit is not None else failing or over
            case ToolBound() as bound:
                return await self._tool(turn, bound)
            case IterationBound() | Manual():
                return failing or Verdict("no")
            case never:
                assert_never(never)

    # -- the word of the last stage ------------------------------------------------------------------

    async def _evaluate(self, turn: Turn, output: str) -> Verdict:
        approval = self.started.definition.approval
        match approval.mode:
            case "keyword" | "verdict_line" as mode:
                read, gates = by_words if mode == "keyword" else by_last_line, self._gates(turn, output)
                found = await asyncio.to_thread(lambda: [read(text, approval.signals) for text in gates.values()])
                return await self._words(turn, gates, found)
            case "llm":
                return await self._gate(turn, output)
            case never:
                assert_never(never)

    def _gates(self, turn: Turn, output: str) -> dict[str, str]:
        """The outputs that judge, by their places: those of the stages that are gates, and that of the last one."""
        stages = self.started.definition.stages
        places = (self.started.stage_place(turn, n) for n, stage in enumerate(stages[:-1]) if stage.gate)
        known = ((place.key, recorded_stage(self.started.recorder, place)) for place in places)
        gates = {key: one["output"] for key, one in known if one is not None and "output" in one}
        return gates | {self._last(turn): output}

    def _last(self, turn: Turn) -> str:
        return self.started.stage_place(turn, len(self.started.definition.stages) - 1).key

    async def _words(self, turn: Turn, gates: dict[str, str], found: list[Finding]) -> Verdict:
        counting = next((one for one in found if not one.approved), found[-1])
        word: Literal["yes", "no"] = "yes" if counting.approved else "no"
        refusing = (
            ()
            if counting.approved
            else tuple(text for text, one in zip(gates.values(), found, strict=True) if not one.approved)
        )
        points = tuple(point for text in refusing for point in listed_points(text))
        said: list[StageVerdict] = [
            {"place": key, "verdict": "yes" if one.approved else "no"} for key, one in zip(gates, found, strict=True)
        ]
        judged = self._judged(turn, word, counting.reason, local=True, points=points, stages=said)
        await self._recorded(turn, [judged.fact(turn.place)])
        return self._remembered(turn, points, Verdict(word, "approved" if counting.approved else None, counting.reason))

    async def _gate(self, turn: Turn, output: str) -> Verdict:
        prompt = gate_question(self.started.goal, self.started.criteria, output)
        try:
            answer = await self._ask(turn, prompt, lambda text: self._gate_facts(turn, output, text))
        except Failure as failure:
            verdict = await self._not_met(turn, failure)
        else:
            found = self._read_gate(output, answer)
            verdict = Verdict("yes" if found.approved else "no", "approved" if found.approved else None, answer)
            verdict = self._remembered(turn, found.findings, verdict)
            self.memory.rationale = "" if found.approved else found.rationale
        self.refused = 0 if verdict.exit else self.refused + 1
        if self.refused >= self.started.definition.max_rework_attempts and not self._at_limit(turn):
            return await self._asked(turn, output, verdict)
        return verdict

    async def _asked(self, turn: Turn, output: str, verdict: Verdict) -> Verdict:
        """The gate refused too often: a person says how it continues, or that it ends."""
        told = f"the gate rejected {self.refused} times in a row, the last time: {first_line(output)}"
        why = f"{told}\n\n{self.memory.rationale}" if self.memory.rationale else told
        found = await ask_person(self.started.recorder, turn.place, 1, f"{why[:1].upper()}{why[1:]}")
        if found.decision != "retry":
            return replace(verdict, exit=REWORK)
        self.refused = 0
        if found.feedback:
            self.memory.rationale = f"{self.memory.rationale}\n\nA person says: {found.feedback}".strip()
        return verdict

    def _read_gate(self, output: str, answer: str) -> GateVerdict:
        """Prose instead of an object: the words of the review decide."""
        read = read_gate(answer)
        if read is not None:
            return read
        approved = by_words(output, self.started.definition.approval.signals).approved
        return GateVerdict(approved, () if approved else listed_points(output))

    def _gate_facts(self, turn: Turn, output: str, answer: str) -> list[Fact]:
        found = self._read_gate(output, answer)
        word: Literal["yes", "no"] = "yes" if found.approved else "no"
        judged = self._judged(
            turn, word, answer, points=found.findings, stages=[{"place": self._last(turn), "verdict": word}]
        )
        facts = [judged.fact(turn.place)]
        if found.contradiction:
            facts.append(Warned(code="contradiction", message=found.contradiction).fact(turn.place))
        return facts

    # -- a model that looks at the goal --------------------------------------------------------------

    async def _goal(self, turn: Turn, output: str) -> Verdict:
        prompt = goal_question(self.started.goal, self.started.criteria, self.memory.outcomes[:-1], output)
        if not self.started.utility:
            message = (
                "no model is configured to judge the goal (`judge` or `assist` in the settings), so the loop "
                "runs to its limit"
            )
            await self.started.recorder.record(":no_judge", [Warned(code="no_judge", message=message).fact(turn.place)])
            return Verdict("no")
        try:
            answer = await self._ask(turn, prompt, lambda text: [self._goal_judged(turn, text).fact(turn.place)])
        except Failure as failure:
            return await self._not_met(turn, failure)
        found = read_goal(answer)
        self.memory.rationale = "" if found.achieved else found.rationale
        verdict = Verdict("yes" if found.achieved else "no", "goal_met" if found.achieved else None, answer)
        return self._remembered(turn, _missing(found), verdict)

    def _goal_judged(self, turn: Turn, answer: str) -> Judged:
        found = read_goal(answer)
        return self._judged(turn, "yes" if found.achieved else "no", answer, points=_missing(found))

    # -- time and tools ------------------------------------------------------------------------------

    async def _time(self, turn: Turn) -> Verdict:
        now = await self.started.recorder.now(turn.place.part("now"))
        over = self.started.deadline is not None and now >= self.started.deadline
        return Verdict("yes", "deadline") if over else Verdict("no")

    async def _tool(self, turn: Turn, bound: ToolBound) -> Verdict:
        if self.measure is None:
            return await self._not_met(turn, Failure("no_tools", f"unknown tool `{bound.tool}`"))
        try:
            text = await self.measure(turn.place.part("measure"), bound.tool, bound.arguments)
        except Failure as failure:
            return await self._not_met(turn, failure)
        number = number_in(text)
        met = number is not None and bound.threshold is not None and _COMPARE[bound.operator](number, bound.threshold)
        told = f"`{bound.tool}` gave {number if number is not None else 'no number'}"
        judged = self._judged(turn, "yes" if met else "no", told, local=True)
        await self._recorded(turn, [judged.fact(turn.place)])
        return Verdict("yes" if met else "no", "condition_met" if met else None, told)

    # -- parts ---------------------------------------------------------------------------------------

    async def _ask(self, turn: Turn, prompt: str, then: Callable[[str], Iterable[Fact]]) -> str:
        key = turn.place.part("judge")
        question = Question(
            place=turn.place,
            key=key,
            prompt=prompt,
            targets=self.started.utility,
            temperature=0.0,
            purpose="judge",
            request_place=key,
            shown={**turn.place.fields(), "purpose": "judge"},
        )
        return await ask(question, self.started.models, self.started.recorder, then=then)

    async def _not_met(self, turn: Turn, failure: Failure) -> Verdict:
        judged = self._judged(turn, "error", failure.message)
        told = in_one_line((f"the judge did not answer: {failure.message}", "the loop continues"))
        warned = Warned(code="judge_failed", message=told)
        await self._recorded(turn, [judged.fact(turn.place), warned.fact(turn.place)])
        return Verdict("error", None, failure.message)

    async def _recorded(self, turn: Turn, facts: list[Fact]) -> None:
        await self.started.recorder.record(turn.place.part("judged"), facts)

    def _at_limit(self, turn: Turn) -> bool:
        limit = self.started.limit()
        return limit is not None and turn.number >= limit

    def _remembered(self, turn: Turn, points: tuple[Point, ...], verdict: Verdict) -> Verdict:
        """Tick off what is settled. What a refusal names is the evidence by which it is compared with the last one."""
        findings, _ = self.memory.findings.after(points, turn.number, verdict.verdict == "yes")
        self.memory.findings = findings
        if verdict.verdict == "yes" or not points:
            return verdict
        named = "; ".join(finding_line(one) for one in findings.open)
        return replace(
            verdict,
            evidence=Evidence(str([one["number"] for one in findings.open]), f"the judge found the same: {named}"),
        )

    def _judged(
        self,
        turn: Turn,
        word: Literal["yes", "no", "error"],
        answer: str,
        local: bool | None = None,
        points: tuple[Point, ...] = (),
        stages: list[StageVerdict] | None = None,
    ) -> Judged:
        _, said = self.memory.findings.after(points, turn.number, word == "yes")
        return Judged(
            criterion=self.criterion,
            verdict=word,
            iteration=turn.number,
            condition=self.started.criteria,
            output_ref=turn.place.key,
            answer=answer,
            local=bool(local),
            findings=(said or None) if word != "error" else None,
            stages=stages,
        )

    @property
    def criterion(self) -> str:
        match self.started.definition.termination:
            case EvaluationBound():
                return "approval"
            case GoalBound():
                return "goal"
            case ToolBound():
                return "tool"
            case _:
                return "limit"


def _missing(found: GoalVerdict) -> tuple[Point, ...]:
    return () if found.achieved else listed_points(found.rationale)
