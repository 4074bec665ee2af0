"""Which system prepares a start: the one whose target was asked for, else the one whose file it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.assistants.discovery import Assistants
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ENHANCE, ModelAccess, Plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.preparer import Agreeing, Prepared, Preparer
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.roles.definitions import path_of_definition
from loop_ls.engine.starting.part_of_workflow import is_part, require_start
from loop_ls.engine.starting.settings_guard import require_sound_settings
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import ASSISTANT, ROLE_LOOP, WORKFLOW, can_run, claimed, format_of_target

if TYPE_CHECKING:
    from loop_ls.engine.runs.judge_trial import Judging

#: The target of a start that names none.
WHOLE_FILE = "workflow"


class ByFormat:
    """`preparers` by format; a file that no format claims by its name is asked as a workflow."""

    def __init__(self, preparers: Mapping[str, Preparer]) -> None:
        self._preparers = preparers

    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        format_ = _format(request)
        request = await self._of_its_project(request) if format_ == ROLE_LOOP else request
        if format_ != WORKFLOW and request.enhance.get("start") is True:
            told = f"Enhance loops work only for workflows, and {request.path or request.target_name} is not one."
            raise Refused("bad_argument", told, "Use `loop-ls run` for other loops.")
        if format_ != WORKFLOW and (request.provider or request.model):
            told = (
                f"`provider` and `model` work only for workflows, and {request.path or request.target_name} is not one."
            )
            raise Refused("bad_argument", told, "Run it without `--provider` and `--model`, or change its file.")
        if format_ != WORKFLOW and is_part(request):
            told = (
                f"`startFrom` and `endAt` work only for workflows, and {request.path or request.target_name} "
                "is not one."
            )
            raise Refused("bad_argument", told, "Run all of it.")
        require_start(request)
        preparer = await asyncio.to_thread(self._preparers.get, format_)  # the first one is imported now
        if preparer is None:
            told = f"`target.kind` `{request.target_kind}` is not supported yet."
            raise Refused("bad_argument", told, "Run a workflow.")
        await asyncio.to_thread(require_sound_settings, request.root, request.path, request.settings)
        try:
            return await preparer.prepare(request, models)
        except Refused as refused:
            assistant = await self._assistant(request) if refused.code == "not_found" else None
            if assistant is None:
                raise
            return await self.prepare(assistant, models)

    async def _of_its_project(self, request: StartRequest) -> StartRequest:
        """A definition that is named alone and lies in the workspace, with its file: that may be of a project inside,
        whose settings and limits count for it."""
        name = request.target_name
        if request.path or name is None:
            return request
        path = await asyncio.to_thread(path_of_definition, request.root.as_posix(), name, request.texts)
        return request if path is None else replace(request, path=path)

    async def _assistant(self, request: StartRequest) -> StartRequest | None:
        """A name that is no definition's may be the id of an assistant: agents know only names."""
        if request.target_kind != "definition" or request.path or ASSISTANT not in self._preparers:
            return None
        found = await asyncio.to_thread(Assistants(request.root).find, request.target_name or "")
        if found is None:
            return None
        path = Path(found.path).relative_to(request.root.resolve()).as_posix()
        message = request.goal if request.message is None else request.message
        return replace(request, path=path, target_kind="assistant", target_name=found.id, message=message)

    async def judging(self, request: StartRequest, loop: str, models: Callable[[Plan], ModelAccess]) -> Judging:
        """The judge of a loop of a workflow. Raises `Refused`."""
        from loop_ls.engine.runs.judge_trial import JudgesConditions

        judges = self._preparers.get(WORKFLOW)
        if not isinstance(judges, JudgesConditions):
            raise Refused("bad_argument", "This engine does not judge conditions.")
        await asyncio.to_thread(require_sound_settings, request.root, request.path, request.settings)
        return await judges.judging(request, loop, models)

    async def agree(
        self, started: RunStarted, texts: Mapping[str, str], consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> RunStarted:
        """For a run whose texts are recorded and came from elsewhere. Raises `Refused`."""
        kind = WORKFLOW if started.format == ENHANCE else started.format
        preparer = self._preparers.get(kind)
        if not isinstance(preparer, Agreeing):
            told = "An imported run or a replay of this kind can be shown and replayed, not forked."
            raise Refused("forbidden", told, "Start it from its file.")
        await asyncio.to_thread(require_sound_settings, Path(started.root), started.path or "", {})
        try:
            return await preparer.agree(started, texts, consent, models)
        except Failure as failure:
            raise Refused("bad_argument", failure.message, failure.hint) from failure


def _format(request: StartRequest) -> Format:
    """Of the file that is started. `loop-ls run FILE` names no target: the file itself says what it is."""
    if request.target_kind != WHOLE_FILE:
        return format_of_target(request.target_kind) or WORKFLOW  # the other targets are parts of a workflow
    found = claimed(f"/{request.path}")
    return found if found is not None and can_run(found) else WORKFLOW
