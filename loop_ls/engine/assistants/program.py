"""An assistant loop as a program of the engine: body, judge and memory for the one loop machine.

How it ended is told in the words of its document: at the limit the final output is the last learning, a
criterion that was met gives the whole output, a rejection is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loop_ls.contract.facts.kinds import Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.assistants.body import AgentBody, Limits
from loop_ls.engine.assistants.judge import AssistantJudge
from loop_ls.engine.assistants.memory import ProgressLog
from loop_ls.engine.assistants.memory_file import MemoryFile
from loop_ls.engine.assistants.profile import memory_target
from loop_ls.engine.assistants.source import Source
from loop_ls.engine.assistants.tools import ToolsOfServers
from loop_ls.engine.assistants.views import REJECTED
from loop_ls.engine.bodies.tools import ServerTools
from loop_ls.engine.checks.judging import LoopChecks
from loop_ls.engine.checks.run_checks import FactsOf, RunChecks, no_facts, run_checks
from loop_ls.engine.context.skill_texts import missing_skills, told_skills
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Limits as LoopLimits
from loop_ls.engine.core.loop_driver import LoopParts, Outcome, as_planned, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.judges.pattern import LIMIT, Pattern
from loop_ls.engine.money.caps import in_time
from loop_ls.engine.roles.access import RoleToolbox
from loop_ls.engine.runners.resolve import runner_for
from loop_ls.engine.runners.runner import IDLE, Runner
from loop_ls.engine.runs.approvals import revises
from loop_ls.engine.tools import Sessions
from loop_ls.formats.assistant.keys import CAP_ONLY, DEFAULT_ITERATIONS, REGEX
from loop_ls.formats.assistant.model import Assistant
from loop_ls.formats.assistant.read import read_assistant
from loop_ls.formats.common.regex_check import compiled
from loop_ls.index.disk.skill_files import skill_path
from loop_ls.text.json_value import Json, as_object, int_field, text_field

#: Variables of the original program that set the limits of a process; a setting of the provider wins.
IDLE_MS, TOTAL_MS = "RONDOFLOW_SPAWN_IDLE_TIMEOUT_MS", "RONDOFLOW_SPAWN_MAX_MS"


@dataclass(frozen=True, slots=True)
class Start:
    """What one loop was started with. `disk`: see `source.Source`. `usual`: nobody wrote the limit down;
    `chosen`: somebody wrote that the limit ends the loop. `home` has the file, `root` is where the agent works."""

    assistant: Assistant
    message: str
    most: int
    root: str
    path: str
    disk: str | None = None
    unchanged: int | None = None
    usual: bool = False
    chosen: bool = False
    revise: bool = False
    provider: Mapping[str, Json] = field(default_factory=dict)
    home: str = ""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What an assistant has besides its persona. `skills`: what each says; None where it is not there."""

    skills: Mapping[str, str | None] = field(default_factory=dict)
    tools: ToolsOfServers | None = None
    memory: MemoryFile | None = None


NO_EQUIPMENT = Equipment()


