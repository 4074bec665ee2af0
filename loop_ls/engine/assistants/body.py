"""One iteration of an assistant loop: a fresh agent with the message and the log of what came before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import cast

from loop_ls.contract.facts.kinds import Retrying, Warned
from loop_ls.engine.assistants.errors import classified
from loop_ls.engine.assistants.memory import ProgressLog
from loop_ls.engine.assistants.memory_file import ASKED, MemoryFile, told_memory
from loop_ls.engine.assistants.message import composed
from loop_ls.engine.assistants.profile import budget_of, model_of, tools_of
from loop_ls.engine.assistants.source import Source, as_noted, noted, told_of
from loop_ls.engine.assistants.tools import ToolsOfServers
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn, error_of
from loop_ls.engine.core.ports import Failure, ModelFailure, Recorder
from loop_ls.engine.model_calls.notes import as_said
from loop_ls.engine.model_calls.tool_loop import round_key
from loop_ls.engine.protection.guard import guarded
from loop_ls.engine.runners.recorded import perform
from loop_ls.engine.runners.runner import IDLE, Assignment, Runner
from loop_ls.formats.assistant.model import Assistant
from loop_ls.text.json_value import Json, JsonObject

#: Kinds of failures that may pass by themselves.
RETRYABLE = frozenset({"STREAM_ERROR", "API_ERROR", "TIMEOUT_ERROR", "APPROVAL_TIMEOUT", "RESOURCE_ERROR"})


@dataclass(frozen=True, slots=True)
class Limits:
    """Of every iteration's process, in seconds; None: none."""

    idle: float | None = IDLE
    total: float | None = None


