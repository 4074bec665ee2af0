"""One iteration of a role loop: its stages one after the other, each told what those before it said.

A stage that has ended is in the journal under the key of its place, so a restart goes on with the next
one. One that was under way is handed out again, at most twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from loop_ls.contract.facts.kinds import StageCompleted, StageFailed, StageStarted, Warned
from loop_ls.contract.ids import place_id
from loop_ls.engine.checks.judging import LoopChecks, StageOutput
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn, error_of
from loop_ls.engine.core.ports import Failure, ModelFailure
from loop_ls.engine.roles.agent import Job, is_capped
from loop_ls.engine.roles.blocked import ask_person
from loop_ls.engine.roles.loop import RoundMemory, StageResult, Started, recorded_try, try_place
from loop_ls.engine.roles.outcome import first_line
from loop_ls.engine.roles.prompt import Answer, Done, Work, compose
from loop_ls.engine.roles.records.ids import derived, sprint_id
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.records.tables import Table
from loop_ls.formats.role_loop.model import EvaluationBound, Stage
from loop_ls.formats.role_loop.roles import steps_of
from loop_ls.text.json_value import JsonObject

#: How often a stage that a crash cut off is handed out once more.
AGAIN = 2
DEADLINE = "deadline"
BLOCKED, NO_ARTIFACT = "question", "missing_artifact"
#: So much of a line is looked at for a signal: a line of nothing but blanks would be tried in every way.
SIGNAL_LINE = 100
_SIGNAL = re.compile(r"\s*[*_`#>-]*\s*STATUS\s*[:*_]*\s*(BLOCKED|NEEDS_CONTEXT)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Try:
    """One try of the stage at the place `stage`; `answers` are what people said to the tries before it."""

    stage: Place
    number: int
    answers: tuple[Answer, ...] = ()

    @property
    def place(self) -> Place:
        """The place of what is recorded of this try."""
        return try_place(self.stage, self.number)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The body of a role loop. The output of an iteration is that of its last stage."""

    started: Started
    memory: RoundMemory
    checks: LoopChecks | None = None

    async def run(self, turn: Turn) -> str:
        await self.started.sprints.begin(turn.number, place_id(self.started.run_id, turn.place.key))
        done: list[Done] = []
        for index, stage in enumerate(self.started.definition.stages):
            await self.started.recorder.gate()
            await self._in_time(turn, index)
            done.append(await self._stage(turn, index, stage, done))
        return done[-1].output

    async def _in_time(self, turn: Turn, index: int) -> None:
        deadline = self.started.deadline
        if deadline is not None and self.started.ends_hard:
            now = await self.started.recorder.now(self.started.stage_place(turn, index).part("now"))
            if now >= deadline:
                raise Failure(DEADLINE, f"the time was up before stage {index + 1} of iteration {turn.number}")

    async def _stage(self, turn: Turn, index: int, stage: Stage, done: list[Done]) -> Done:
        place = self.started.stage_place(turn, index)
        known = await self._unblocked(turn, index, stage, done)
        if self.checks is not None:
            await self.checks.after_stage(StageOutput(place, self.started.names[index], known["output"]))
        return Done(index, stage.role, known["output"], known["artifact"])

    async def _unblocked(self, turn: Turn, index: int, stage: Stage, done: list[Done]) -> StageResult:
        """How the stage ended, where what follows can build on it. One that cannot continue asks a person, and tries
        again as often as they say so. Raises `Failure`."""
        recorder, place = self.started.recorder, self.started.stage_place(turn, index)
        answers: list[Answer] = []
        while True:
            attempt = Try(place, len(answers) + 1, tuple(answers))
            known = recorded_try(recorder, place, attempt.number)
            if known is None:
                known = await self._turn(turn, index, stage, done, attempt)
            if "failure" in known:
                raise Failure(**known["failure"], place=place.key)
            stuck = self._stuck(index, stage, known)
            if stuck is None:
                return known
            found = await ask_person(recorder, place, attempt.number, _asked(stuck, known["output"]))
            if found.decision != "retry":
                raise Failure(stuck.code, stuck.message, place=place.key)
            answers.append(Answer(known["output"], found.feedback or ""))

    async def _turn(self, turn: Turn, index: int, stage: Stage, done: list[Done], attempt: Try) -> StageResult:
        """Hand the stage to its agent and journal how it ended. Raises `Stopped`."""
        try:
            job = await self._dispatched(turn, index, stage, done, attempt)
        except (Failure, Unavailable) as error:
            return await self._failed(index, stage, attempt, _told(error), dispatch=True)
        try:
            with self.started.recorder.undivided():
                output = await self.started.agent.run(job, self.started.recorder)
        except (Failure, ModelFailure) as failure:
            return await self._failed(index, stage, attempt, failure)
        place = attempt.stage
        artifact = await self._kept(turn, index, stage, attempt, output, job)
        answer: StageResult = {"output": output, "artifact": artifact}
        fact = StageCompleted(stage=stage.label, role=stage.role, index=index, output=output, artifact=artifact)
        await self.started.recorder.record(attempt.place.part("stage"), [fact.fact(place)], answer=answer)
        await self._remembered(stage, place)
        return answer

    async def _dispatched(self, turn: Turn, index: int, stage: Stage, done: list[Done], again: Try) -> Job:
        """Everything that comes before the agent. Raises `Failure`."""
        started, recorder, place = self.started, self.started.recorder, again.place
        attempt = await self._attempt(place)
        needed = stage.requires_artifact_from
        if needed is not None and not done[needed].artifact:
            label = started.definition.stages[needed].label
            raise Failure(
                "artifact_needed", f"`{stage.label}` needs an artifact of `{label}`, which did not create one"
            )
        execution = derived(started.run_id, place.key, attempt)
        session = started.session
        await started.records.do(lambda table: table.add("sessions", execution, parent=session, hidden=1))
        role = started.roles[stage.role]
        job = Job(
            place=place,
            stage=stage.label,
            role=role,
            prompt=compose(replace(self._work(turn, index, stage, done), answers=again.answers)),
            steps=steps_of(stage.max_iterations, role),
            capped=is_capped(stage.max_iterations, role),
            session=session,
            execution=execution,
            project=started.project.get("id", ""),
            sprint=sprint_id(started.run_id, turn.number),
            iteration=turn.number,
            skills=stage.skills,
            judges=self._judges(index, stage),
        )
        fact = StageStarted(
            stage=stage.label,
            role=stage.role,
            index=index,
            task=_task(execution),
            session=execution,
            model=started.agent.model(role),
        )
        await recorder.record(place.part(f"started.{attempt}"), [fact.fact(again.stage)], answer=True)
        return job

    async def _attempt(self, place: Place) -> int:
        """Which time this stage is handed out: a start without an end was cut off by a crash."""
        attempt = 1
        while self.started.recorder.recall(place.part(f"started.{attempt}")) is not None:
            attempt += 1
        if attempt > 1 + AGAIN:
            raise Failure("given_up", f"the engine stopped {attempt - 1} times while this stage was running")
        return attempt

    def _work(self, turn: Turn, index: int, stage: Stage, done: list[Done]) -> Work:
        started, memory = self.started, self.memory
        return Work(
            loop=started.definition.name,
            goal=str(started.recorder.changed().get("goal", started.goal)),
            iteration=turn.number,
            limit=started.limit(),
            index=index,
            stages=len(started.definition.stages),
            role=stage.role,
            task=stage.prompt,
            done=tuple(done),
            outcomes=tuple(memory.outcomes),
            last=memory.last,
            failed_checks=memory.failed_checks.text(),
            rationale=memory.rationale,
            findings=memory.findings.lines,
            criteria=started.criteria,
            parameters=started.definition.at_limit(started.limit()),
            project=started.project,
        )

    async def _failed(
        self, index: int, stage: Stage, attempt: Try, failure: Failure | ModelFailure, dispatch: bool = False
    ) -> StageResult:
        error = error_of(failure)
        fact = StageFailed(stage=stage.label, role=stage.role, index=index, error=error, dispatch=dispatch or None)
        answer: StageResult = {"failure": error}
        await self.started.recorder.record(attempt.place.part("stage"), [fact.fact(attempt.stage)], answer=answer)
        return answer

    async def _kept(self, turn: Turn, index: int, stage: Stage, attempt: Try, output: str, job: Job) -> str | None:
        """The artifact with the whole output; None where there is none, or it cannot be written."""
        if not output.strip():
            return None
        started, place, id_ = self.started, attempt.stage, self.started.artifact(attempt.place)
        title = f"Loop output: {stage.role} (iter {turn.number}, stage {index})"
        told: JsonObject = {
            "loop_id": started.run_id,
            "stage_id": place_id(started.run_id, place.key),
            "task_id": _task(job.execution),
            "role": stage.role,
            "iteration_number": turn.number,
            "stage_index": index,
        }

        def work(table: Table) -> None:
            table.add(
                "artifacts",
                id_,
                session_id=started.session,
                project_id=started.project.get("id"),
                loop_id=started.run_id,
                type="loop_output",
                title=title,
                content=output,
                created_by=f"loop:{stage.role} stage:{index}",
                metadata=told,
            )

        try:
            await started.records.do(work)
        except Unavailable as error:
            warned = Warned(code="no_artifact", message=f"the output of `{stage.label}` was not saved: {error}")
            await started.recorder.record(attempt.place.part("unkept"), [warned.fact(place)])
            return None
        return id_

    async def _remembered(self, stage: Stage, place: Place) -> None:
        """`memory_required` is a soft wish: it is noted, nothing more."""
        if not stage.memory_required:
            return
        by = f"{self.started.run_id}/{place.key}"
        try:
            stored = await self.started.records.do(lambda table: table.find("memories", created_by=by))
        except Unavailable:
            return
        if not stored:
            warned = Warned(code="no_memory", message=f"`{stage.label}` should have stored a memory, but did not")
            await self.started.recorder.record(place.part("memory"), [warned.fact(place)])

    def _judges(self, index: int, stage: Stage) -> bool:
        last = index == len(self.started.definition.stages) - 1
        return stage.gate or (last and isinstance(self.started.definition.termination, EvaluationBound))

    def _stuck(self, index: int, stage: Stage, known: StageResult) -> Failure | None:
        """Where the stage says that it cannot go on, or left nothing behind."""
        if stage.artifact_required and not known["artifact"]:
            return Failure(NO_ARTIFACT, f"`{stage.label}` should have created an artifact, but did not")
        if self._judges(index, stage):
            return None
        for number, line in enumerate(known["output"].splitlines()[:5]):
            if _SIGNAL.match(line.strip()[:SIGNAL_LINE]):
                rest = "\n".join(known["output"].splitlines()[number + 1 :])
                return Failure(BLOCKED, f"`{stage.label}` cannot continue: {first_line(rest)}")
        return None


def _task(execution: str) -> str:
    """The id of what an agent was given to do, in the facts and in what it leaves."""
    return derived(execution, "task")


def _asked(stuck: Failure, output: str) -> str:
    """What a person is asked: the sentence, and all that the stage said."""
    said = output.strip()
    return f"{stuck.message}\n\n{said}" if said else stuck.message


def _told(error: Failure | Unavailable) -> Failure:
    if isinstance(error, Failure):
        return error
    return Failure("dispatch", f"the stage could not be assigned to an agent: {error}"[:200])