@dataclass(frozen=True, slots=True)
class AssistantProgram:
    """Runs of `*.assistant.yaml` files. `environ` is that of the engine; `facts_of` reads what has happened in a run
    so far."""

    environ: Mapping[str, str] | None = None
    pattern_limit: float = LIMIT
    recorded: Callable[[str], Json] | None = None
    facts_of: FactsOf = no_facts

    def retold(self, recall: Callable[[str], Json]) -> AssistantProgram:
        """See `engine.projections.prompts.Replayable`."""
        return replace(self, recorded=recall)

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        """Raises `Stopped` when a person stops the run."""
        try:
            start = start_of(plan)
            providers = as_object(plan.settings.get("providers"))
            runner = runner_for(start.assistant.provider, providers, models, plan.mock, self._environ)
            checks = run_checks(plan, recorder, models, self.facts_of, elements=names_of(start.assistant))
            memory = _memory_of(start.assistant, plan, recorder, models)
        except Failure as failure:
            return Outcome(failure.reason, failure=failure)
        sessions = Sessions(as_object(plan.settings.get("servers")), Path(plan.root), self._environ)
        async with sessions:
            servers = () if plan.mock else start.assistant.servers
            offered = RoleToolbox((), ServerTools(sessions, servers))
            tools = ToolsOfServers(offered, models) if servers else None
            return await self.loop(
                start, runner, recorder, checks, Equipment(skills_of(start.assistant, plan), tools, memory)
            )

    async def loop(
        self,
        start: Start,
        runner: Runner,
        recorder: Recorder,
        declared: RunChecks | None = None,
        equipment: Equipment = NO_EQUIPMENT,
    ) -> Outcome:
        assistant, log = start.assistant, ProgressLog()
        place = replace(Place(file=start.path).element(assistant.id), workflow="")
        names = names_of(assistant)
        checks = None if declared is None else LoopChecks(names, declared, log.failed_checks, alone=True)
        if facts := [*warnings_of(assistant, place), *_of_skills(assistant, equipment.skills, place)]:
            await recorder.record(place.part("warnings"), facts)
        body = AgentBody(
            source=Source(Path(start.home or start.root, start.path), assistant, start.disk),
            place=place,
            message=start.message,
            most=start.most,
            runner=runner,
            folder=start.root,
            log=log,
            recorder=recorder,
            provider=start.provider,
            limits=limits_of(start.provider, self._environ),
            skills=told_skills(equipment.skills) or "",
            tools=equipment.tools,
            memory=equipment.memory,
            recorded=self.recorded,
        )
        judge = AssistantJudge(
            assistant=assistant,
            log=log,
            recorder=recorder,
            place=place,
            folder=start.root,
            environ=self._environ,
            pattern_limit=self.pattern_limit,
            recorded=self.recorded,
            revise=start.revise,
            checks=checks,
        )
        limits = LoopLimits(max_iterations=start.most, unchanged=start.unchanged)
        parts = LoopParts(assistant.name, place, body, log, limits, judge)
        outcome = await in_time(recorder, assistant.max_duration_seconds, drive(parts, recorder))
        ended = told(outcome, start, log)
        return ended if checks is None else await checks.at_end(place, ended)

    @property
    def _environ(self) -> Mapping[str, str]:
        return os.environ if self.environ is None else self.environ


def names_of(assistant: Assistant) -> tuple[str, ...]:
    """What `on: loop.NAME` of checks calls it by."""
    return assistant.id, assistant.name


def start_of(plan: Plan) -> Start:
    """Raises `Failure` where the file holds no such assistant any more."""
    text = plan.texts.get(plan.path, "")
    found = read_assistant(text, plan.target_name, json=plan.path.endswith(".json"))
    if not isinstance(found, Assistant):
        raise Failure("not_found", f"Unknown assistant `{plan.target_name}` in {plan.path}.")
    wanted = plan.max_iterations or found.max_iterations
    return Start(
        assistant=found,
        message=plan.message or "",
        most=min(wanted, int_field(as_object(plan.settings.get("limits")), "maxIterations") or wanted),
        root=plan.root,
        home=plan.home,
        path=plan.path,
        disk=text_field(plan.details, "disk") or None,
        unchanged=int_field(plan.limits, "unchanged"),
        usual="maxIterations" not in text,
        chosen=CAP_ONLY in text,
        revise=revises(plan.settings),
        provider=as_object(as_object(plan.settings.get("providers")).get(found.provider)),
    )


def skills_of(assistant: Assistant, plan: Plan) -> dict[str, str | None]:
    """The skills of an assistant as they were when its run began."""
    return {name: plan.texts.get(skill_path(name)) for name in assistant.skills}


def _memory_of(assistant: Assistant, plan: Plan, recorder: Recorder, models: Models) -> MemoryFile | None:
    if not assistant.memory or plan.plays:
        return None
    files = ProjectFiles.of(plan.root, plan.settings)
    return MemoryFile(assistant.memory, files, memory_target(assistant, plan.settings), models, recorder)


