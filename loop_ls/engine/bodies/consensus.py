"""A `consensus` step: several models, one question, a vote over whole answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loop_ls.engine.bodies.context import Finished
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.model_targets import vote_asking
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.task_group import together
from loop_ls.engine.model_calls.ask import Question, ask
from loop_ls.engine.model_calls.notes import as_said
from loop_ls.formats.workflow.model import Consensus


@dataclass(frozen=True, slots=True)
class Count:
    """The outcome of a vote. `winner` is the first answer, as given, of the largest group."""

    winner: str
    agreeing: int
    answers: int

    @property
    def agreement(self) -> float:
        return self.agreeing / self.answers

    @property
    def confidence(self) -> Literal["high", "good", "medium", "low"]:
        if self.agreeing == self.answers:
            return "high"
        if self.agreement >= 0.75:
            return "good"
        return "medium" if self.agreement >= 0.6 else "low"

    def meets(self, require: Literal["unanimous", "2/3", "majority"]) -> bool:
        match require:
            case "unanimous":
                return self.agreeing == self.answers
            case "2/3":
                return self.agreeing * 3 >= self.answers * 2
            case "majority":
                return self.agreeing * 2 > self.answers


def vote(answer: str) -> str:
    """What an answer counts as: blanks and capitals aside, the whole of it (D42)."""
    return " ".join(answer.split()).casefold()


def count(answers: Sequence[str]) -> Count:
    """Count the votes; of equal groups the one that stands first wins."""
    votes = [vote(answer) for answer in answers]
    best = max(votes, key=votes.count)  # the first of the largest
    return Count(answers[votes.index(best)], votes.count(best), len(votes))


async def run_consensus(attempt: Try, consensus: Consensus) -> Finished:
    """Ask all at once. Raises `Failure` with fewer than two answers or too little agreement."""
    rendered = interpolate(consensus.prompt, attempt.scope)
    recorder, inner, name = attempt.frame.recorder, attempt.inner, attempt.step.name
    warnings = attempt.unknown(rendered.unknown, f"`{name}`") if attempt.attempt == 1 else []
    await recorder.record(inner.part("started"), [attempt.started(), *warnings])
    replies = await together(_answer(attempt, consensus, n, rendered.text) for n in range(len(consensus.executions)))
    answers = [reply for reply in replies if isinstance(reply, str)]
    if len(answers) < 2:
        failed = in_one_line(str(reply) for reply in replies if isinstance(reply, Failure))
        raise Failure("no_consensus", f"`{name}` got {'1 answer' if answers else 'no answers'} and needs two: {failed}")
    found = count(answers)
    if not found.meets(consensus.require):
        told = f"{found.agreeing} of {found.answers} answers of `{name}` agree; `{consensus.require}` is required"
        raise Failure("no_consensus", told, "ask for a one-word answer, so that answers can match")
    kind, body = attempt.completed(found.winner)
    votes = [reply if isinstance(reply, str) else None for reply in replies]
    body |= {"votes": votes, "agreement": found.agreement, "confidence": found.confidence}
    await recorder.record(inner.part("completed"), [(kind, body)])
    return Finished(name, found.winner)


async def _answer(attempt: Try, consensus: Consensus, number: int, prompt: str) -> str | Failure:
    """One model's answer; its failure is a vote that is not given. Nobody is asked in its place."""
    execution, frame = consensus.executions[number], attempt.frame
    how = vote_asking(execution, consensus, attempt.step, frame.workflow.execution)
    key = attempt.inner.part(f"vote{number + 1}")
    question = Question(
        place=attempt.place,
        key=key,
        prompt=await as_said(prompt, frame.recorder, attempt.place, key),
        targets=how.targets,
        temperature=how.temperature,
        max_tokens=how.max_tokens,
        timeout=how.timeout,
        purpose="consensus",
        once=attempt.retried,
        shown={**attempt.place.fields(), "step": attempt.step.name, "vote": number + 1},
    )
    try:
        return await ask(question, frame.context.models, frame.recorder)
    except Failure as failure:
        return failure
