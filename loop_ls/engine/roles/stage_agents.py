"""The agents of a run: a model with the tools of its role, or an agent program where a provider is one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loop_ls.contract.process_marks import IN_A_STAGE
from loop_ls.engine.bodies.tools import ServerTools
from loop_ls.engine.capabilities.values import Capability
from loop_ls.engine.context.model_targets import DEFAULT_TEMPERATURE
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, ModelRequest, Models, Recorder
from loop_ls.engine.model_calls.ask import Question, ask
from loop_ls.engine.model_calls.notes import as_said
from loop_ls.engine.model_calls.tool_loop import converse
from loop_ls.engine.protection.guard import guarded
from loop_ls.engine.roles.access import (
    RoleToolbox,
    servers_with,
    stands_for,
    tool_use,
    tools_for_program,
    tools_of,
)
from loop_ls.engine.roles.agent import Job
from loop_ls.engine.roles.program import StageAgentsOf
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.served.runner import WithTools
from loop_ls.engine.roles.targets import MOCK, player_of, role_target
from loop_ls.engine.roles.tools.notes import StageNotes
from loop_ls.engine.runners.recorded import perform
from loop_ls.engine.runners.resolve import is_agent, reads_files, runner_for, takes_tools
from loop_ls.engine.runners.runner import Assignment, Runner
from loop_ls.engine.subprocesses.sandbox import NoSandbox, Sandbox, find_sandbox
from loop_ls.engine.tools import Sessions
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.roles import Role, claude_tools, our_tools
from loop_ls.index.disk.skill_files import skill_place
from loop_ls.text.json_value import Json, as_object


@dataclass(frozen=True, slots=True)
class RunStageAgents:
    """`engine.roles.program.StageAgents` of one run. `sessions` are MCP servers of the project, started when a role
    with full access first needs them; there are none in a mock run. `sandbox` fences read-only shells."""

    plan: Plan
    recorder: Recorder
    models: Models
    records: Records
    sessions: Sessions
    environ: Mapping[str, str]
    sandbox: Sandbox | NoSandbox

    def model(self, role: Role) -> str | None:
        found = role_target(role.name, self.plan.settings, self.plan.mock)
        return None if found is None else f"{found.provider}/{found.model}".rstrip("/")

    async def run(self, job: Job, recorder: Recorder) -> str:
        target = role_target(job.role.name, self.plan.settings, self.plan.mock)
        if target is None:
            told = f"no provider configured for role `{job.role.name}`"
            raise Failure("provider_unavailable", told, f"add `roles.{job.role.name}` with `provider` and `model`")
        if not self.plan.mock and is_agent(target.provider, self._providers):
            return await self._program(job, target, recorder)
        question = Question(
            place=job.place,
            key=job.place.part("ask"),
            prompt=await _prompt(job, recorder),
            targets=(target,),
            temperature=DEFAULT_TEMPERATURE,
            purpose="review" if job.judges else "stage",
            system=self._instructions(job),
            shown={**job.place.fields(), "stage": job.stage, "role": job.role.name},
        )
        if job.role.access == "minimal":
            return await ask(question, self.models, recorder)
        toolbox = self.toolbox(job)
        writes = job.role.access == "full" and not self.plan.mock
        async with guarded(recorder, job.place, question.key, many=True, writes=writes):
            return await converse(question, toolbox, job.steps - 1, self.models, recorder)

    def toolbox(self, job: Job) -> RoleToolbox:
        """Everything the role may do, and no more."""
        notes = self._notes_of(job)
        access, settings = job.role.access, self.plan.settings
        servers = tuple(as_object(settings.get("servers"))) if access == "full" and not self.plan.mock else ()
        own = tools_of(access, Path(self.plan.root), notes, self.environ, self.sandbox)
        covered = self._covered(job)
        only = None if job.role.tools is None else our_tools(job.role.tools)
        return RoleToolbox(own, ServerTools(self.sessions, servers) if servers else None, covered, only)

    def _covered(self, job: Job) -> Capability | None:
        root = self.plan.root
        return stands_for(job.role, root, player_of(job.role.name, self.plan.settings, root))

    def _notes_of(self, job: Job) -> StageNotes:
        return self._notes(job.session, job.project, job.sprint, f"{self.plan.run_id}/{job.place.key}")

    def _notes(self, session: str, project: str, sprint: str, by: str) -> StageNotes:
        return StageNotes(self.records, session, self.plan.run_id, project, sprint, by, self.plan.home)

    async def measure(self, key: str, tool: str, arguments: Mapping[str, Json]) -> str:
        """One call of one tool, for `tool_bound`: of this tool alone, with these arguments. In a mock run the
        script answers, and nothing is used."""

        async def work() -> Json:
            return await (self._scripted(tool, arguments) if self.plan.mock else self._measured(key, tool, arguments))

        return str(await self.recorder.call(key, work))

    async def _measured(self, key: str, tool: str, arguments: Mapping[str, Json]) -> str:
        servers = servers_with(tool, as_object(self.plan.settings.get("servers")))
        notes = self._notes(self.plan.session_id or "", "", "", key)
        own = [
            one for one in tools_of("full", Path(self.plan.root), notes, self.environ, self.sandbox) if one.name == tool
        ]
        covered = tool_use(tool, arguments, self.plan.root)
        box = RoleToolbox(own, ServerTools(self.sessions, servers) if servers else None, covered)
        found = await box.call(tool, arguments)
        if found.failed:
            raise Failure("tool_failed", f"`{tool}`: {found.text}")
        return found.text

    async def _scripted(self, tool: str, arguments: Mapping[str, Json]) -> str:
        asked = tool_use(tool, arguments, self.plan.root)
        request = ModelRequest(MOCK.provider, MOCK.model, f"{tool} {asked.arguments}", purpose="tool")
        return (await self.models.ask(request)).text

    async def close(self) -> None:
        await self.sessions.aclose()

    async def _program(self, job: Job, target: Target, recorder: Recorder) -> str:
        runner = self._with_tools(job, target.provider, recorder)
        work = Assignment(
            message=await _prompt(job, recorder),
            appended=self._instructions(job),
            folder=self.plan.root,
            model=target.model or None,
            access=job.role.access,
            only=None if job.role.tools is None else claude_tools(job.role.tools),
            steps=job.steps if job.capped else None,
            name=job.role.name,
            session=str(uuid.UUID(job.execution)),  # as agents want it: with hyphens
            environment={IN_A_STAGE: "1"},
            place=job.place.key,
            purpose="stage",
            alone=True,
        )
        key = job.place.part("ask")
        async with guarded(recorder, job.place, key):
            return (await perform(runner, work, recorder, job.place, key)).text

    def _with_tools(self, job: Job, provider: str, recorder: Recorder) -> Runner:
        """The program with what its role may use of ours, as a model would have it."""
        runner = runner_for(provider, self._providers, self.models, self.plan.mock, self.environ)
        if not takes_tools(provider, self._providers):
            return runner
        access, root = job.role.access, self.plan.root
        own = tools_for_program(
            access, Path(root), self._notes_of(job), self.sandbox, reads_files(provider, self._providers)
        )
        only = None if job.role.tools is None else our_tools(job.role.tools)
        toolbox = RoleToolbox(own, None, self._covered(job), only)
        return WithTools(runner, toolbox, recorder, job.place)

    @property
    def _providers(self) -> Mapping[str, Json]:
        found = self.plan.settings.get("providers")
        return found if isinstance(found, Mapping) else {}

    def _instructions(self, job: Job) -> str:
        """Those of the project, else what the role is; its skills; and that it has no shell where it would have one."""
        role = job.role
        own = as_object(as_object(self.plan.settings.get("roles")).get(role.name))
        told = (
            str(own.get("instructions") or "").strip()
            or f"Your role in a team is `{role.name}`: {role.text[:1].lower()}{role.text[1:]}"
        )
        if job.skills and role.access != "minimal":
            root = Path(self.plan.root)
            listed = "\n".join(f"- {name}: {skill_place(root, name)}" for name in job.skills)
            told += f"\n\nBefore you begin, read the skills that you work by:\n{listed}"
        if role.access == "readonly-shell" and isinstance(self.sandbox, NoSandbox):
            told += f"\n\nYou have no shell here; read with your file tools instead. ({self.sandbox.reason})"
        return told


async def _prompt(job: Job, recorder: Recorder) -> str:
    return await as_said(job.prompt, recorder, job.place, job.place.part("ask"))


def stage_agents(
    records: Records, environ: Mapping[str, str] | None = None, sandbox: Sandbox | NoSandbox | None = None
) -> StageAgentsOf:
    """Makes the agents of each run; without `sandbox` the one that this machine offers."""
    environment = os.environ if environ is None else environ

    def of_run(plan: Plan, recorder: Recorder, models: Models) -> RunStageAgents:
        sessions = Sessions(as_object(plan.settings.get("servers")), Path(plan.root), environment)
        return RunStageAgents(plan, recorder, models, records, sessions, environment, sandbox or find_sandbox())

    return of_run
