"""A model with tools: it is asked, the tools that it asks for are called, it is asked again.

Every answer of the model and of a tool is recorded under a key of its own, so a run that was interrupted
goes on behind the last finished one. Whose tools they are is the caller's business.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Protocol, TypedDict

from loop_ls.contract.facts.kinds import ToolCalled
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.messages import ToolAnswer, ToolCall, ToolSpec, Turn, read_calls
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.core.task_group import together
from loop_ls.engine.model_calls.ask import ModelAnswer, Question, answered
from loop_ls.text.json_value import Json

#: Rounds of tools in one answer, where nobody says how many.
ROUNDS = 10
#: What a model reads behind the results of its last round of tools.
CLOSING = "\n\n[No more tools can be used. Answer now with what you know, and say what is left open.]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool answered; `source` is who answered (a server), for the record."""

    text: str
    failed: bool = False
    source: str = ""


class ToolResult(TypedDict):
    """The outcome of a call in the record; `duration` in seconds."""

    text: str
    failed: bool
    source: str
    duration: float


class Toolbox(Protocol):
    """The tools of one question."""

    async def offered(self) -> tuple[ToolSpec, ...]:
        """All of them. Raises `Failure` where they cannot be had at all."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        """What tool `name` answers; a failed outcome goes to the model. A `Failure` ends the question."""
        ...


async def converse(
    question: Question,
    toolbox: Toolbox,
    rounds: int,
    models: Models,
    recorder: Recorder,
    before: Sequence[Fact] = (),
    then: Callable[[str], Iterable[Fact]] = lambda text: (),
    budget: float | None = None,
) -> str:
    """The model's last word, after at most `rounds` rounds of tools, or once its answers have cost `budget` dollars:
    the question after the last one wants an answer without them, so that no work is lost. Raises `Failure` where
    none comes."""
    asked, spent = replace(question, offered=toolbox.offered), 0.0
    for number in count(1):
        closing = number > rounds or (budget is not None and number > 1 and spent >= budget)
        if closing:
            asked = _closing(asked)
        answer = await answered(
            asked,
            models,
            recorder,
            before if number == 1 else (),
            partial(_following, closing=closing, then=then),
        )
        spent += answer["usd"] or 0.0
        calls = read_calls(answer.get("calls"))
        if not _goes_on(answer, closing):
            return answer["text"]
        if closing:
            raise _no_end(question, rounds)
        keys = (f"{question.key}-{number}.tool{position}" for position in range(1, len(calls) + 1))
        answers = await together(
            _call(question, key, call, toolbox, recorder) for key, call in zip(keys, calls, strict=True)
        )
        turn = Turn(answer["text"], calls, tuple(answers), answer.get("thoughts", ""))
        asked = _next(asked, question, turn, number, answer)
    raise AssertionError("counting does not end")


def _goes_on(answer: ModelAnswer, closing: bool) -> bool:
    """Whether it asks for tools. Of one that had to answer without them what it says counts, if it says anything."""
    return bool(answer.get("calls")) and not (closing and answer["text"].strip())


def _following(answer: ModelAnswer, closing: bool, then: Callable[[str], Iterable[Fact]]) -> Iterable[Fact]:
    return () if _goes_on(answer, closing) else then(answer["text"])


def _closing(asked: Question) -> Question:
    """The same question for an answer without tools. They stay declared: services refuse rounds of unknown ones."""
    if not asked.turns:
        return replace(asked, offered=None)
    *before, last = asked.turns
    answers = (*last.answers[:-1], replace(last.answers[-1], text=last.answers[-1].text + CLOSING))
    return replace(asked, turns=(*before, replace(last, answers=answers)), closing=True)


def round_key(key: str, number: int) -> str:
    """Where the answer of a round is recorded, from 1 on."""
    return key if number == 1 else f"{key}-{number}"


def _next(asked: Question, question: Question, turn: Turn, number: int, answer: ModelAnswer) -> Question:
    """The question of the next round: whoever answered is asked first."""
    who = (answer["provider"], answer["model"])
    first = next((n for n, target in enumerate(asked.targets) if (target.provider, target.model) == who), 0)
    targets = asked.targets[first:] + asked.targets[:first]
    return replace(asked, key=round_key(question.key, number + 1), turns=(*asked.turns, turn), targets=targets)


async def _call(question: Question, key: str, call: ToolCall, toolbox: Toolbox, recorder: Recorder) -> ToolAnswer:
    """One call of a tool, once per run."""

    async def work() -> ToolResult:
        began = time.perf_counter()
        found = await _outcome(call, toolbox)
        took = round(time.perf_counter() - began, 6)
        return {"text": found.text, "failed": found.failed, "source": found.source, "duration": took}

    def facts(found: ToolResult) -> list[Fact]:
        arguments = call.written if call.arguments is None else call.arguments
        outcome = Outcome(found["text"], found["failed"], found["source"])
        return [tool_called(call.name, arguments, outcome, found["duration"]).fact(question.place)]

    found = await recorder.call(key, work, facts)
    return ToolAnswer(call.id, found["text"], found["failed"])


def tool_called(tool: str, arguments: Mapping[str, Json] | str, found: Outcome, duration: float) -> ToolCalled:
    """The fact that a tool was used: by a model, or by a program that has it from us. `arguments` are a text where they
    are no JSON object."""
    return ToolCalled(
        tool=tool,
        source=found.source,
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
        failed=found.failed,
        characters=len(found.text),
        duration=round(duration, 6),
    )


async def _outcome(call: ToolCall, toolbox: Toolbox) -> Outcome:
    if call.arguments is None:
        return Outcome(f"the arguments of `{call.name}` are not a JSON object: {call.written[:200]}", failed=True)
    known = [tool.name for tool in await toolbox.offered()]
    if call.name not in known:
        return Outcome(f"unknown tool `{call.name}`; available tools: {', '.join(known) or 'none'}", failed=True)
    return await toolbox.call(call.name, call.arguments)


def _no_end(question: Question, rounds: int) -> Failure:
    return Failure(
        "limit_reached",
        f"the model still requested tools after {rounds} rounds",
        f"raise `max_iterations` of the step or stage (now {rounds}), or tell the model in the prompt when to stop",
        place=question.place.key,
    )
