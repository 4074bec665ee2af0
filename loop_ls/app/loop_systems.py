"""The loop systems of the engine, one object each: who prepares its starts, what runs them, what such a run may do
and how it is drawn.

`register` adds one; the engine builds its parts when the first run asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from loop_ls.contract.answers import Node
from loop_ls.engine.capabilities.values import Capability
from loop_ls.engine.core.plan import ENHANCE, Plan, Program
from loop_ls.engine.core.preparer import Preparer, Validate
from loop_ls.engine.projections import run_graph
from loop_ls.engine.roles.records.records import Records
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import ASSISTANT, ROLE_LOOP, WORKFLOW
from loop_ls.text.record import equal_record


@equal_record
class EngineParts:
    """What the parts of a system are made of. `folder` is the engine's data folder; `facts_of` reads the facts of a
    run, `secret_forms` the texts that may not be shown of one."""

    folder: Path
    records: Records
    validate: Validate
    facts_of: Callable[..., Any]
    secret_forms: Callable[[Plan], Any]


@equal_record
class LoopSystem:
    """`format` is the one that its runs carry. Without a `preparer` its runs are started by that of another system.
    `capabilities` says what a run may do, `graph` how it is drawn; those of the product's own systems stand in the
    engine (`capabilities.derive`, `projections.run_graph`), so that no way of running them can do without."""

    format: Format
    program: Callable[[EngineParts], Program]
    preparer: Callable[[EngineParts], Preparer] | None = None
    capabilities: Callable[[Plan, Mapping[str, str]], Iterable[Capability]] | None = None
    graph: Callable[[Plan], list[Node]] | None = None


SYSTEMS: dict[Format, LoopSystem] = {}


def register(system: LoopSystem) -> None:
    """Make a system known to engines that are built from now on. Raises `ValueError`: its format has one."""
    if system.format in SYSTEMS:
        raise ValueError(f"`{system.format}` has a loop system already")
    SYSTEMS[system.format] = system
    if system.capabilities is not None:
        from loop_ls.engine.capabilities import derive  # half of the engine, which no start waits for

        derive.OF_FORMAT[system.format] = system.capabilities
    if system.graph is not None:
        run_graph.OF_FORMAT[system.format] = system.graph


def unregister(format_: Format) -> None:
    """Forget a system."""
    from loop_ls.engine.capabilities import derive

    SYSTEMS.pop(format_, None)
    derive.OF_FORMAT.pop(format_, None)
    run_graph.OF_FORMAT.pop(format_, None)


def preparers() -> dict[Format, Callable[[EngineParts], Preparer]]:
    """Who prepares starts, by the format of the file."""
    return {name: one.preparer for name, one in SYSTEMS.items() if one.preparer is not None}


# -- the systems of the product --------------------------------------------------------------------


def _prepare_workflow(parts: EngineParts) -> Preparer:
    from loop_ls.engine.starting.enhance import EnhancePreparer
    from loop_ls.engine.starting.workflow import WorkflowPreparer

    return EnhancePreparer(WorkflowPreparer(parts.folder, parts.validate))


def _run_workflow(parts: EngineParts) -> Program:
    from loop_ls.engine.bodies.workflow import WorkflowProgram

    return WorkflowProgram(facts_of=parts.facts_of)


def _run_enhance(parts: EngineParts) -> Program:
    from loop_ls.engine.bodies.workflow import WorkflowProgram
    from loop_ls.engine.enhance.program import EnhanceProgram

    workflow = WorkflowProgram(facts_of=parts.facts_of)
    return EnhanceProgram(workflow, parts.validate, parts.facts_of, parts.secret_forms, parts.folder)


def _prepare_assistant(parts: EngineParts) -> Preparer:
    from loop_ls.engine.starting.assistant import AssistantPreparer

    return AssistantPreparer(parts.folder, parts.validate)


def _run_assistant(parts: EngineParts) -> Program:
    from loop_ls.engine.assistants.program import AssistantProgram

    return AssistantProgram(facts_of=parts.facts_of)


def _prepare_role_loop(parts: EngineParts) -> Preparer:
    from loop_ls.engine.starting.role_loop import RoleLoopPreparer

    return RoleLoopPreparer(parts.folder, records=parts.records)


def _run_role_loop(parts: EngineParts) -> Program:
    from loop_ls.engine.roles.program import RoleLoopProgram
    from loop_ls.engine.roles.stage_agents import stage_agents

    return RoleLoopProgram(parts.records, stage_agents(parts.records), parts.facts_of)


for _one in (
    LoopSystem(WORKFLOW, _run_workflow, _prepare_workflow),
    LoopSystem(ENHANCE, _run_enhance),
    LoopSystem(ROLE_LOOP, _run_role_loop, _prepare_role_loop),
    LoopSystem(ASSISTANT, _run_assistant, _prepare_assistant),
):
    register(_one)