@dataclass(frozen=True, slots=True)
class AgentBody:
    """`most` is the limit that the agent is told. `provider` are the settings of the assistant's provider, `skills`
    what those of the assistant say.
    `recorded` is there where the way is gone once more: what this run has noted under a key."""

    source: Source
    place: Place
    message: str
    most: int
    runner: Runner
    folder: str
    log: ProgressLog
    recorder: Recorder
    provider: Mapping[str, Json]
    limits: Limits = Limits()
    skills: str = ""
    tools: ToolsOfServers | None = None
    memory: MemoryFile | None = None
    recorded: Callable[[str], Json] | None = None

    async def run(self, turn: Turn) -> str:
        assistant = await self._now(turn)
        try:
            output = await self._tried(turn, assistant)
        except (Failure, ModelFailure) as failure:
            if failure.code == "empty_message":
                raise
            told = f"Iteration {turn.number} failed: {failure.message}"
            raise Failure(failure.code, told, failure.hint, place=turn.place.key) from failure
        if self.memory is not None:
            await self.memory.keep(turn, self.message, output)
        return output

    async def _now(self, turn: Turn) -> Assistant:
        """As the file says it. What is new since the iteration before is said and noted, once."""
        if self.recorded is not None:
            return as_noted(self.source.started, self._notes(turn.number), self.recorded)
        if self.recorder.recall(turn.place.part("ask")) is not None:
            # It is paid and needs no file any more: after a crash there may be thousands of them.
            return as_noted(self.source.started, self._notes(turn.number), self.recorder.recall)
        assistant, changes = await asyncio.to_thread(self.source.now)
        facts = [Warned(code=each.code, message=each.message).fact(turn.place) for each in changes]
        found = [body["code"] for _, body in facts], told_of(assistant)
        if found != self._noted_before(turn):
            bodies = [body for _, body in facts] or [{}]
            answer = [{**body, "told": found[1]} for body in bodies]
            await self.recorder.record(self._note(turn.number), facts, answer=answer)
        return assistant

    def _noted_before(self, turn: Turn) -> tuple[list[str], JsonObject]:
        usual = told_of(self.source.started)
        for key in self._notes(turn.number - 1):
            known = self.recorder.recall(key)
            if known is not None:
                codes, told = noted(known)
                return codes, told or usual
        return [], usual

    def _notes(self, number: int) -> Iterable[str]:
        """Where an iteration and those before it noted, the latest first."""
        return (self._note(each) for each in range(number, 0, -1))

    def _note(self, number: int) -> str:
        return self.place.turn(self.place.key, number).part("source")

    async def _tried(self, turn: Turn, assistant: Assistant) -> str:
        attempts = assistant.retry.attempts if assistant.retry else 0
        for attempt in range(1, attempts + 2):
            name = "ask" if attempt == 1 else f"ask.{attempt}"
            try:
                return await self._worked(turn, assistant, turn.place.part(name))
            except (Failure, ModelFailure) as failure:
                if attempt > attempts or classified(failure.message) not in RETRYABLE:
                    raise
                await self._wait(turn, attempt, failure, assistant)
        raise AssertionError("there is at least one attempt")

    async def _worked(self, turn: Turn, assistant: Assistant, key: str) -> str:
        assignment = await self._assignment(turn, assistant)
        program = bool(self.runner.program)  # a model without tools changes nothing
        several = self.tools is not None and not program
        async with guarded(self.recorder, turn.place, key, many=several, writes=program or several):
            if self.tools is None:
                return (await perform(self.runner, assignment, self.recorder, turn.place, key)).text
            return await self.tools.worked(self.runner, assignment, self.recorder, turn.place, key)

    async def _wait(self, turn: Turn, attempt: int, failure: Failure | ModelFailure, assistant: Assistant) -> None:
        delay = assistant.retry.backoff_seconds if assistant.retry else 0.0
        retrying = Retrying(attempt=attempt + 1, because=error_of(failure), delay=delay)
        await self.recorder.record(turn.place.part(f"retrying.{attempt}"), [retrying.fact(turn.place)])
        if delay > 0:
            await self.recorder.sleep(turn.place.part(f"delay.{attempt}"), delay)

    async def _assignment(self, turn: Turn, assistant: Assistant) -> Assignment:
        log = self.log
        said = (log.learnings, log.feedback, log.check, log.failed_checks.text())
        message = composed(self.message, turn.number, self.most, *said)
        memory = "" if self.memory is None else told_memory(await self.memory.text(turn))
        caps = (assistant.max_budget_usd, self.left_of_total(assistant, turn.number))
        return Assignment(
            message=await as_said(message, self.recorder, turn.place, turn.place.part("ask")),
            system=assistant.persona,
            appended="\n\n".join(part for part in (self.skills, memory) if part),
            folder=self.folder,
            model=model_of(assistant, self.provider),
            tools=tools_of(assistant),
            budget_usd=budget_of(caps),
            name=f"loop-ls-{assistant.id}",
            idle=self.limits.idle,
            total=self.limits.total,
            place=turn.place.part("agent"),
            purpose="agent",
        )

    def left_of_total(self, assistant: Assistant, number: int) -> float | None:
        """What `maxTotalBudgetUsd` leaves for this iteration."""
        if assistant.max_total_budget_usd is None:
            return None
        return max(0.0, assistant.max_total_budget_usd - spent(self.recorder, self.place, number - 1, assistant))


def spent(recorder: Recorder, place: Place, iterations: int, assistant: Assistant) -> float:
    """Dollars of the first so many iterations, as far as their agents said."""
    attempts = range(2, 2 + (assistant.retry.attempts if assistant.retry else 0))
    parts = ("ask", *(f"ask.{attempt}" for attempt in attempts), *([ASKED] if assistant.memory else []))
    turns = (place.turn(place.key, number) for number in range(1, iterations + 1))
    return sum(usd for turn in turns for part in parts for usd in _paid(recorder, turn.part(part)))


def _paid(recorder: Recorder, key: str) -> Iterator[float]:
    """Dollars of a call, and of those that followed it with the answers of tools."""
    for round_ in count(1):
        answer = cast("Mapping[str, float | None] | None", recorder.recall(round_key(key, round_)))
        if answer is None:
            return
        yield answer.get("usd") or 0.0
