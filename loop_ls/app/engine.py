"""What this product's engine is made of: the only place that knows all parts at once.

The engine may not know the rules of the checker; what of them keeps a file from being run is passed
in here.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loop_ls.app.catalogue import catalogue
from loop_ls.app.on_demand import OnDemand
from loop_ls.engine.assistants.disconnect_teardown import grace_of
from loop_ls.engine.core.plan import Plan, Program
from loop_ls.engine.core.preparer import Preparer, Problem
from loop_ls.engine.process.engine_process import Options
from loop_ls.engine.providers import Providers
from loop_ls.engine.retention.run_documents import remover
from loop_ls.engine.retention.run_retention import RetentionPolicy
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.runners.model_adapter import with_agents
from loop_ls.engine.runs.secret_mask import RunSecrets
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.formats.settings.model import EngineSettings
from loop_ls.index.disk.discovery import load_settings
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def build(
    folder: Path,
    providers: Providers,
    root: Path | None = None,
    database: str | None = None,
    secrets: RunSecrets | None = None,
    takes_runs: bool = True,
) -> Engine:
    """`root` is the workspace of starts that name none. `database`: the PostgreSQL that several engines
    and workers share; None: SQLite in the folder. `secrets` are shared with whoever writes the log.
    `takes_runs`: it brings some of their runs to an end."""
    secrets = secrets or RunSecrets(os.environ)
    secrets.keyring = providers.keys.from_keyring
    records = Records(folder, time.time, database)
    known = secrets.of
    preparer = ByFormat(_preparers(folder, records))
    programs: Mapping[str, Program] = OnDemand(
        {**_programs(records), "enhance": lambda: _enhance(engine, lambda plan: known(plan).forms)}
    )
    engine = _engine(folder, providers, preparer, programs, root, database, secrets, takes_runs)
    engine.forgotten += [records.forget, remover(folder)]
    engine.keepers.append(records.beside)
    engine.closing.append(records.close)
    return engine


def _preparers(folder: Path, records: Records) -> Mapping[str, Preparer]:
    def workflow() -> Preparer:
        from loop_ls.engine.starting.enhance import EnhancePreparer
        from loop_ls.engine.starting.workflow import WorkflowPreparer

        return EnhancePreparer(WorkflowPreparer(folder, validate))

    def assistant() -> Preparer:
        from loop_ls.engine.starting.assistant import AssistantPreparer

        return AssistantPreparer(folder, validate)

    def role_loop() -> Preparer:
        from loop_ls.engine.starting.role_loop import RoleLoopPreparer

        return RoleLoopPreparer(folder, records=records)

    return OnDemand({"workflow": workflow, "assistant": assistant, "role_loop": role_loop})


def _programs(records: Records) -> dict[str, Callable[[], Program]]:
    def workflow() -> Program:
        from loop_ls.engine.bodies.workflow import WorkflowProgram

        return WorkflowProgram()

    def assistant() -> Program:
        from loop_ls.engine.assistants.program import AssistantProgram

        return AssistantProgram()

    def role_loop() -> Program:
        from loop_ls.engine.roles.program import RoleLoopProgram
        from loop_ls.engine.roles.stage_agents import stage_agents

        return RoleLoopProgram(records, stage_agents(records))

    return {"workflow": workflow, "assistant": assistant, "role_loop": role_loop}


def _enhance(engine: Engine, forms: Callable[[Plan], Any]) -> Program:
    from loop_ls.engine.bodies.workflow import WorkflowProgram
    from loop_ls.engine.enhance.program import EnhanceProgram

    return EnhanceProgram(WorkflowProgram(), validate, engine.facts_of, forms)


def _engine(
    folder: Path,
    providers: Providers,
    preparer: Preparer,
    programs: Mapping[str, Program],
    root: Path | None,
    database: str | None,
    secrets: RunSecrets,
    takes_runs: bool,
) -> Engine:
    settings = load_settings(str(root))[0].engine if root else EngineSettings()
    models = with_agents(providers.for_plan)
    keep = RetentionPolicy(settings.keep_runs, settings.keep_days)
    if database is not None:
        from loop_ls.engine.durable.workers import PostgresWorkers
        from loop_ls.engine.journal.postgres import PostgresStorage

        return Engine(
            folder,
            programs,
            models,
            preparer,
            storage=lambda: PostgresStorage(database),
            home=root,
            keep=keep,
            workers=lambda storage: PostgresWorkers(storage, providers, takes_runs),
            mask_of=secrets.of,
        )
    return Engine(folder, programs, models, preparer, home=root, keep=keep, mask_of=secrets.of)


def validate(workspace: Workspace, documents: Sequence[Document]) -> list[list[Problem]]:
    """The errors of each document, as the checker finds them."""
    from loop_ls.rules.engine.checker import Checker
    from loop_ls.rules.engine.finding import Severity

    checker = Checker()
    return [
        [
            Problem(finding.rule, finding.message, finding.span.start.line + 1)
            for finding in checker.findings(workspace, document)
            if finding.severity is Severity.ERROR
        ]
        for document in documents
    ]


def options(port: int | None, idle: float | None, root: Path) -> Options:
    """How the process behaves: the command line, else the environment (its two variables are honoured
    as their document means them), else the settings of the project."""
    settings = load_settings(str(root))[0].engine
    limit = grace_of(os.environ, settings.teardown_on_disconnect, settings.teardown_grace_ms)
    return Options(
        port=port or settings.port or 0,
        idle=idle,
        grace=limit,
        shutdown_grace=settings.shutdown_grace_ms / 1000,
        catalogue=catalogue(root),
    )


def log_manner(args: argparse.Namespace, root: Path) -> tuple[str, str]:
    """Format and level of the log: the command line, else the environment, else the settings."""
    engine = load_settings(str(root))[0].raw.get("engine") or {}
    form = args.log_format or os.environ.get("LOOP_LS_LOG_FORMAT") or engine.get("logFormat")
    level = args.log_level or os.environ.get("LOOP_LS_LOG_LEVEL") or engine.get("logLevel")
    return str(form or "text"), str(level or "warning")
