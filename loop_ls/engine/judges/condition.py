"""Judging `until`: locally where it names its text, else by asking a model YES or NO.

A judge that fails, stays unclear or cannot be asked counts as "not met" with a warning: the loop goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from loop_ls.contract.endings import Judgement
from loop_ls.contract.facts.kinds import Judged, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.context.interpolation import Rendered, interpolate, undefined
from loop_ls.engine.context.loop_variables import AfterIteration
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.loop_driver import History, Turn, Verdict
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.judges.choice import Choice
from loop_ls.engine.judges.local import NothingToLookFor, holds
from loop_ls.engine.judges.verdict_parser import read_verdict
from loop_ls.engine.model_calls.ask import ModelAnswer, Question, answered
from loop_ls.formats.common.key_table import CONSEQUENCES
from loop_ls.formats.workflow.judge_question import until_question


@dataclass(frozen=True, slots=True)
class UntilJudge:
    """Asked after each successful iteration. `scope` is the caller's, without `loop.*`; `said` are the verdicts so
    far, the same after a crash, since recorded answers are judged again."""

    condition: str
    choice: Choice
    scope: Scope
    history: History
    models: Models
    recorder: Recorder
    said: list[Judgement] = field(default_factory=list)

    async def judge(self, turn: Turn, output: str) -> Verdict:
        verdict = await self._judge(turn, output)
        twice = verdict.verdict == "impossible" and self.said[-1:] == ["impossible"]
        self.said.append(verdict.verdict)
        return replace(verdict, exit="impossible", because=verdict.answer) if twice else verdict

    async def _judge(self, turn: Turn, output: str) -> Verdict:
        scope = self.scope.with_loop(AfterIteration(turn.number, self.history.so_far()))
        rendered = interpolate(self.condition, scope)
        if rendered.unknown:
            return await self._not_met(turn, rendered, "unknown_variable", undefined("`until`", rendered.unknown))
        if self.choice.local is not None:
            return await self._look(turn, rendered, output, scope)
        return await self._ask(turn, rendered, output)

    async def _look(self, turn: Turn, rendered: Rendered, output: str, scope: Scope) -> Verdict:
        assert self.choice.local is not None
        try:
            met = holds(self.choice.local, output, scope)
        except NothingToLookFor:
            return await self._not_met(turn, rendered, "empty_condition", "`until` looks for an empty string")
        judged = self._judged(turn, rendered, "yes" if met else "no").model_copy(update={"local": True})
        await self.recorder.record(turn.place.part("judge"), [judged.fact(turn.place)])
        return _verdict(judged)

    async def _ask(self, turn: Turn, rendered: Rendered, output: str) -> Verdict:
        question = Question(
            place=turn.place,
            key=turn.place.part("judge"),
            prompt=until_question(rendered.text, output, self.choice.impossible),
            targets=self.choice.targets,
            temperature=0.0,
            timeout=self.choice.timeout,
            purpose="judge",
            request_place=turn.place.part("judge"),
            shown={**turn.place.fields(), "purpose": "judge"},
        )
        try:
            found = await self._first_answer(turn, rendered, question)
            if found is None or self._read(found["text"], rendered) == "unclear":
                again = replace(question, key=turn.place.part("judge:again"))
                found = await answered(
                    again, self.models, self.recorder, then=lambda answer: self._final(turn, rendered, answer)
                )
        except Failure as failure:
            return await self._not_met(turn, rendered, "judge_failed", f"the judge did not answer: {failure.message}")
        answer = found["text"]
        return _verdict(self._judged(turn, rendered, self._read(answer, rendered), answer))

    def _read(self, answer: str, rendered: Rendered) -> Judgement:
        return read_verdict(answer, rendered.text if self.choice.impossible else None)

    async def _first_answer(self, turn: Turn, rendered: Rendered, question: Question) -> ModelAnswer | None:
        """A judge that used its tokens up in thinking has said nothing clear, and is asked again like one that
        has. Raises `Failure`."""
        try:
            return await answered(
                question, self.models, self.recorder, then=lambda answer: self._first(turn, rendered, answer)
            )
        except Failure as failure:
            if failure.code != "empty":
                raise
            message = f"{failure.message.rstrip('.')}; the judge was asked again"
            warned = Warned(code="unclear_verdict", message=message).fact(turn.place)
            await self.recorder.record(turn.place.part("judge:empty"), [warned])
            return None

    def _first(self, turn: Turn, rendered: Rendered, found: ModelAnswer) -> list[Fact]:
        answer = found["text"]
        if self._read(answer, rendered) != "unclear":
            return self._final(turn, rendered, found)
        message = f"the judge answered {self._neither} ({_shortened(answer)}) and was asked again"
        return [Warned(code="unclear_verdict", message=message).fact(turn.place)]

    def _final(self, turn: Turn, rendered: Rendered, found: ModelAnswer) -> list[Fact]:
        answer = found["text"]
        verdict = self._read(answer, rendered)
        cut = True if found.get("finish") == "length" else None
        judged = self._judged(turn, rendered, verdict, answer).model_copy(update={"cut": cut})
        facts = [judged.fact(turn.place)]
        if verdict == "unclear":
            message = (
                f"the judge answered {self._neither} twice ({_shortened(answer)}); the condition counts as not met"
            )
            facts.append(Warned(code="unclear_verdict", message=message).fact(turn.place))
        return facts

    async def _not_met(self, turn: Turn, rendered: Rendered, code: str, message: str) -> Verdict:
        judged = self._judged(turn, rendered, "error")
        warned = Warned(code=code, message=in_one_line((message, CONSEQUENCES["not met"])))
        await self.recorder.record(turn.place.part("judged"), [judged.fact(turn.place), warned.fact(turn.place)])
        return _verdict(judged)

    def _judged(self, turn: Turn, rendered: Rendered, verdict: Judgement, answer: str = "") -> Judged:
        return Judged(
            criterion="until",
            verdict=verdict,
            iteration=turn.number,
            condition=self.condition,
            interpolated=rendered.text if rendered.text != self.condition else None,
            output_ref=turn.place.key,
            answer=answer,
            may_be_impossible=self.choice.impossible or None,
        )

    @property
    def _neither(self) -> str:
        return "neither YES, NO nor a reasoned IMPOSSIBLE" if self.choice.impossible else "neither YES nor NO"


def _verdict(judged: Judged) -> Verdict:
    return Verdict(judged.verdict, "condition_met" if judged.verdict == "yes" else None, judged.answer)


def _shortened(answer: str) -> str:
    text = " ".join(answer.split())
    if not text:
        return "an empty answer"
    return f'"{text[:60]}…"' if len(text) > 60 else f'"{text}"'