def told(outcome: Outcome, start: Start, log: ProgressLog) -> Outcome:
    """How it ended, with the output that counts for that end."""
    match outcome.reason:
        case "rejected":
            return replace(outcome, failure=Failure("rejected", REJECTED, reason="rejected"))
        case "condition_met" | "approved":
            return outcome
        case _ if outcome.failure is None:
            learned = log.learnings[-1] if log.learnings else ""
            because = _limit(start) if outcome.reason == "max_iterations" else outcome.because
            ended = replace(outcome, output=learned, last=log.last_output, because=because)
            return as_planned(ended) if _was_planned(start, outcome) else ended
        case _:
            return outcome


def _was_planned(start: Start, outcome: Outcome) -> bool:
    """Its number of iterations is all that the file asks for, and so many there were."""
    criteria = start.assistant.criteria
    alone = start.chosen and criteria is not None and criteria.type == CAP_ONLY
    return alone and outcome.iterations >= start.assistant.max_iterations


def _limit(start: Start) -> str:
    """Which number it was, and where it comes from (UP-49)."""
    if start.most != start.assistant.max_iterations:
        return f"`{start.assistant.name}` reached its limit of {start.most} iterations."
    usual = start.most == DEFAULT_ITERATIONS and start.usual
    where = ", the default: its file has no `maxIterations`" if usual else ""
    return f"`{start.assistant.name}` reached its `maxIterations` of {start.most}{where}."


def warnings_of(assistant: Assistant, place: Place) -> list[Fact]:
    """What is worth knowing before the first iteration is paid."""
    return [*_of_memory(assistant, place), *_of_pattern(assistant, place)]


def _of_memory(assistant: Assistant, place: Place) -> list[Fact]:
    if not assistant.memory_enabled or assistant.memory:
        return []
    message = (
        "`memoryEnabled` has no effect: an iteration knows only the persona and the progress log; to let it remember "
        "more, name a file in `memory`"
    )
    return [Warned(code="no_memory", message=message).fact(place)]


def _of_skills(assistant: Assistant, skills: Mapping[str, str | None], place: Place) -> list[Fact]:
    missing = [name for name, text in skills.items() if text is None]
    if not missing:
        return []
    return [Warned(code="no_skills", message=missing_skills(assistant.name, missing)).fact(place)]


def _of_pattern(assistant: Assistant, place: Place) -> list[Fact]:
    criteria = assistant.criteria
    if criteria is None or criteria.type != REGEX:
        return []
    if problem := Pattern(criteria.value).problem:
        message = f"invalid pattern ({problem}), so only the limit ends the loop"
        return [Warned(code="pattern_faulty", message=message).fact(place)]
    if is_bare_word(criteria.value):
        message = f"`{criteria.value}` also matches inside longer words; use `\\b{criteria.value}\\b` to match the word"
        return [Warned(code="unanchored_pattern", message=message).fact(place)]
    return []


def is_bare_word(pattern: str) -> bool:
    """Whether a pattern is letters and nothing else, so that `done` is found in `abandoned`."""
    return compiled(pattern).source is not None and bool(pattern) and pattern.isalnum()


def limits_of(provider: Mapping[str, Json], environ: Mapping[str, str]) -> Limits:
    """Of each process: 5 minutes without a line, and no limit in all."""
    total = provider.get("timeoutSeconds")
    return Limits(
        idle=_seconds(environ.get(IDLE_MS), IDLE),
        total=float(total) if isinstance(total, int | float) and total > 0 else _seconds(environ.get(TOTAL_MS), None),
    )


def _seconds(ms: str | None, usual: float | None) -> float | None:
    """A whole number of milliseconds; 0 is no limit, anything else is the usual one."""
    text = (ms or "").strip()
    if not text.isascii() or not text.isdigit():
        return usual
    return int(text) / 1000 or None
